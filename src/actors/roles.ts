/**
 * The roles of an operator by name, created in the order in which they lead.
 *
 * Promises: the drain role leads before the session opens (DR-13), and the session opens after all
 * roles that demand depends on; dependencies between roles are passed only here. A new role adds
 * its folder and its line.
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
import { type InterceptorsPolicy, interceptorsRole } from './interceptors/interceptors-role.ts';
import type { EvictionRequestPolicy } from './eviction-requests/eviction-requests.ts';
import { evictionRequestsRole } from './eviction-requests/eviction-requests-role.ts';
import {
  fleetSessionRole,
  type FleetSessionRoleOptions,
} from './fleet-session/fleet-session-role.ts';
import type { DrainPolicy } from './node-drains/drain-engine.ts';
import type { AvailabilityPolicy } from './node-availability/node-availabilities.ts';
import { nodeAvailabilityRole } from './node-availability/node-availability-role.ts';
import { nodeDrainsRole } from './node-drains/node-drains-role.ts';
import { nodeMaintenanceRole } from './node-maintenance/node-maintenance-role.ts';
import type { ClusterServices } from '../effects/operator-services.ts';
import type { Role, RoleContext } from './role.ts';
import { upcomingNodeCollection, upcomingNodesRole } from './upcoming-nodes/upcoming-nodes-role.ts';

/** The inputs of the roles that need the fleet. */
export interface FleetOptions extends FleetSessionRoleOptions {
  readonly ackConcurrency: number;
  readonly drains: DrainPolicy;
  /** `--lease-duration`. */
  readonly leaseMs: number;
  /** Interns equal machine specs, in caches and answers alike. */
  readonly intern: Intern;
}

/** The inputs of the role availability. */
export interface AvailabilityRoleOptions {
  readonly policy: AvailabilityPolicy;
  readonly drains: DrainPolicy;
}

/** The selected roles with their inputs; a role without options is omitted. */
export interface RolesOptions {
  readonly fleet?: FleetOptions | undefined;
  readonly pods?: PodPolicy | undefined;
  readonly evictions?: EvictionRequestPolicy | undefined;
  /** How maintenances drain; the fleet's drains count when there are any. */
  readonly maintenance?: DrainPolicy | undefined;
  /** When Nodes are degraded or offline, and how disabled ones drain without other drains. */
  readonly availability?: AvailabilityRoleOptions | undefined;
  /** How surges go. */
  readonly interceptors?: InterceptorsPolicy | undefined;
}

/** The environment of the selected roles. */
export type RolesEnvironment = ActorEnvironment<ClusterServices | ShardCalls | Credentials>;

/** The roles that share one session with the fleet. */
const fleetRoles = (
  environment: RolesEnvironment,
  options: FleetOptions,
  { context, pods }: {
    readonly context: RoleContext;
    /** Its pods are part of the demand when that role is present (WIRE-05). */
    readonly pods: CapacityRequestsRole | undefined;
  },
) => {
  const { intern, leaseMs, rollupIntervalMs, ackConcurrency, drains: policy } = options;
  const fleetSession = fleetSessionRole(environment, options, context);
  const { session } = fleetSession;
  const collection = upcomingNodeCollection(intern);
  const machineOptions = { session, collection, intern, leaseMs };
  const upcomingNodes = upcomingNodesRole(environment, machineOptions, context);
  const demand = demandRole(environment, {
    session,
    rollupIntervalMs,
    ackConcurrency,
    pods: pods?.demand,
  }, context);
  const nodeDrains = nodeDrainsRole(environment, {
    policy,
    session,
    machines: upcomingNodes.machines,
    upcomingNodeCollection: collection,
  }, context);
  return { fleetSession, upcomingNodes, demand, nodeDrains };
};

/** The roles that `options` select, in the order in which they lead. */
export const makeRoles =
  (environment: RolesEnvironment, options: RolesOptions) =>
  (context: RoleContext): readonly Role[] => {
    /** Whoever drains in this process drains disabled Nodes, when it has the role for them. */
    const shared = (policy: DrainPolicy): DrainPolicy => ({
      ...policy,
      drainsDisabled: options.availability !== undefined,
    });
    const pods = options.pods && capacityRequestsRole(environment, options.pods, context);
    const fleetOptions = options.fleet &&
      { ...options.fleet, drains: shared(options.fleet.drains) };
    const fleet = fleetOptions && fleetRoles(environment, fleetOptions, { context, pods });
    const maintenance = options.maintenance && nodeMaintenanceRole(environment, {
      policy: shared(options.maintenance),
      drains: fleet?.nodeDrains.shared,
    }, context);
    const drains = fleet?.nodeDrains.shared ?? maintenance?.shared;
    const availability = options.availability && nodeAvailabilityRole(environment, {
      policy: options.availability.policy,
      drainPolicy: options.availability.drains,
      drains,
    }, context);
    const evictions = options.evictions && evictionRequestsRole(environment, {
      policy: options.evictions,
      drains: drains ?? availability?.shared,
    }, context);
    const inOrder = [
      fleet?.nodeDrains,
      maintenance,
      availability,
      evictions,
      options.interceptors && interceptorsRole(environment, options.interceptors, context),
      pods,
      fleet?.demand,
      fleet?.fleetSession,
      fleet?.upcomingNodes,
    ];
    return inOrder.filter((role) => role !== undefined);
  };
