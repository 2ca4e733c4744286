/**
 * The role that writes UpcomingNodes of machines and AvailableCapacities of the fleet.
 *
 * Promises: reports of the shard are discarded at the end of the term of leadership.
 */
import { projectAvailableCapacity } from '../../domain/available-capacity.ts';
import { projectNode } from '../../domain/cluster-node.ts';
import type { Intern } from '../../domain/text-pool.ts';
import { projectUpcomingNode, type UpcomingNodeProjection } from '../../domain/upcoming-node.ts';
import {
  AVAILABLE_CAPACITIES_PATH,
  type AvailableCapacities,
} from '../../effects/available-capacities.ts';
import type { Cordons } from '../../effects/cordons.ts';
import { UPCOMING_NODES_PATH, type UpcomingNodes } from '../../effects/upcoming-nodes.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import type { FleetSession } from '../fleet-session/fleet-session.ts';
import type { InformerOptions } from '../informers/informer.ts';
import { type Role, type RoleContext, roleDefaults } from '../role.ts';
import { startAvailableCapacities } from './available-capacities.ts';
import { startUpcomingNodes, type UpcomingNodeRegistry } from './upcoming-nodes.ts';

/** The collection of UpcomingNodes; roles that read it share one of these. */
export const upcomingNodeCollection = (
  intern: Intern,
): InformerOptions<UpcomingNodeProjection> => ({
  id: 'upcomingnodes',
  path: UPCOMING_NODES_PATH,
  project: (raw) => projectUpcomingNode(raw, intern),
});

/** The inputs of the role. */
export interface UpcomingNodesRoleOptions {
  readonly session: Pick<FleetSession, 'shardEvents' | 'acknowledged'>;
  readonly collection: InformerOptions<UpcomingNodeProjection>;
  /** Interns equal machine specs, in caches and answers alike. */
  readonly intern: Intern;
  /** `--lease-duration`. */
  readonly leaseMs: number;
}

/** The role, and its machines. */
export interface UpcomingNodesRole extends Role {
  readonly machines: UpcomingNodeRegistry;
}

/** Creates the role, not leading. */
export const upcomingNodesRole = (
  environment: ActorEnvironment<UpcomingNodes | AvailableCapacities | Cordons>,
  { session, collection, intern, leaseMs }: UpcomingNodesRoleOptions,
  { informers, record }: RoleContext,
): UpcomingNodesRole => {
  const { shardEvents, acknowledged } = session;
  const upcomingNodes = informers.collection(collection);
  const availableCapacities = informers.collection({
    id: 'availablecapacities',
    path: AVAILABLE_CAPACITIES_PATH,
    project: projectAvailableCapacity,
  });
  const nodes = informers.collection({ id: 'nodes', path: '/api/v1/nodes', project: projectNode });
  const machines = startUpcomingNodes(environment, {
    shardEvents,
    upcomingNodes,
    nodes,
    record,
    intern,
    leaseMs,
  });
  const capacities = startAvailableCapacities(environment, {
    shardEvents,
    acknowledged,
    availableCapacities,
    record,
  });
  return {
    ...roleDefaults('upcoming-nodes', [upcomingNodes, availableCapacities, nodes]),
    machines,
    // Apart from this, machines and profiles act only on reports of the session of this term.
    onLeading: machines.onLeading,
    onLeadershipLost: () => {
      machines.onLeadershipLost();
      capacities.onLeadershipLost();
    },
    stop: async () => {
      await Promise.all([machines.stop(), capacities.stop()]);
    },
  };
};
