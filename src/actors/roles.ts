/**
 * The roles of an operator by name, made and put in the order in which they lead.
 *
 * Promises: who gives nodes back leads before the session is opened (DR-13), and the session opens
 * last of those that demand depends on; what a role needs of another is handed to it here and
 * nowhere else. A new role adds its folder and its line.
 */
import type { Intern } from '../domain/text-pool.ts';
import type { Credentials } from '../effects/credentials.ts';
import type { ShardCalls } from '../effects/shard-call.ts';
import type { ActorEnvironment } from './actor-environment.ts';
import {
  type CapacityRequestsRole,
  capacityRequestsRole,
  type PodPolicy,
} from './capacity-requests/capacity-requests-role.ts';
import { demandRole } from './demand/demand-role.ts';
import {
  fleetSessionRole,
  type FleetSessionRoleOptions,
} from './fleet-session/fleet-session-role.ts';
import type { DrainPolicy } from './node-drains/node-drains-role.ts';
import { nodeDrainsRole } from './node-drains/node-drains-role.ts';
import type { ClusterServices } from '../effects/operator-services.ts';
import type { Role, RoleContext } from './role.ts';
import { upcomingNodeCollection, upcomingNodesRole } from './upcoming-nodes/upcoming-nodes-role.ts';

/** What the roles with the fleet are made with. */
export interface FleetOptions extends FleetSessionRoleOptions {
  readonly ackConcurrency: number;
  readonly drains: DrainPolicy;
  /** Keeps equal specs of machines once, in caches and answers alike. */
  readonly intern: Intern;
}

/** Which roles, and what each is made with; a role without options is left out. */
export interface RolesOptions {
  readonly fleet?: FleetOptions | undefined;
  readonly pods?: PodPolicy | undefined;
}

/** What the chosen roles act in. */
export type RolesEnvironment = ActorEnvironment<ClusterServices | ShardCalls | Credentials>;

/** The roles with the fleet, around one session. */
const fleetRoles = (
  environment: RolesEnvironment,
  options: FleetOptions,
  { context, pods }: {
    readonly context: RoleContext;
    /** Demand waits for its first requests when it is there (WIRE-05). */
    readonly pods: CapacityRequestsRole | undefined;
  },
) => {
  const { intern, rollupIntervalMs, ackConcurrency, drains: policy } = options;
  const fleetSession = fleetSessionRole(environment, options, context);
  const { session } = fleetSession;
  const collection = upcomingNodeCollection(intern);
  const upcomingNodes = upcomingNodesRole(environment, { session, collection, intern }, context);
  const demand = demandRole(environment, {
    session,
    rollupIntervalMs,
    ackConcurrency,
    initialRequests: pods?.initialRequests,
  }, context);
  const nodeDrains = nodeDrainsRole(environment, {
    policy,
    session,
    machines: upcomingNodes.machines,
    upcomingNodeCollection: collection,
  }, context);
  return { fleetSession, upcomingNodes, demand, nodeDrains };
};

/** The roles that `options` choose, in the order in which they lead. */
export const makeRoles =
  (environment: RolesEnvironment, options: RolesOptions) =>
  (context: RoleContext): readonly Role[] => {
    const pods = options.pods && capacityRequestsRole(environment, options.pods, context);
    const fleet = options.fleet && fleetRoles(environment, options.fleet, { context, pods });
    const inOrder = [
      fleet?.nodeDrains,
      pods,
      fleet?.demand,
      fleet?.fleetSession,
      fleet?.upcomingNodes,
    ];
    return inOrder.filter((role) => role !== undefined);
  };
