/**
 * Finds out from the shard's frames when a machine's stay in the cluster ends.
 *
 * Promises: a stay ends with IDLE, DELETING, a complete replay without the machine, and with
 * CONFIGURING or CONFIGURED after DRAINING, because the frames between were superseded or missed; a
 * replay with a gap, or of more machines than a cluster may have, ends none. Machines are kept
 * while they drain and while a replay is incomplete.
 */
import type { MachineState, ShardEvent } from '../frames.ts';
import { SHARD_LIMITS } from '../shard-limits.ts';

const MACHINES_MAX = SHARD_LIMITS.machines.max;

/** True for a machine whose stay has ended. */
export type HasLeft = (machine: string) => boolean;

const only = (left: string): HasLeft => (machine) => machine === left;

/** The machines of this cluster, as far as their stays are about to end. */
export class MachineLives {
  readonly #draining = new Set<string>();
  /** The machines of the replay so far; `undefined` after its end. */
  #replayed: Set<string> | undefined = new Set();

  /** Applies an event; `undefined` when no stay ends with it. */
  readonly observe = (event: ShardEvent): HasLeft | undefined => {
    switch (event._tag) {
      case 'MachineObserved':
        return this.#onFrame(event.machine.machineId, event.machine.state);
      case 'MachineMalformed':
        this.#mention(event.machineId);
        return undefined;
      case 'ReclaimInstructed':
        // The shard reclaims bound machines only.
        for (const machine of event.instruction.machines) this.#mention(machine);
        return undefined;
      case 'Resynced':
        return this.#onResynced();
      case 'StreamEnded':
        this.#replayed = new Set();
        return undefined;
      case 'StreamOpened':
      case 'CapacityObserved':
      case 'ReplayUnproven':
        return undefined;
    }
  };

  #mention(machine: string): void {
    if (this.#replayed === undefined) return;
    this.#replayed.add(machine);
    if (this.#replayed.size > MACHINES_MAX) this.#replayed = undefined;
  }

  #onFrame(machine: string, state: MachineState): HasLeft | undefined {
    this.#mention(machine);
    const wasDraining = this.#draining.has(machine);
    if (state === 'Draining' && this.#draining.size < MACHINES_MAX) this.#draining.add(machine);
    if (state !== 'Draining') this.#draining.delete(machine);
    const isNextLife = wasDraining && (state === 'Configuring' || state === 'Configured');
    return isNextLife || state === 'Idle' || state === 'Deleting' ? only(machine) : undefined;
  }

  #onResynced(): HasLeft | undefined {
    const replayed = this.#replayed;
    this.#replayed = undefined;
    if (replayed === undefined) return undefined;
    for (const machine of this.#draining) {
      if (!replayed.has(machine)) this.#draining.delete(machine);
    }
    return (machine) => !replayed.has(machine);
  }
}
