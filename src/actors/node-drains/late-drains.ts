/**
 * The drains that have used three quarters of their grace and have not ended: what is left on their
 * nodes is lost with the machines, unless a person acts.
 */
import type { SnapshotFrom } from 'xstate';
import type { Telemetry } from '../../api/telemetry.ts';
import type { nodeDrain } from '../../machines/node-drain.ts';

const isLate = (snapshot: SnapshotFrom<typeof nodeDrain>): boolean =>
  snapshot.matches({ work: 'underway' }) &&
  (snapshot.matches({ clock: 'lastQuarter' }) || snapshot.matches({ clock: 'over' }));

/** Counts them by the keys of the drains. */
export class LateDrains {
  readonly #telemetry: Pick<Telemetry, 'gauge'>;
  readonly #late = new Set<string>();

  constructor(telemetry: Pick<Telemetry, 'gauge'>) {
    this.#telemetry = telemetry;
  }

  readonly observe = (drain: string, snapshot: SnapshotFrom<typeof nodeDrain>): void =>
    this.#set(drain, isLate(snapshot));

  /** The drain is over, or this process does not lead any more. */
  readonly forget = (drain: string): void => this.#set(drain, false);

  #set(drain: string, late: boolean): void {
    if (this.#late.has(drain) === late) return;
    if (late) this.#late.add(drain);
    else this.#late.delete(drain);
    this.#telemetry.gauge('tidegate_drains_in_last_quarter', this.#late.size);
  }
}
