/** A complete fleet without transport: the shard, its machines and the script actions. */
import { type BindingStore, noBindings } from './bindings.ts';
import { DEFAULT_TIMING, type FleetTime, type FleetTiming } from './fleet-time.ts';
import { machineKind, seedMachine } from './machine-kind.ts';
import { freshMachine, Script } from './script.ts';
import { type FleetLog, Shard, type ShardOptions } from './shard.ts';

/** The dependencies of a fleet. */
export interface FleetOptions {
  readonly time: FleetTime;
  /** Machines at its first start. */
  readonly seedMachines: number;
  /** Generates the ids of this run. */
  readonly seed: string;
  readonly timing?: Partial<FleetTiming>;
  readonly store?: BindingStore;
  readonly log?: FleetLog;
  /** Default true. */
  readonly guarded?: boolean;
  readonly observe?: ShardOptions['observe'];
}

/** Creates a fleet from its bindings and starts it. */
export const startFleet = (options: FleetOptions): Script => {
  const store = options.store ?? noBindings;
  const shard = new Shard({
    time: options.time,
    timing: { ...DEFAULT_TIMING, ...options.timing },
    log: options.log ?? (() => {}),
    store,
    seed: options.seed,
    guarded: options.guarded ?? true,
    observe: options.observe ?? (() => {}),
  });
  for (let number = 0; number < options.seedMachines; number += 1) {
    const { id, kind } = seedMachine(number);
    shard.inventory.restore(freshMachine(id, kind, 'IDLE'));
  }
  for (const { kind, removed, ...binding } of store.bindings) {
    if (removed) shard.inventory.remove(binding.id);
    else shard.inventory.restore({ ...binding, kind: machineKind(kind) });
  }
  shard.start();
  return new Script(shard);
};
