/**
 * The role that serves EvictionRequests: interceptors in turn, then the eviction of the pod.
 *
 * Promises: shares the caches, the dispatcher and the budgets with the drains of the same process;
 * has its own when there are none.
 */
import { projectNode } from '../../domain/cluster-node.ts';
import { projectBudget } from '../../domain/drain/budget.ts';
import { type DrainPod, podProjection } from '../../domain/drain/pod.ts';
import { HEARTBEAT_SPACING_MS } from '../../domain/eviction-requests/interceptor-deadline.ts';
import { interceptedPodProjection } from '../../domain/eviction-requests/target-pod.ts';
import type { EvictionRequests } from '../../effects/eviction-requests.ts';
import type { PodEvictionApi } from '../../effects/pod-eviction-api.ts';
import type { ServingGates } from '../../effects/serving-gates.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import type { Informer } from '../informers/informer.ts';
import { missingLists } from '../informers/shared-informers.ts';
import { type PodEvictionRegistry, startPodEvictions } from '../pod-evictions/pod-evictions.ts';
import { type Role, type RoleContext, roleDefaults, STARTED } from '../role.ts';
import { DefaultInterceptors } from './default-interceptors.ts';
import { type EvictionRequestPolicy, EvictionRequestRegistry } from './eviction-requests.ts';
import { followRequests } from './followed-requests.ts';
import { notServed } from './served-requests.ts';

/** Evictions and the pods that they are about. */
export interface SharedEvictions {
  readonly evictions: PodEvictionRegistry;
  readonly pods: Informer<DrainPod>;
  readonly defaults: DefaultInterceptors;
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
  environment: ActorEnvironment<PodEvictionApi | ServingGates>,
  { informers }: RoleContext,
  { callsPerBudget, names }: { readonly callsPerBudget: number; readonly names: readonly string[] },
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
    defaults: new DefaultInterceptors({ names, pods, budgets }),
    informers: [budgets, nodes],
  };
};

/** Creates the role, not leading. */
export const evictionRequestsRole = (
  environment: ActorEnvironment<EvictionRequests | PodEvictionApi | ServingGates>,
  { policy, callsPerBudget = 1, drains }: EvictionRequestsRoleOptions,
  context: RoleContext,
): Role => {
  const { informers, record } = context;
  const { timing, ttlMs, defaultInterceptors = [] } = policy;
  const own = drains === undefined
    ? ownEvictions(environment, context, { callsPerBudget, names: defaultInterceptors })
    : { ...drains, informers: [] };
  const registrations = informers.collection({
    id: 'pods',
    path: '/api/v1/pods',
    project: interceptedPodProjection(),
  });
  const followed = followRequests(environment, informers, { isController: true });
  const { requests } = followed;
  const registry = new EvictionRequestRegistry(environment, {
    timing,
    ttlMs,
    requests,
    registrations,
    pods: own.pods,
    evictions: own.evictions,
    defaultsFor: own.defaults.of,
    record,
  });
  const { deadlineMs } = timing;
  const awaited = () => [...followed.informers(), registrations, ...own.informers];
  return {
    ...roleDefaults('eviction-requests', []),
    get informers() {
      return awaited();
    },
    ready: () => missingLists(awaited()),
    discover: async () => {
      const { api, isServed } = await followed.choose(policy.api ?? 'auto');
      if (!isServed) return { _tag: 'Refused', problem: notServed('evictions', api) };
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
      if (drains === undefined) await Promise.all([own.evictions.stop(), own.defaults.stop()]);
    },
  };
};
