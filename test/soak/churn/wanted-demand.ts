/**
 * What the churn wants, as it wrote it: the lower bound of every roll-up, and the demand at rest.
 *
 * Promises: independent of the operator's code and caches; an amount is wanted from the answer to
 * its creation to the moment before its deletion is sent; time without an API server, in which
 * nobody can learn of it, does not count as time that it has been wanted.
 */

/** Cores that are wanted under one name. */
export interface Wanted {
  readonly name: string;
  readonly kind: 'pod' | 'request';
  readonly priority: number;
  readonly cores: number;
}

interface Entry extends Wanted {
  readonly sinceMs: number;
  untilMs: number | null;
}

interface Outage {
  readonly sinceMs: number;
  untilMs: number | null;
}

/** For how long something is wanted before each roll-up must cover it (WIRE-05). */
const COVERED_AFTER_MS = 60_000;

/** The sum of cores for each priority. */
export const coresByPriority = (
  wanted: Iterable<Pick<Wanted, 'priority' | 'cores'>>,
): ReadonlyMap<number, number> => {
  const sums = new Map<number, number>();
  for (const { priority, cores } of wanted) {
    sums.set(priority, (sums.get(priority) ?? 0) + cores);
  }
  return sums;
};

/** Everything that was ever wanted. */
export class WantedDemand {
  readonly #entries = new Map<string, Entry>();
  readonly #outages: Outage[] = [];

  readonly add = (wanted: Wanted, nowMs: number): void => {
    this.#entries.set(wanted.name, { ...wanted, sinceMs: nowMs, untilMs: null });
  };

  /** To be called before the deletion is sent. */
  readonly remove = (name: string, nowMs: number): void => {
    const entry = this.#entries.get(name);
    if (entry !== undefined) entry.untilMs = nowMs;
  };

  readonly outageBegan = (nowMs: number): void => {
    this.#outages.push({ sinceMs: nowMs, untilMs: null });
  };

  readonly outageEnded = (nowMs: number): void => {
    const last = this.#outages.at(-1);
    if (last !== undefined) last.untilMs = nowMs;
  };

  /** What is wanted now. */
  readonly current = (): readonly Wanted[] =>
    [...this.#entries.values()].filter(({ untilMs }) => untilMs === null);

  /** What a roll-up that was received at `atMs` must cover. */
  readonly boundAt = (atMs: number): ReadonlyMap<number, number> =>
    coresByPriority(
      [...this.#entries.values()].filter(({ sinceMs, untilMs }) =>
        (untilMs === null || untilMs > atMs) && this.#knownMs(sinceMs, atMs) >= COVERED_AFTER_MS
      ),
    );

  /** The time between two moments in which the API server answered. */
  #knownMs(sinceMs: number, atMs: number): number {
    const away = this.#outages.reduce((sum, { sinceMs: from, untilMs }) => {
      const overlap = Math.min(atMs, untilMs ?? atMs) - Math.max(sinceMs, from);
      return sum + Math.max(0, overlap);
    }, 0);
    return atMs - sinceMs - away;
  }
}
