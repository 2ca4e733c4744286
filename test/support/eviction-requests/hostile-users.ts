/**
 * Users of EvictionRequests on a real API server, each with a token of its own: the rightful ones,
 * and tenants who want what is not theirs.
 */
import { onTestFinished } from 'vitest';
import { Agent, request } from 'undici';
import { asRecord, type JsonRecord, parseJson, textAt } from '../../../src/domain/json.ts';
import { adminAccess, clusterClient } from '../api/cluster-client.ts';
import type { Testbed } from '../api/testbed.ts';
import { ACTOR_A, ACTOR_B } from './request-fixture.ts';

const GROUP = 'lifecycle.tidegate.dev';
const RBAC = 'rbac.authorization.k8s.io';
/** The namespace of the pods that are attacked. */
export const VICTIM_SPACE = 'default';
/** The namespace in which the tenant may do what it likes with pods. */
export const TENANT_SPACE = 'tenant-space';

/** Who asks. */
export type User =
  /** May write and delete pods in its own namespace, and nothing else anywhere. */
  | 'tenant'
  /** May write pods beside those that it attacks, and delete none. */
  | 'neighbour'
  /** May also write EvictionRequests and their status; only policies hold it back. */
  | 'writer'
  /** The same, and may delete the pod `own` and no other. */
  | 'owner-of-one'
  /** May write requests, and report as the interceptor A. */
  | 'actor-a'
  | 'actor-b'
  | 'drainer'
  | 'controller';

const rule = (apiGroup: string, resources: readonly string[], verbs: readonly string[]) => ({
  apiGroups: [apiGroup],
  resources,
  verbs,
});

/** A right on one object. */
const only = (resourceName: string, grantedRule: object) => ({
  ...grantedRule,
  resourceNames: [resourceName],
});

const PODS = rule('', ['pods'], ['get', 'list', 'create', 'update', 'patch']);
const REQUESTS = rule(GROUP, ['evictionrequests', 'evictionrequests/status'], ['*']);

/** What a user may do in the namespace of the victims. */
const RIGHTS: Readonly<Record<User, readonly object[]>> = {
  'tenant': [],
  'neighbour': [PODS],
  'writer': [PODS, REQUESTS],
  'owner-of-one': [PODS, REQUESTS, only('own', rule('', ['pods'], ['delete']))],
  'actor-a': [REQUESTS, only(ACTOR_A, rule(GROUP, ['interceptors'], ['report']))],
  'actor-b': [REQUESTS, only(ACTOR_B, rule(GROUP, ['interceptors'], ['report']))],
  'drainer': [REQUESTS, rule('', ['pods'], ['get', 'delete'])],
  'controller': [REQUESTS, only('evictionrequest', rule(GROUP, ['controllers'], ['act']))],
};

const USERS: readonly User[] = [
  'tenant',
  'neighbour',
  'writer',
  'owner-of-one',
  'actor-a',
  'actor-b',
  'drainer',
  'controller',
];

const ACCOUNTS = `/api/v1/namespaces/${VICTIM_SPACE}/serviceaccounts`;

/** A Role for a user, and who has it. */
const grant = (namespace: string, user: string, rules: readonly object[]): readonly object[] => [
  {
    apiVersion: `${RBAC}/v1`,
    kind: 'Role',
    metadata: { name: user, namespace },
    rules,
  },
  {
    apiVersion: `${RBAC}/v1`,
    kind: 'RoleBinding',
    metadata: { name: user, namespace },
    roleRef: { apiGroup: RBAC, kind: 'Role', name: user },
    subjects: [{ kind: 'ServiceAccount', name: user, namespace: VICTIM_SPACE }],
  },
];

/** The users, their rights, and the namespace of the tenant. */
export const hostileUsers = (): string =>
  [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: TENANT_SPACE } },
    ...USERS.flatMap((user) => [
      {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: user, namespace: VICTIM_SPACE },
      },
      ...grant(VICTIM_SPACE, user, RIGHTS[user]),
    ]),
    ...grant(TENANT_SPACE, 'tenant', [rule('', ['pods'], ['*'])]),
    ...grant(TENANT_SPACE, 'writer', [rule('', ['pods'], ['*']), REQUESTS]),
  ].map((object) => JSON.stringify(object)).join('\n---\n');

/** What a user asks of the API server. */
export interface UserCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  /** Default: a merge patch. */
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Asks with the token of a user. */
export type AskWithToken = (
  user: User,
  call: UserCall,
) => Promise<{ readonly status: number; readonly message: string; readonly body: JsonRecord }>;

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  PATCH: 'application/merge-patch+json',
};

/** Connects, with a token for each user. Must be called inside a test, with which it ends. */
export const askingUsers = async (bed: Testbed): Promise<AskWithToken> => {
  const { server, authority: ca } = await adminAccess(bed);
  const cluster = await clusterClient(bed);
  const tokens = new Map<User, string>();
  const tokenOf = async (user: User): Promise<string> => {
    const known = tokens.get(user);
    if (known !== undefined) return known;
    const { body } = await cluster.call('POST', `${ACCOUNTS}/${user}/token`, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: 3600 },
    });
    const token = textAt(body, 'status', 'token') ?? '';
    tokens.set(user, token);
    return token;
  };
  const dispatcher = new Agent({ connect: { ca } });
  onTestFinished(() => dispatcher.close());
  return async (user, { method, path, body, contentType, headers = {} }) => {
    const type = contentType ?? CONTENT_TYPES[method] ?? 'application/json';
    const answer = await request(new URL(path, server), {
      method,
      dispatcher,
      headers: {
        'authorization': `Bearer ${await tokenOf(user)}`,
        ...headers,
        ...(body === undefined ? {} : { 'content-type': type }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answered = asRecord(parseJson(await answer.body.text())) ?? {};
    return {
      status: answer.statusCode,
      message: textAt(answered, 'message') ?? '',
      body: answered,
    };
  };
};
