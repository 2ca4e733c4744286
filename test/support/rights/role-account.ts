/**
 * Service accounts with the rights that the chart gives to a set of roles, for processes of tests.
 *
 * Promises: a kubeconfig has a token of the account and nothing else; when it is returned, the API
 * server authorizes the account; the name of an account has its roles, so that the audit log does.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { booleanAt, textAt } from '../../../src/domain/json.ts';
import { ROLE_NAMES, type RoleName } from '../../../src/domain/operator-roles.ts';
import { rulesFor } from '../../../tools/rbac-rules.ts';
import type { AuditEntry } from '../../../tools/testbed/audit.ts';
import { kubeconfigText } from '../../../tools/testbed/credentials.ts';
import type { Testbed } from '../../../tools/testbed/testbed.ts';
import { adminAccess, type ClusterClient, connectCluster } from '../api/cluster-connection.ts';
import { eventually } from '../eventually.ts';

/** Who it is, and what its process does. */
export interface RoleAccount {
  /** The name of a user, without dots. */
  readonly user: string;
  readonly roles: readonly RoleName[];
  /** The namespace of its Lease; `default` without it. */
  readonly leaseNamespace?: string | undefined;
}

const NAMESPACE = 'default';
const GROUP = 'rbac.authorization.k8s.io';
const RBAC = `/apis/${GROUP}/v1`;
const PREFIX = `system:serviceaccount:${NAMESPACE}:`;
const CONFLICT = 409;
/** Longer than any run on a bed. */
const TOKEN_SECONDS = 6 * 3600;

const nameOf = ({ user, roles }: RoleAccount): string => [user, ...roles].join('.');

/** Whether a user of the audit log is `user`, or its account in any roles. */
export const isUser = (audited: string, user: string): boolean =>
  audited === user || audited.startsWith(`${PREFIX}${user}.`);

/** The roles of the account that sent a request; undefined for other users. */
export const rolesOfEntry = ({ user }: AuditEntry): readonly RoleName[] | undefined => {
  if (!user.startsWith(PREFIX) || !user.includes('.')) return undefined;
  return user.slice(PREFIX.length).split('.').slice(1)
    .flatMap((name) => ROLE_NAMES.find((role) => role === name) ?? []);
};

/** Creates an object, or brings it up to date. */
const ensure = async (
  cluster: ClusterClient,
  collection: string,
  object: { readonly metadata: { readonly name: string } },
): Promise<void> => {
  const created = await cluster.call('POST', collection, object);
  if (created.status === CONFLICT) {
    await cluster.patch(`${collection}/${object.metadata.name}`, object);
  } else if (created.status >= 300) {
    throw new Error(`Cannot create in ${collection}: ${textAt(created.body, 'message')}`);
  }
};

const bindingOf = (kind: 'ClusterRole' | 'Role', name: string) => ({
  metadata: { name },
  roleRef: { apiGroup: GROUP, kind, name },
  subjects: [{ kind: 'ServiceAccount', name, namespace: NAMESPACE }],
});

/** Creates the account with its rights; returns its name. */
const ensureAccount = async (cluster: ClusterClient, account: RoleAccount): Promise<string> => {
  const name = nameOf(account);
  const { leaseNamespace = NAMESPACE } = account;
  const { cluster: rules, lease } = rulesFor(account.roles);
  if (leaseNamespace !== NAMESPACE) {
    await ensure(cluster, '/api/v1/namespaces', { metadata: { name: leaseNamespace } });
  }
  const ofNamespace = `${RBAC}/namespaces/${leaseNamespace}`;
  await ensure(cluster, `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`, { metadata: { name } });
  const role = (granted: typeof rules) => ({ metadata: { name }, rules: granted });
  await ensure(cluster, `${RBAC}/clusterroles`, role(rules));
  await ensure(cluster, `${ofNamespace}/roles`, role(lease));
  await ensure(cluster, `${RBAC}/clusterrolebindings`, bindingOf('ClusterRole', name));
  await ensure(cluster, `${ofNamespace}/rolebindings`, bindingOf('Role', name));
  return name;
};

/** Waits until the authorizer has seen all of it: it watches, as controllers do. */
const untilAuthorized = async (
  cluster: ClusterClient,
  name: string,
  namespace: string,
): Promise<void> => {
  const asked = [
    { group: 'events.k8s.io', resource: 'events', verb: 'patch' },
    { group: 'coordination.k8s.io', resource: 'leases', verb: 'patch', namespace },
  ];
  for (const resourceAttributes of asked) {
    await eventually(async () => {
      const { body } = await cluster.call(
        'POST',
        '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        { spec: { user: `${PREFIX}${name}`, resourceAttributes } },
      );
      return booleanAt(body, 'status', 'allowed') === true;
    }, { what: `${name} to be authorized`, everyMs: 20 });
  }
};

/** Kubeconfigs of accounts, by the name of the account, of each bed. */
const kubeconfigs = new WeakMap<object, Map<string, Promise<string>>>();

/** Whether a process of this bed had an account. */
export const hasAccounts = (bed: Testbed): boolean => kubeconfigs.has(bed);

/** The bed is given back, and everything in it is deleted. */
export const forgetAccounts = (bed: Testbed): void => {
  kubeconfigs.delete(bed);
};

const newKubeconfig = async (bed: Testbed, account: RoleAccount): Promise<string> => {
  const { client, close } = await connectCluster(bed);
  try {
    const name = await ensureAccount(client, account);
    await untilAuthorized(client, name, account.leaseNamespace ?? NAMESPACE);
    const path = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/${name}/token`;
    const { body } = await client.call('POST', path, {
      spec: { expirationSeconds: TOKEN_SECONDS },
    });
    const token = textAt(body, 'status', 'token');
    if (token === undefined) throw new Error(`No token for ${name}: ${textAt(body, 'message')}`);
    const file = join(bed.directory, `account-${name}.json`);
    const text = kubeconfigText(await adminAccess(bed), account.user, token);
    await writeFile(file, text, { mode: 0o600 });
    return file;
  } finally {
    await close();
  }
};

/**
 * The path of a kubeconfig of the account, which is made when it is first asked for: later the API
 * server may be away. It lasts as long as the bed.
 */
export const roleKubeconfig = (bed: Testbed, account: RoleAccount): Promise<string> => {
  const ofBed = kubeconfigs.get(bed) ?? new Map<string, Promise<string>>();
  kubeconfigs.set(bed, ofBed);
  const key = `${nameOf(account)} ${account.leaseNamespace ?? NAMESPACE}`;
  const made = ofBed.get(key) ?? newKubeconfig(bed, account);
  ofBed.set(key, made);
  return made;
};
