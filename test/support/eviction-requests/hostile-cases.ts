/** Attempts to raise an EvictionRequest of another's pod, and how the API server refuses them. */
import type { JsonRecord } from '../../../src/domain/json.ts';
import { nameOf, uidOf } from '../api/cluster-client.ts';
import { TENANT_SPACE, type User, type UserCall, VICTIM_SPACE } from './hostile-users.ts';
import { DRAIN } from './request-fixture.ts';

const GROUP_VERSION = 'lifecycle.tidegate.dev/v1alpha1';
const ACCOUNTS = `/api/v1/namespaces/${VICTIM_SPACE}/serviceaccounts`;
/** The content type of a server-side apply. */
export const APPLY = 'application/apply-patch+yaml';

/** The EvictionRequests of a namespace. */
export const requestsIn = (namespace: string): string =>
  `/apis/${GROUP_VERSION}/namespaces/${namespace}/evictionrequests`;

const REQUESTS = requestsIn(VICTIM_SPACE);
const PODS = `/api/v1/namespaces/${VICTIM_SPACE}/pods`;

/** What is attacked. */
export interface Victim {
  readonly pod: JsonRecord;
  /** Its request as it is now; empty where there is none. */
  readonly request: JsonRecord;
}

/** One attack. */
export interface HostileCase {
  readonly title: string;
  readonly by: User;
  readonly call: (victim: Victim) => UserCall;
  readonly status: number;
  /** The answer says so. */
  readonly message: string;
}

/** The requesters by their names. */
export const requestersNamed = (...names: readonly string[]) => names.map((name) => ({ name }));

/** The EvictionRequest that asks that a pod leaves. */
export const requestOf = (
  pod: JsonRecord,
  { metadata = {}, target = {}, requesters = [DRAIN] }: {
    readonly metadata?: JsonRecord;
    readonly target?: JsonRecord;
    readonly requesters?: readonly string[];
  } = {},
): JsonRecord => ({
  apiVersion: GROUP_VERSION,
  kind: 'EvictionRequest',
  metadata: { name: uidOf(pod), ...metadata },
  spec: {
    target: { pod: { name: nameOf(pod), uid: uidOf(pod), ...target } },
    requesters: requestersNamed(...requesters),
  },
});

/** The path of the request of a victim. */
export const pathOf = ({ pod }: Victim): string => `${REQUESTS}/${uidOf(pod)}`;

/** What most answers end with. */
export const NO_DELETE = 'needs the permission to delete the pod';
export const FORBIDDEN = 403;

/** Attacks on a pod that nobody has asked to leave. */
export const RAISING: readonly HostileCase[] = [
  {
    title: 'creates a request with rights on pods alone',
    by: 'tenant',
    call: ({ pod }) => ({ method: 'POST', path: REQUESTS, body: requestOf(pod) }),
    status: FORBIDDEN,
    message: 'cannot create resource "evictionrequests"',
  },
  {
    title: 'creates a request with rights on the pods beside it',
    by: 'neighbour',
    call: ({ pod }) => ({ method: 'POST', path: REQUESTS, body: requestOf(pod) }),
    status: FORBIDDEN,
    message: 'cannot create resource "evictionrequests"',
  },
  {
    title: 'evicts the pod directly',
    by: 'neighbour',
    call: ({ pod }) => ({
      method: 'POST',
      path: `${PODS}/${nameOf(pod)}/eviction`,
      body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: nameOf(pod) } },
    }),
    status: FORBIDDEN,
    message: 'cannot create resource "pods/eviction"',
  },
  {
    title: 'creates a request without being allowed to delete the pod',
    by: 'writer',
    call: ({ pod }) => ({ method: 'POST', path: REQUESTS, body: requestOf(pod) }),
    status: FORBIDDEN,
    message: `requesting an eviction ${NO_DELETE}`,
  },
  {
    title: 'creates a request by a dry run',
    by: 'writer',
    call: ({ pod }) => ({
      method: 'POST',
      path: `${REQUESTS}?dryRun=All`,
      body: requestOf(pod),
    }),
    status: FORBIDDEN,
    message: `requesting an eviction ${NO_DELETE}`,
  },
  {
    title: 'creates a request by a forced apply',
    by: 'writer',
    call: ({ pod }) => ({
      method: 'PATCH',
      path: `${REQUESTS}/${uidOf(pod)}?fieldManager=${DRAIN}&force=true`,
      contentType: APPLY,
      body: requestOf(pod),
    }),
    status: FORBIDDEN,
    message: `requesting an eviction ${NO_DELETE}`,
  },
  {
    title: 'creates a request with a generated name',
    by: 'drainer',
    call: ({ pod }) => ({
      method: 'POST',
      path: REQUESTS,
      body: requestOf(pod, { metadata: { name: '', generateName: 'again-' } }),
    }),
    status: 422,
    message: 'metadata.generateName is not supported',
  },
  {
    title: 'creates a request under another name than the UID',
    by: 'drainer',
    call: ({ pod }) => ({
      method: 'POST',
      path: REQUESTS,
      body: requestOf(pod, { metadata: { name: 'second' } }),
    }),
    status: 422,
    message: 'metadata.name must be the UID in spec.target.pod.uid',
  },
  {
    title: 'creates a request from the namespace in which it may delete pods',
    by: 'writer',
    call: ({ pod }) => ({
      method: 'POST',
      path: requestsIn(TENANT_SPACE),
      body: requestOf(pod, { metadata: { name: uidOf(pod), namespace: VICTIM_SPACE } }),
    }),
    status: 400,
    message: 'namespace',
  },
  {
    title: 'creates a request with the right to delete another pod',
    by: 'owner-of-one',
    call: ({ pod }) => ({ method: 'POST', path: REQUESTS, body: requestOf(pod) }),
    status: FORBIDDEN,
    message: `requesting an eviction ${NO_DELETE}`,
  },
  {
    title: 'creates a request in the name of the drain',
    by: 'writer',
    call: ({ pod }) => ({
      method: 'POST',
      path: REQUESTS,
      body: requestOf(pod),
      headers: { 'impersonate-user': `system:serviceaccount:${VICTIM_SPACE}:drainer` },
    }),
    status: FORBIDDEN,
    message: 'cannot impersonate',
  },
  {
    title: 'takes a token of the drain',
    by: 'neighbour',
    call: () => ({
      method: 'POST',
      path: `${ACCOUNTS}/drainer/token`,
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
    }),
    status: FORBIDDEN,
    message: 'cannot create resource "serviceaccounts/token"',
  },
  {
    title: 'has the pod end by its status',
    by: 'neighbour',
    call: ({ pod }) => ({
      method: 'PATCH',
      path: `${PODS}/${nameOf(pod)}/status`,
      body: { status: { phase: 'Succeeded' } },
    }),
    status: FORBIDDEN,
    message: 'cannot patch resource "pods/status"',
  },
  {
    title: 'puts a container of its own into the pod',
    by: 'neighbour',
    call: ({ pod }) => ({
      method: 'PATCH',
      path: `${PODS}/${nameOf(pod)}/ephemeralcontainers`,
      contentType: 'application/strategic-merge-patch+json',
      body: { spec: { ephemeralContainers: [{ name: 'mine', image: 'none' }] } },
    }),
    status: FORBIDDEN,
    message: 'cannot patch resource "pods/ephemeralcontainers"',
  },
];
