/**
 * RBAC rules from the rights of roles: those of docs/reference/rbac.yaml and of the chart.
 *
 * Promises: one rule for each resource, with exactly the verbs that `tidegate doctor` checks.
 */
import { API_GROUP, LIFECYCLE_GROUP } from '../src/domain/api-group.ts';
import { NATIVE_GROUP } from '../src/domain/native-evictions/objects.ts';
import { NEEDED_RIGHTS, type NeededRight } from '../src/domain/operator-rights.ts';
import type { RoleName } from '../src/domain/operator-roles.ts';

/** A rule of a Role or ClusterRole. */
export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

const ruleOf = (group: string, resource: string, verbs: readonly string[]): Rule => ({
  apiGroups: [group],
  resources: [resource],
  verbs,
});

const rulesOf = (rights: readonly NeededRight[]): readonly Rule[] => {
  const verbs = new Map<string, Set<string>>();
  for (const right of rights) {
    const { group, resource, subresource, name } = right;
    const key = `${group} ${resource}${subresource === '' ? '' : `/${subresource}`} ${name}`;
    verbs.set(key, new Set([...verbs.get(key) ?? [], ...right.verbs]));
  }
  return [...verbs].map(([key, wanted]) => {
    const [group = '', resource = '', name = ''] = key.split(' ');
    const rule = ruleOf(group, resource, [...wanted]);
    return name === '' ? rule : { ...rule, resourceNames: [name] };
  });
};

/** The rules of roles in one process: those of the cluster, and those of the Lease's namespace. */
export const rulesFor = (
  roles: readonly RoleName[],
): { readonly cluster: readonly Rule[]; readonly lease: readonly Rule[] } => {
  const rights = roles.flatMap((role) => NEEDED_RIGHTS[role]);
  return {
    cluster: rulesOf(rights.filter(({ isOfLease }) => !isOfLease)),
    lease: rulesOf(rights.filter(({ isOfLease }) => isOfLease)),
  };
};

const READ = ['get', 'list', 'watch'];

/** What `explain`, `drain`, `node`, `evictions`, `maintenance` and `tree` read. */
export const VIEWER: readonly Rule[] = [
  ruleOf('', 'nodes', READ),
  ruleOf('', 'pods', READ),
  ruleOf('', 'namespaces', READ),
  ruleOf('', 'persistentvolumeclaims', READ),
  ruleOf('', 'persistentvolumes', READ),
  ...['daemonsets', 'deployments', 'replicasets', 'statefulsets'].map((resource) =>
    ruleOf('apps', resource, READ)
  ),
  ruleOf('policy', 'poddisruptionbudgets', READ),
  ruleOf('events.k8s.io', 'events', READ),
  ruleOf('coordination.k8s.io', 'leases', READ),
  ...['capacityrequests', 'upcomingnodes', 'availablecapacities'].map((resource) =>
    ruleOf(API_GROUP, resource, READ)
  ),
  ruleOf(LIFECYCLE_GROUP, 'evictionrequests', READ),
  ruleOf(LIFECYCLE_GROUP, 'nodemaintenances', READ),
  ruleOf(NATIVE_GROUP, 'evictionrequests', READ),
  ruleOf(NATIVE_GROUP, 'evictions', READ),
];

/**
 * What people need beside it who drain nodes: `tidegate drain NODE` and `drain acknowledge`, `node
 * disable`, `node enable` and `node confirm-gone`, and the annotation of a pause. The policies of
 * NodeMaintenances ask for the permission to delete nodes.
 */
export const DRAINER: readonly Rule[] = [
  ruleOf('', 'nodes', ['patch', 'delete', 'drain']),
  ruleOf('', 'pods/eviction', ['create']),
  ruleOf(LIFECYCLE_GROUP, 'nodemaintenances', ['create', 'patch', 'delete']),
];
