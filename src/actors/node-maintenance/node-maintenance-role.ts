/**
 * The role that works on NodeMaintenances: cordons, drains by plan, and releases (KEP-4212).
 *
 * Promises: shares the drains, the caches and the evictions of the same process; has its own when
 * there are none.
 */
import { projectNode } from '../../domain/cluster-node.ts';
import { textAt, timeAt } from '../../domain/json.ts';
import { DONE_ANNOTATION } from '../../domain/node-maintenance/node-budget.ts';
import { nodeConditionsOf } from '../../domain/node-maintenance/node-conditions.ts';
import { projectMaintenance } from '../../domain/node-maintenance/observed-maintenance.ts';
import { projectUnschedulablePod } from '../../domain/node-maintenance/unschedulable-pod.ts';
import { annotationsOf, labelsOf } from '../../domain/object-meta.ts';
import type { Cordons } from '../../effects/cordons.ts';
import type { EvictionRequests } from '../../effects/eviction-requests.ts';
import { NODE_MAINTENANCES_PATH, NodeMaintenances } from '../../effects/node-maintenance.ts';
import type { PodEvictionApi } from '../../effects/pod-eviction-api.ts';
import type { ServingGates } from '../../effects/serving-gates.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { isBehind, missingLists, whenCurrent } from '../informers/shared-informers.ts';
import { type DrainEngine, type DrainPolicy, ownDrains } from '../node-drains/drain-engine.ts';
import { type Role, type RoleContext, roleDefaults, STARTED } from '../role.ts';
import { type MaintainableNode, NodeMaintenanceRegistry } from './node-maintenances.ts';

/** The inputs of the role. */
export interface NodeMaintenanceRoleOptions {
  readonly policy: DrainPolicy;
  /** The drains of this process; without them, the role has its own. */
  readonly drains: DrainEngine | undefined;
}

/** The role, and its drains for other roles of the process. */
export interface NodeMaintenanceRole extends Role {
  readonly shared: DrainEngine;
}

/** Without the kind, the role would wait for its list forever. */
const NOT_SERVED =
  'Cannot start the role maintenance: the API server does not serve nodemaintenances.' +
  'lifecycle.tidegate.dev; install its CRD with "kubectl apply --server-side -f ' +
  'charts/tidegate/files/crds", or leave the role out of --roles';

const maintainableNode = (raw: unknown): MaintainableNode | undefined => {
  const node = projectNode(raw);
  return node && {
    ...node,
    labels: labelsOf(raw),
    bootId: textAt(raw, 'status', 'nodeInfo', 'bootID') ?? '',
    doneFor: annotationsOf(raw)[DONE_ANNOTATION] ?? '',
    createdMs: timeAt(raw, 'metadata', 'creationTimestamp') ?? 0,
    lifecycle: nodeConditionsOf(raw),
  };
};

/** Creates the role, not leading. */
export const nodeMaintenanceRole = (
  environment: ActorEnvironment<
    Cordons | EvictionRequests | PodEvictionApi | ServingGates | NodeMaintenances
  >,
  { policy, drains }: NodeMaintenanceRoleOptions,
  context: RoleContext,
): NodeMaintenanceRole => {
  const { informers, record } = context;
  const engine = drains ?? ownDrains(environment, policy, context);
  const isOwn = drains === undefined;
  const maintenances = informers.collection({
    id: 'nodemaintenances',
    path: NODE_MAINTENANCES_PATH,
    project: projectMaintenance,
  });
  const nodes = informers.collection({
    id: 'nodes',
    path: '/api/v1/nodes',
    project: maintainableNode,
  });
  const unschedulable = informers.collection({
    id: 'unscheduledpods',
    path: '/api/v1/pods',
    query: { fieldSelector: 'spec.nodeName=' },
    project: projectUnschedulablePod,
  });
  const awaited = () => [maintenances, ...engine.informers()];
  const registry = new NodeMaintenanceRegistry(environment, {
    maintenances,
    nodes,
    engine,
    unschedulable,
    isSynced: () => awaited().every(({ synced }) => synced),
    whenMaintenancesCurrent: () => whenCurrent(maintenances),
    isBehind: () => [nodes, engine.pods, unschedulable].some(isBehind),
    record,
  });
  const onLeadershipLost = (): void => {
    registry.onLeadershipLost();
    if (!isOwn) return;
    engine.requested?.onLeadershipLost();
    engine.drains.onLeadershipLost();
  };
  return {
    ...roleDefaults('node-maintenance', []),
    shared: engine,
    get informers() {
      return awaited();
    },
    ready: () => missingLists(awaited()),
    discover: async () => {
      const areServed = await environment.runtime.runPromise(
        NodeMaintenances.use((service) => service.areServed),
      );
      if (!areServed) return { _tag: 'Refused', problem: NOT_SERVED };
      return isOwn ? engine.discover() : STARTED;
    },
    onLeading: () => {
      if (isOwn) {
        engine.requested?.onLeading();
        engine.drains.onLeading();
      }
      registry.onLeading();
    },
    onLeadershipLost,
    close: () => Promise.resolve(onLeadershipLost()),
    stop: async () => {
      await registry.stop();
      if (isOwn) await engine.stop();
    },
  };
};
