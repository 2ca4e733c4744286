/**
 * When each machine of the fleet was taken from the free ones, and whether it has drained since.
 *
 * Promises: a machine that comes back begins a new stay; times are those of the fleet's own clock,
 * as in its records of instructions.
 */
import type { Time } from '../../src/domain/time.ts';
import type { FleetMachine, MachineChanged } from '../../packages/stand-in-fleet/src/inventory.ts';

/** One stay of a machine in a cluster. */
export interface Stay {
  readonly sinceMs: number;
  /** The fleet has shown it as DRAINING. */
  readonly hasDrained: boolean;
}

const isFree = (machine: FleetMachine | undefined): boolean =>
  machine === undefined || machine.state === 'IDLE' || machine.state === 'SPECULATIVE';

/** Follows the machines of a fleet. */
export const fleetStays = (time: Pick<Time, 'now'>) => {
  const stays = new Map<string, Stay>();
  const observe: MachineChanged = (before, after) => {
    const id = after?.id ?? before?.id ?? '';
    if (after === undefined || isFree(after)) {
      stays.delete(id);
      return;
    }
    const known = isFree(before) ? undefined : stays.get(id);
    const { sinceMs, hasDrained } = known ?? { sinceMs: time.now(), hasDrained: false };
    stays.set(id, { sinceMs, hasDrained: hasDrained || after.state === 'DRAINING' });
  };
  return { observe, of: (id: string): Stay | undefined => stays.get(id) };
};
