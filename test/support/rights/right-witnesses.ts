/**
 * Which suites show that a role uses its rights, and why some rights are in none.
 *
 * Promises: `used-rights.ts` fails a suite that no longer uses what is said of it here, and
 * `test/unit/domain/operator-rights.test.ts` a right that is in neither table.
 */
import type { RoleName } from '../../../src/domain/operator-roles.ts';

/** Rights by the full name of a suite. */
type Witnesses = Readonly<Record<string, readonly string[]>>;

/** The tests of a right that no suite on a real API server needs, by right. */
type Explanations = Readonly<Record<string, string>>;

const each = (verbs: string, ...resources: readonly string[]): readonly string[] =>
  resources.flatMap((resource) => verbs.split(' ').map((verb) => `${verb} ${resource}`));

const tested = (by: string, ...rights: readonly (readonly string[])[]): Explanations =>
  Object.fromEntries(rights.flat().map((right) => [right, by]));

const LEASE = each('get list watch create patch', 'leases.coordination.k8s.io');
const EVENTS = each('create', 'events.events.k8s.io');
/** What every role with drains follows. */
const FOLLOWED = each(
  'list watch',
  'nodes',
  'pods',
  'poddisruptionbudgets.policy',
  'volumeattachments.storage.k8s.io',
  'evictionrequests.lifecycle.tidegate.dev',
);
const DRAINED = [...each('patch', 'nodes', 'nodes/status'), ...each('create', 'pods/eviction')];
const REQUESTED = each('create patch delete', 'evictionrequests.lifecycle.tidegate.dev');
const VOLUMES = each('list watch', 'persistentvolumeclaims', 'persistentvolumes');

/** The API server of the test bed serves no such kinds; a CRD of the same shape does. */
const NATIVE = 'test/integration/native-evictions.test.ts';
const OF_REQUESTERS = tested(
  NATIVE,
  each('list watch create patch delete', 'evictionrequests.lifecycle.k8s.io'),
  each('list watch', 'evictions.lifecycle.k8s.io'),
);
/** An Event that repeats within minutes. */
const SERIES = tested(
  'test/unit/domain/event-series.test.ts',
  each('patch', 'events.events.k8s.io'),
);

/** The gate of pods that serve, of the drains of each role. */
const GATED = tested(
  'test/unit/effects/serving-gates.test.ts',
  each('patch', 'pods/status'),
  each('list', 'endpointslices.discovery.k8s.io'),
);

const MAINTAINED = 'test/e2e/drain-maintained.test.ts > the role maintenance';
const SURGED = 'test/e2e/drain-surge.test.ts > a Deployment of one replica behind a budget of one';

/** Rights by role and suite. */
export const WITNESSES: Readonly<Record<RoleName, Witnesses>> = {
  fleet: {
    'test/e2e/bootstrap.test.ts > bootstrap template': [
      ...each('list watch', 'capacityrequests.bigfleet.lucy.sh'),
      ...each('patch', 'capacityrequests.bigfleet.lucy.sh/status'),
      ...each('list watch create', 'availablecapacities.bigfleet.lucy.sh'),
    ],
    'test/e2e/drain-stopped.test.ts > a drain whose operator stops': [
      ...LEASE,
      ...EVENTS,
      ...FOLLOWED,
      ...DRAINED,
      ...each('list watch create', 'upcomingnodes.bigfleet.lucy.sh'),
      ...each('patch', 'upcomingnodes.bigfleet.lucy.sh/status'),
    ],
    'test/e2e/stop.test.ts > operator on SIGTERM': [
      ...each('delete', 'upcomingnodes.bigfleet.lucy.sh'),
    ],
    [SURGED]: REQUESTED,
  },
  pods: {
    'test/e2e/pods-followed.test.ts > pods': [
      ...LEASE,
      ...EVENTS,
      ...each('list watch', 'pods', 'namespaces'),
      ...each('list watch create patch delete', 'capacityrequests.bigfleet.lucy.sh'),
      ...each('patch', 'capacityrequests.bigfleet.lucy.sh/status'),
    ],
  },
  evictions: {
    [MAINTAINED]: [
      ...LEASE,
      ...EVENTS,
      ...each('list watch', 'nodes', 'pods', 'poddisruptionbudgets.policy'),
      ...each('list watch patch', 'evictionrequests.lifecycle.tidegate.dev'),
      ...each('patch', 'evictionrequests.lifecycle.tidegate.dev/status'),
      ...each('create', 'pods/eviction'),
    ],
    'test/integration/eviction-requests-rights.test.ts > the role evictions with its own rights':
      each('delete', 'evictionrequests.lifecycle.tidegate.dev'),
    [`${NATIVE} > native EvictionRequests on a real API server`]: [
      ...each('list watch delete', 'evictionrequests.lifecycle.k8s.io'),
      ...each('list watch create delete', 'evictions.lifecycle.k8s.io'),
      ...each('patch', 'evictionrequests.lifecycle.k8s.io/status'),
      ...each('patch', 'evictions.lifecycle.k8s.io/status'),
    ],
  },
  interceptors: {
    [SURGED]: [
      ...LEASE,
      ...each('list watch', 'evictionrequests.lifecycle.tidegate.dev'),
      ...each('list watch', 'nodemaintenances.lifecycle.tidegate.dev'),
      ...each('patch', 'evictionrequests.lifecycle.tidegate.dev/status'),
      ...each('get list patch', 'pods', 'deployments.apps'),
      ...each('get', 'replicasets.apps'),
      ...each('list', 'horizontalpodautoscalers.autoscaling', 'scaledobjects.keda.sh'),
    ],
  },
  maintenance: {
    [MAINTAINED]: [
      ...LEASE,
      ...EVENTS,
      ...FOLLOWED,
      ...DRAINED,
      ...REQUESTED,
      ...each('get list watch patch', 'nodemaintenances.lifecycle.tidegate.dev'),
      ...each('patch', 'nodemaintenances.lifecycle.tidegate.dev/status'),
    ],
  },
  availability: {
    'test/e2e/node-offline.test.ts > the role availability': [
      ...LEASE,
      ...EVENTS,
      ...FOLLOWED,
      ...DRAINED,
      ...VOLUMES,
      ...each('delete', 'pods'),
      ...each('patch', 'pods/status'),
    ],
  },
};

/** The test of a right that is in no suite above. */
export const NOT_WITNESSED: Readonly<Record<RoleName, Explanations>> = {
  fleet: {
    ...OF_REQUESTERS,
    ...SERIES,
    ...GATED,
    ...tested(
      'test/models/upcoming-node.test.ts',
      each('get patch', 'upcomingnodes.bigfleet.lucy.sh'),
    ),
    ...tested(
      'test/models/available-capacity.test.ts',
      each('get patch delete', 'availablecapacities.bigfleet.lucy.sh'),
    ),
    ...tested('test/integration/local-volumes.test.ts', VOLUMES),
  },
  // After a request of the same name, which somebody else made.
  pods: {
    ...SERIES,
    ...tested('test/models/pod-demand.test.ts', each('get', 'capacityrequests.bigfleet.lucy.sh')),
  },
  evictions: {
    ...SERIES,
    ...GATED,
    // After a conflict, and when a requester joins after the Eviction was made.
    ...tested(NATIVE, each('get patch', 'evictions.lifecycle.k8s.io')),
  },
  interceptors: {
    ...SERIES,
    // The end of its leadership.
    ...tested('test/models/leadership.test.ts', EVENTS),
    ...tested(
      'test/unit/interceptor/surge-autoscaled.test.ts',
      each('patch', 'horizontalpodautoscalers.autoscaling', 'scaledobjects.keda.sh'),
    ),
    ...tested(
      'test/unit/interceptor/surge-blocked.test.ts',
      each('get', 'persistentvolumeclaims', 'nodes'),
    ),
    ...tested('test/unit/interceptor/surge-step.test.ts', each('delete', 'pods')),
  },
  maintenance: {
    ...OF_REQUESTERS,
    ...SERIES,
    ...GATED,
    ...tested('test/integration/local-volumes.test.ts', VOLUMES),
  },
  availability: {
    ...OF_REQUESTERS,
    ...SERIES,
    ...tested(
      'test/e2e/node-not-serving.test.ts',
      each('list', 'endpointslices.discovery.k8s.io'),
    ),
    // As those of the other drains, which are the same code.
    ...tested('test/integration/drain-requests.test.ts', REQUESTED),
  },
};
