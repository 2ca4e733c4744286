/**
 * All operations of the operator on the cluster, over any transport.
 *
 * Promises: one write gate and one write budget for all of them, on one time; the live process and
 * the simulation use the same services.
 */
import { Layer } from 'effect';
import type { Telemetry } from '../api/telemetry.ts';
import type { Seed } from '../domain/random.ts';
import type { Intern } from '../domain/text-pool.ts';
import type { Time } from '../domain/time.ts';
import { type AvailableCapacities, availableCapacitiesLayer } from './available-capacities.ts';
import { type CapacityRequests, capacityRequestsLayer } from './capacity-requests.ts';
import { type Cordons, cordonsLayer } from './cordons.ts';
import { type EvictionRequests, evictionRequestsLayer } from './eviction-requests.ts';
import { type Events, eventsLayer } from './events.ts';
import { type NodeAvailabilityApi, nodeAvailabilityLayer } from './node-availability.ts';
import { type NodeMaintenances, nodeMaintenancesLayer } from './node-maintenance.ts';
import { type PodEvictionApi, podEvictionApiLayer } from './pod-eviction-api.ts';
import { type ServingGates, servingGatesLayer } from './serving-gates.ts';
import type { KubeApi } from './kube-api.ts';
import { type PodRequests, podRequestsLayer } from './pod-requests.ts';
import { type UpcomingNodes, upcomingNodesLayer } from './upcoming-nodes.ts';
import { writeBudget } from './write-budget.ts';
import { type MachineClocks, type WriteGate, writeGate } from './write-gate.ts';
import type { Writes } from './writes.ts';
import { clockLayer } from './effect-clock.ts';
import { randomLayer } from './effect-random.ts';

/** The cluster operations of roles. */
export type ClusterServices =
  | KubeApi
  | WriteGate
  | CapacityRequests
  | UpcomingNodes
  | Cordons
  | AvailableCapacities
  | Events
  | PodEvictionApi
  | ServingGates
  | EvictionRequests
  | NodeMaintenances
  | NodeAvailabilityApi
  | Writes
  | PodRequests;

/** The inputs of the services. */
export interface OperatorServicesOptions {
  readonly time: Time;
  /** Of all jitter. */
  readonly seed: Seed;
  /** Of this machine. */
  readonly clocks: MachineClocks;
  readonly telemetry: Telemetry;
  /** The pool that caches share as well. */
  readonly intern: Intern;
  /** `--qps` and `--burst`. */
  readonly qps: number;
  readonly burst: number;
}

/** The services of one process, over `api`. */
export const operatorServices = <Problem>(
  { time, seed, clocks, telemetry, intern, qps, burst }: OperatorServicesOptions,
  api: Layer.Layer<KubeApi, Problem>,
) => {
  const cluster = Layer.merge(api, writeGate(time, clocks));
  const writes = Layer.provideMerge(writeBudget({ qps, burst, telemetry }), cluster);
  const objects = Layer.mergeAll(
    capacityRequestsLayer,
    upcomingNodesLayer({ telemetry, intern }),
    availableCapacitiesLayer({ telemetry }),
    eventsLayer,
    cordonsLayer(telemetry),
    podEvictionApiLayer(telemetry),
    servingGatesLayer,
    podRequestsLayer({ telemetry, intern }),
    evictionRequestsLayer,
    nodeMaintenancesLayer,
    nodeAvailabilityLayer,
  );
  const base = Layer.merge(clockLayer(time), randomLayer(seed));
  return Layer.provideMerge(objects, writes).pipe(Layer.provideMerge(base));
};
