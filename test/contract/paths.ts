/**
 * Short paths of the contract's cases: `pods/a/status?limit=1` is that subresource in the case's
 * namespace, `all:pods` is the collection over all namespaces, `/version` is itself.
 */

const GROUPS: Readonly<Record<string, readonly string[]>> = {
  '/api/v1': [
    'bindings',
    'configmaps',
    'events',
    'namespaces',
    'nodes',
    'persistentvolumeclaims',
    'persistentvolumes',
    'pods',
    'secrets',
    'serviceaccounts',
    'services',
  ],
  '/apis/apps/v1': ['daemonsets', 'deployments', 'replicasets', 'statefulsets'],
  '/apis/policy/v1': ['poddisruptionbudgets'],
  '/apis/coordination.k8s.io/v1': ['leases'],
  '/apis/scheduling.k8s.io/v1': ['priorityclasses'],
  '/apis/storage.k8s.io/v1': ['volumeattachments'],
  '/apis/apiextensions.k8s.io/v1': ['customresourcedefinitions'],
  '/apis/authentication.k8s.io/v1': ['selfsubjectreviews', 'tokenreviews'],
  '/apis/authorization.k8s.io/v1': [
    'localsubjectaccessreviews',
    'selfsubjectaccessreviews',
    'selfsubjectrulesreviews',
    'subjectaccessreviews',
  ],
  '/apis/rbac.authorization.k8s.io/v1': [
    'clusterrolebindings',
    'clusterroles',
    'rolebindings',
    'roles',
  ],
  '/apis/admissionregistration.k8s.io/v1': [
    'validatingadmissionpolicies',
    'validatingadmissionpolicybindings',
  ],
  '/apis/contract.tidegate.dev/v1': ['boats', 'buoys', 'harbours'],
};

const CLUSTER_WIDE = new Set([
  'namespaces',
  'nodes',
  'persistentvolumes',
  'priorityclasses',
  'volumeattachments',
  'customresourcedefinitions',
  'selfsubjectreviews',
  'selfsubjectaccessreviews',
  'selfsubjectrulesreviews',
  'subjectaccessreviews',
  'tokenreviews',
  'clusterrolebindings',
  'clusterroles',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'harbours',
]);

const ROOT_OF = new Map(
  Object.entries(GROUPS).flatMap(([root, plurals]) => plurals.map((plural) => [plural, root])),
);

const EVERYWHERE = 'all:';

/** The server's path. */
export const fullPath = (short: string, namespace: string): string => {
  if (short.startsWith('/')) return short;
  const rest = short.startsWith(EVERYWHERE) ? short.slice(EVERYWHERE.length) : short;
  const [plural = ''] = rest.split(/[/?]/);
  const root = ROOT_OF.get(plural);
  if (root === undefined) throw new Error(`The contract has no group for "${plural}"`);
  const wide = CLUSTER_WIDE.has(plural) || rest !== short;
  return wide ? `${root}/${rest}` : `${root}/namespaces/${namespace}/${rest}`;
};
