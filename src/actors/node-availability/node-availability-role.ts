/**
 * The role that handles Nodes that fail: their state, the replacement of lost pods, and storms.
 *
 * Promises: shares the drains, the caches and the evictions of the same process; has its own when
 * there are none, for the drains of disabled Nodes.
 */
import { textAt } from '../../domain/json.ts';
import { availableNode } from '../../domain/node-availability/available-node.ts';
import { projectVolume, projectVolumeClaim } from '../../domain/node-availability/local-volumes.ts';
import { projectLostPod } from '../../domain/node-availability/lost-pods.ts';
import { identityOf } from '../../domain/object-meta.ts';
import type { Cordons } from '../../effects/cordons.ts';
import type { EvictionRequests } from '../../effects/eviction-requests.ts';
import type { NodeAvailabilityApi } from '../../effects/node-availability.ts';
import type { PodEvictionApi } from '../../effects/pod-eviction-api.ts';
import type { ServingGates } from '../../effects/serving-gates.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { isBehind, missingLists } from '../informers/shared-informers.ts';
import { type DrainEngine, type DrainPolicy, ownDrains } from '../node-drains/drain-engine.ts';
import { type Role, type RoleContext, roleDefaults } from '../role.ts';
import {
  type AvailabilityPolicy,
  NodeAvailabilities,
  type NodeLease,
} from './node-availabilities.ts';

/** The inputs of the role. */
export interface NodeAvailabilityRoleOptions {
  readonly policy: AvailabilityPolicy;
  /** How disabled Nodes drain, in a process without other drains. */
  readonly drainPolicy: DrainPolicy;
  /** The drains of this process; without them, the role has its own. */
  readonly drains: DrainEngine | undefined;
}

/** The role, and its drains for other roles of the process. */
export interface NodeAvailabilityRole extends Role {
  readonly shared: DrainEngine;
}

/** Reads the Lease of a Node. */
export const nodeLease = (raw: unknown): NodeLease | undefined => {
  const identity = identityOf(raw);
  return identity && {
    ...identity,
    node: textAt(raw, 'metadata', 'name') ?? '',
    renewTime: textAt(raw, 'spec', 'renewTime') ?? '',
  };
};

/** What the state of Nodes is read from. */
const availabilityInformers = (
  { informers }: RoleContext,
  project: ReturnType<typeof availableNode>,
) => ({
  nodes: informers.collection({ id: 'nodes', path: '/api/v1/nodes', project }),
  leases: informers.collection({
    id: 'nodeleases',
    path: '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
    project: nodeLease,
  }),
  pods: informers.collection({
    id: 'pods',
    path: '/api/v1/pods',
    query: { fieldSelector: 'spec.nodeName!=' },
    project: projectLostPod,
  }),
  claims: informers.collection({
    id: 'persistentvolumeclaims',
    path: '/api/v1/persistentvolumeclaims',
    project: projectVolumeClaim,
  }),
  volumes: informers.collection({
    id: 'persistentvolumes',
    path: '/api/v1/persistentvolumes',
    project: projectVolume,
  }),
});

/** Creates the role, not leading. */
export const nodeAvailabilityRole = (
  environment: ActorEnvironment<
    Cordons | EvictionRequests | PodEvictionApi | ServingGates | NodeAvailabilityApi
  >,
  { policy, drainPolicy, drains }: NodeAvailabilityRoleOptions,
  context: RoleContext,
): NodeAvailabilityRole => {
  const own = { ...drainPolicy, drainsDisabled: true };
  const engine = drains ?? ownDrains(environment, own, context);
  const isOwn = drains === undefined;
  const project = availableNode(policy.degradedBy);
  const read = availabilityInformers(context, project);
  const awaited = () => [...Object.values(read), ...engine.informers()];
  const registry = new NodeAvailabilities(environment, {
    ...read,
    drains: engine.drains,
    policy,
    project,
    isSynced: () => awaited().every(({ synced }) => synced),
    isBehind: () => [read.nodes, read.leases, read.pods].some(isBehind),
    record: context.record,
    recordOnLease: context.recordOnLease,
  });
  const onLeadershipLost = (): void => {
    registry.onLeadershipLost();
    engine.evictions.gates.onLeadershipLost();
    if (!isOwn) return;
    engine.requested?.onLeadershipLost();
    engine.drains.onLeadershipLost();
  };
  return {
    ...roleDefaults('node-availability', []),
    shared: engine,
    get informers() {
      return awaited();
    },
    ready: () => missingLists(awaited()),
    ...(isOwn ? { discover: engine.discover } : {}),
    onLeading: () => {
      if (isOwn) {
        engine.requested?.onLeading();
        engine.drains.onLeading();
      }
      engine.evictions.gates.onLeading();
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
