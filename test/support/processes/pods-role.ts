/** `tidegate pods` as a process of one test, and its requests. */
import { type JsonRecord, listOrEmptyAt, numberAt, textAt } from '../../../src/domain/json.ts';
import type { Testbed } from '../../../tools/testbed/testbed.ts';
import {
  type ClusterClient,
  COLLECTIONS,
  nameOf,
  phaseOf,
  uidOf,
} from '../api/cluster-connection.ts';
import { eventually } from '../eventually.ts';
import { roleKubeconfig } from '../rights/role-account.ts';
import { roleBy, type RoleProcess } from './role-child.ts';
import { startTidegate } from './tidegate-process.ts';

export interface PodsRoleOptions {
  readonly bed: Testbed;
  /** Further flags, by name without dashes. */
  readonly flags?: Readonly<Record<string, string>>;
}

/** Pods of the namespace of tests. */
export const PODS = '/api/v1/namespaces/default/pods';

/** Starts it with an account of its role. Must be called inside a test, with which it ends. */
export const startPodsRole = async ({ bed, flags }: PodsRoleOptions): Promise<RoleProcess> =>
  await roleBy(startTidegate, {
    role: 'pods',
    name: 'pods',
    flags: {
      'kubeconfig': await roleKubeconfig(bed, { user: 'pods', roles: ['pods'] }),
      'log-level': 'info',
      ...flags,
    },
  });

/** The name of a pod's request; for pods whose names need no cutting. */
export const requestNameOf = (pod: JsonRecord): string => `cr-pod-${nameOf(pod)}-${uidOf(pod)}`;

/** How many objects a collection has, without reading them. */
export const countOf = async (cluster: ClusterClient, collection: string): Promise<number> => {
  const { body } = await cluster.call('GET', `${collection}?limit=1`);
  return listOrEmptyAt(body, 'items').length +
    (numberAt(body, 'metadata', 'remainingItemCount') ?? 0);
};

const isStamped = (request: JsonRecord): boolean =>
  phaseOf(request) === 'Pending' || phaseOf(request) === 'Acknowledged';

/** Waits until exactly these pods have their requests, each with its first phase. */
export const untilRequestsOf = async (
  cluster: ClusterClient,
  pods: readonly JsonRecord[],
  timeoutMs = 60_000,
): Promise<readonly JsonRecord[]> => {
  const wanted = new Set(pods.map(requestNameOf));
  return await eventually(async () => {
    const found = await countOf(cluster, COLLECTIONS.requests);
    if (found !== wanted.size) throw new Error(`there are ${found}`);
    const requests = await cluster.list(COLLECTIONS.requests);
    const strange = requests.filter((one) => !wanted.has(nameOf(one)));
    const unstamped = requests.filter((one) => !isStamped(one));
    if (requests.length === wanted.size && strange.length + unstamped.length === 0) return requests;
    throw new Error(
      `of ${requests.length}, ${strange.length} belong to no such pod and ${unstamped.length} ` +
        `have no phase, such as ${nameOf(strange[0] ?? unstamped[0])}`,
    );
  }, { what: `the requests of ${wanted.size} pods and no other`, everyMs: 500, timeoutMs });
};

/** The UID of the pod that owns a request. */
export const ownerOf = (request: JsonRecord): string =>
  textAt(listOrEmptyAt(request, 'metadata', 'ownerReferences')[0], 'uid') ?? '';
