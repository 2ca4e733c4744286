/**
 * What each role of the operator must be allowed to do in its cluster.
 *
 * Promises: the same rights as docs/compatibility.md lists, which a test compares.
 */
import { API_GROUP, LIFECYCLE_GROUP } from './api-group.ts';
import { DAEMON_SET, IMPERATIVE_EVICTION, SURGE } from './eviction-requests/qualified-name.ts';
import { NATIVE_GROUP } from './native-evictions/objects.ts';
import type { RoleName } from './operator-roles.ts';

/** Verbs on one resource. */
export interface NeededRight {
  readonly group: string;
  readonly resource: string;
  /** Empty for the resource itself. */
  readonly subresource: string;
  readonly verbs: readonly string[];
  /** The only object that it is on; empty for all. */
  readonly name: string;
  /** Only in the namespace of the Lease. */
  readonly isOfLease: boolean;
  /** The operator works without it, and reports less. */
  readonly isOptional: boolean;
}

const right = (group: string, path: string, verbs: string): NeededRight => {
  const [resource = '', subresource = ''] = path.split('/');
  return {
    group,
    resource,
    subresource,
    verbs: verbs.split(' '),
    name: '',
    isOfLease: false,
    isOptional: false,
  };
};

const SHARED: readonly NeededRight[] = [
  { ...right('coordination.k8s.io', 'leases', 'get list watch create patch'), isOfLease: true },
  right('events.k8s.io', 'events', 'create patch'),
];

/** Of drains that ask by EvictionRequest. */
const REQUESTING: readonly NeededRight[] = [
  {
    ...right(LIFECYCLE_GROUP, 'evictionrequests', 'list watch create patch delete'),
    isOptional: true,
  },
  {
    ...right(NATIVE_GROUP, 'evictionrequests', 'list watch create patch delete'),
    isOptional: true,
  },
  { ...right(NATIVE_GROUP, 'evictions', 'list watch'), isOptional: true },
  // The policies of EvictionRequests ask for it; these roles delete no pod.
  { ...right('', 'pods', 'delete'), isOptional: true },
];

/** Of pods with the readiness gate `tidegate.dev/serving`. */
const SERVING: readonly NeededRight[] = [
  { ...right('', 'pods/status', 'patch'), isOptional: true },
  { ...right('discovery.k8s.io', 'endpointslices', 'list'), isOptional: true },
];

/** Of roles that drain; only the policy of their annotations asks for the verb `drain`. */
const NODES_OF_DRAINS = 'list watch patch drain';

/** Of drains with `--local-volumes=keep`. */
const STORAGE: readonly NeededRight[] = [
  { ...right('', 'persistentvolumeclaims', 'list watch'), isOptional: true },
  { ...right('', 'persistentvolumes', 'list watch'), isOptional: true },
];

/** The rights of each role. */
export const NEEDED_RIGHTS: Readonly<Record<RoleName, readonly NeededRight[]>> = {
  fleet: [
    right(API_GROUP, 'capacityrequests', 'list watch'),
    right(API_GROUP, 'capacityrequests/status', 'patch'),
    right(API_GROUP, 'upcomingnodes', 'get list watch create patch delete'),
    right(API_GROUP, 'availablecapacities', 'get list watch create patch delete'),
    right(API_GROUP, 'upcomingnodes/status', 'patch'),
    right('', 'nodes', NODES_OF_DRAINS),
    { ...right('', 'nodes/status', 'patch'), isOptional: true },
    right('', 'pods', 'list watch'),
    right('', 'pods/eviction', 'create'),
    right('policy', 'poddisruptionbudgets', 'list watch'),
    { ...right('storage.k8s.io', 'volumeattachments', 'list watch'), isOptional: true },
    ...STORAGE,
    ...SERVING,
    ...REQUESTING,
    ...SHARED,
  ],
  pods: [
    right('', 'pods', 'list watch'),
    right(API_GROUP, 'capacityrequests', 'get list watch create patch delete'),
    right(API_GROUP, 'capacityrequests/status', 'patch'),
    { ...right('', 'namespaces', 'list watch'), isOptional: true },
    ...SHARED,
  ],
  evictions: [
    right(LIFECYCLE_GROUP, 'evictionrequests', 'list watch patch delete'),
    right(LIFECYCLE_GROUP, 'evictionrequests/status', 'patch'),
    { ...right(NATIVE_GROUP, 'evictionrequests', 'list watch delete'), isOptional: true },
    { ...right(NATIVE_GROUP, 'evictionrequests/status', 'patch'), isOptional: true },
    {
      ...right(NATIVE_GROUP, 'evictions', 'get list watch create patch delete'),
      isOptional: true,
    },
    { ...right(NATIVE_GROUP, 'evictions/status', 'patch'), isOptional: true },
    right('', 'pods', 'list watch'),
    right('', 'pods/eviction', 'create'),
    right('', 'nodes', 'list watch'),
    right('policy', 'poddisruptionbudgets', 'list watch'),
    ...SERVING,
    // Resources that only the policies of EvictionRequests ask for.
    { ...right(LIFECYCLE_GROUP, 'controllers', 'act'), name: 'evictionrequest' },
    { ...right(LIFECYCLE_GROUP, 'interceptors', 'report'), name: IMPERATIVE_EVICTION },
    ...SHARED,
  ],
  maintenance: [
    right(LIFECYCLE_GROUP, 'nodemaintenances', 'get list watch patch'),
    right(LIFECYCLE_GROUP, 'nodemaintenances/status', 'patch'),
    right('', 'nodes', NODES_OF_DRAINS),
    { ...right('', 'nodes/status', 'patch'), isOptional: true },
    right('', 'pods', 'list watch'),
    right('', 'pods/eviction', 'create'),
    right('policy', 'poddisruptionbudgets', 'list watch'),
    { ...right('storage.k8s.io', 'volumeattachments', 'list watch'), isOptional: true },
    ...STORAGE,
    ...SERVING,
    ...REQUESTING,
    // A resource that only the policies of NodeMaintenances ask for.
    { ...right(LIFECYCLE_GROUP, 'controllers', 'act'), name: 'nodemaintenance' },
    ...SHARED,
  ],
  availability: [
    right('', 'nodes', NODES_OF_DRAINS),
    right('', 'nodes/status', 'patch'),
    right('coordination.k8s.io', 'leases', 'list watch'),
    right('', 'pods', 'list watch delete'),
    ...SERVING,
    right('', 'persistentvolumeclaims', 'list watch'),
    right('', 'persistentvolumes', 'list watch'),
    right('', 'pods/eviction', 'create'),
    right('policy', 'poddisruptionbudgets', 'list watch'),
    { ...right('storage.k8s.io', 'volumeattachments', 'list watch'), isOptional: true },
    // Pods may be deleted anyway.
    ...REQUESTING.filter(({ resource }) => resource !== 'pods'),
    ...SHARED,
  ],
  interceptors: [
    right(LIFECYCLE_GROUP, 'evictionrequests', 'list watch'),
    right(LIFECYCLE_GROUP, 'evictionrequests/status', 'patch'),
    right('', 'pods', 'get list patch delete'),
    right('apps', 'deployments', 'get list patch'),
    right('apps', 'replicasets', 'get'),
    right('autoscaling', 'horizontalpodautoscalers', 'list patch'),
    right('keda.sh', 'scaledobjects', 'list patch'),
    right('', 'persistentvolumeclaims', 'get'),
    // Of nodes that are disabled with `--accept-downtime`.
    { ...right('', 'nodes', 'get'), isOptional: true },
    // A resource that only the policies of EvictionRequests ask for.
    { ...right(LIFECYCLE_GROUP, 'interceptors', 'report'), name: SURGE },
    { ...right(LIFECYCLE_GROUP, 'interceptors', 'report'), name: DAEMON_SET },
    { ...right(LIFECYCLE_GROUP, 'nodemaintenances', 'list watch'), isOptional: true },
    ...SHARED,
  ],
};

const policiesOf = (plural: string): readonly string[] =>
  ['spec', 'status'].map((part) => `${plural}-${part}.${LIFECYCLE_GROUP}`);

/** The policy of who may change the annotations that drains obey. */
export const DRAIN_ANNOTATIONS_POLICY = 'nodes-drain-annotations.tidegate.dev';

/** Policies by role. */
const POLICIES: Readonly<Partial<Record<RoleName, readonly string[]>>> = {
  fleet: [DRAIN_ANNOTATIONS_POLICY],
  evictions: policiesOf('evictionrequests'),
  interceptors: policiesOf('evictionrequests'),
  maintenance: [...policiesOf('nodemaintenances'), DRAIN_ANNOTATIONS_POLICY],
  availability: [DRAIN_ANNOTATIONS_POLICY],
};

/** The policies that the roles rely on; each has a binding of its own name. */
export const policiesFor = (roles: readonly RoleName[]): readonly string[] => [
  ...new Set(roles.flatMap((role) => POLICIES[role] ?? [])),
];

/** `capacityrequests.bigfleet.lucy.sh/status`, as `kubectl auth can-i` takes it. */
export const rightName = (
  { group, resource, subresource }: Pick<NeededRight, 'group' | 'resource' | 'subresource'>,
): string =>
  `${resource}${group === '' ? '' : `.${group}`}${subresource === '' ? '' : `/${subresource}`}`;
