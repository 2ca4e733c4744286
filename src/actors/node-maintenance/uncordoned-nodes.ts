/**
 * Counts how often others make Nodes of a maintenance schedulable (NM-14).
 *
 * Promises: one Event for each Node and window, however often it happens in it.
 */
import type { ObservedMaintenance } from '../../domain/node-maintenance/observed-maintenance.ts';
import type { Time } from '../../domain/time.ts';

const WINDOW_MS = 300_000;
const TOO_OFTEN = 3;
/** Nodes that are counted; beyond, the oldest are forgotten. */
const NODES_MAX = 1000;

type Record = (maintenance: ObservedMaintenance, node: string, times: number) => void;

/** The counts of a process. */
export class UncordonedNodes {
  readonly #time: Pick<Time, 'monotonic'>;
  readonly #record: Record;
  readonly #windows = new Map<string, { readonly sinceMs: number; times: number }>();

  constructor(time: Pick<Time, 'monotonic'>, record: Record) {
    this.#time = time;
    this.#record = record;
  }

  /** A Node that was cordoned is schedulable. */
  readonly add = (maintenance: ObservedMaintenance, node: string): void => {
    const key = `${maintenance.uid} ${node}`;
    const nowMs = this.#time.monotonic();
    const known = this.#windows.get(key);
    const window = known !== undefined && nowMs - known.sinceMs < WINDOW_MS
      ? known
      : { sinceMs: nowMs, times: 0 };
    window.times += 1;
    this.#windows.delete(key);
    this.#windows.set(key, window);
    const [oldest] = this.#windows.keys();
    if (this.#windows.size > NODES_MAX && oldest !== undefined) this.#windows.delete(oldest);
    if (window.times === TOO_OFTEN) this.#record(maintenance, node, window.times);
  };
}
