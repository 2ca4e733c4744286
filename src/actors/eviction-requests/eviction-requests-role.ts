/**
 * The role that serves EvictionRequests: interceptors in turn, then the eviction of the pod.
 *
 * Promises: shares the caches, the dispatcher and the budgets with the drains of the same process;
 * has its own when there are none.
 */
import { Effect } from 'effect';
import { LIFECYCLE_GROUP } from '../../domain/api-group.ts';
import { projectNode } from '../../domain/cluster-node.ts';
import { projectBudget } from '../../domain/drain/budget.ts';
import { type DrainPod, podProjection } from '../../domain/drain/pod.ts';
import { HEARTBEAT_SPACING_MS } from '../../domain/eviction-requests/interceptor-deadline.ts';
import { projectEvictionRequest } from '../../domain/eviction-requests/observed-request.ts';
import { projectInterceptedPod } from '../../domain/eviction-requests/target-pod.ts';
import { EVICTION_REQUESTS_PATH, EvictionRequests } from '../../effects/eviction-requests.ts';
import type { PodEvictionApi } from '../../effects/pod-eviction-api.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import type { Informer } from '../informers/informer.ts';
import { type PodEvictionRegistry, startPodEvictions } from '../pod-evictions/pod-evictions.ts';
import { type Role, type RoleContext, roleDefaults, STARTED } from '../role.ts';
import { type EvictionRequestPolicy, EvictionRequestRegistry } from './eviction-requests.ts';

/** Evictions and the pods that they are about. */
export interface SharedEvictions {
  readonly evictions: PodEvictionRegistry;
  readonly pods: Informer<DrainPod>;
}

/** The inputs of the role. */
export interface EvictionRequestsRoleOptions {
  readonly policy: EvictionRequestPolicy;
  /** `--evictions-per-budget`. */
  readonly callsPerBudget?: number;
  /** The evictions of the drains in this process. */
  readonly drains?: SharedEvictions | undefined;
}

/** The evictions of a process without drains. */
const ownEvictions = (
  environment: ActorEnvironment<PodEvictionApi>,
  { informers }: RoleContext,
  callsPerBudget: number,
) => {
  const pods = informers.collection({
    id: 'pods',
    path: '/api/v1/pods',
    project: podProjection(),
  });
  const budgets = informers.collection({
    id: 'poddisruptionbudgets',
    path: '/apis/policy/v1/poddisruptionbudgets',
    project: projectBudget,
  });
  const nodes = informers.collection({ id: 'nodes', path: '/api/v1/nodes', project: projectNode });
  return {
    evictions: startPodEvictions(environment, { pods, budgets, nodes, callsPerBudget }),
    pods,
    informers: [budgets, nodes],
  };
};

/** Without the CRD the role would wait for its list forever. */
const NOT_SERVED = 'Cannot start the role evictions: the API server does not serve ' +
  `evictionrequests.${LIFECYCLE_GROUP}; install its CRD with "kubectl apply --server-side -f ` +
  'charts/tidegate/files/crds", or leave the role out of --roles';

/** Creates the role, not leading. */
export const evictionRequestsRole = (
  environment: ActorEnvironment<EvictionRequests | PodEvictionApi>,
  { policy, callsPerBudget = 1, drains }: EvictionRequestsRoleOptions,
  context: RoleContext,
): Role => {
  const { informers, record } = context;
  const own = drains === undefined
    ? ownEvictions(environment, context, callsPerBudget)
    : { ...drains, informers: [] };
  const registrations = informers.collection({
    id: 'pods',
    path: '/api/v1/pods',
    project: projectInterceptedPod,
  });
  const requests = informers.collection({
    id: 'evictionrequests',
    path: EVICTION_REQUESTS_PATH,
    project: projectEvictionRequest,
  });
  const registry = new EvictionRequestRegistry(environment, {
    ...policy,
    requests,
    registrations,
    pods: own.pods,
    evictions: own.evictions,
    record,
  });
  const { deadlineMs } = policy.timing;
  return {
    ...roleDefaults('eviction-requests', [requests, registrations, ...own.informers]),
    start: async () => {
      const areServed = await environment.runtime.runPromise(
        Effect.flatMap(EvictionRequests, (service) => service.areServed),
      );
      if (!areServed) return { _tag: 'Refused', problem: NOT_SERVED };
      // Two heartbeats are at least a minute apart.
      if (deadlineMs <= HEARTBEAT_SPACING_MS) {
        environment.telemetry.log('warn', 'No heartbeat can extend the interceptor deadline', {
          deadlineSeconds: deadlineMs / 1000,
          leastSeconds: HEARTBEAT_SPACING_MS / 1000,
        });
      }
      return STARTED;
    },
    onLeading: registry.onLeading,
    onLeadershipLost: registry.onLeadershipLost,
    stop: async () => {
      await registry.stop();
      if (drains === undefined) await own.evictions.stop();
    },
  };
};
