/**
 * Pods that are gone and whose requests are left to the garbage collector, each for its time.
 *
 * Promises: one timer, however many there are; who comes back or is forgotten is not told.
 */
import type { Uid } from '../../domain/ids.ts';
import type { Time } from '../../domain/time.ts';

/**
 * How long the garbage collector may take for the requests of pods that are gone. It is behind by
 * minutes at worst, and what it takes need not be written by us.
 */
export const COLLECTION_GRACE_MS = 120_000;

/** Those who are gone. */
export interface Departures {
  readonly note: (uid: Uid) => void;
  readonly forget: (uid: Uid) => void;
  readonly stop: () => void;
}

/** Nobody is gone at first. `overdue` hears of each whose time is over. */
export const departures = (
  time: Pick<Time, 'monotonic' | 'schedule'>,
  overdue: (uid: Uid) => void,
): Departures => {
  /** In the order of their going. */
  const since = new Map<Uid, number>();
  let cancel: (() => void) | undefined;
  const wait = (): void => {
    const first = since.values().next().value;
    if (first === undefined) {
      cancel = undefined;
      return;
    }
    cancel = time.schedule(Math.max(0, first + COLLECTION_GRACE_MS - time.monotonic()), tell);
  };
  const tell = (): void => {
    const nowMs = time.monotonic();
    for (const [uid, goneMs] of since) {
      if (goneMs + COLLECTION_GRACE_MS > nowMs) break;
      since.delete(uid);
      overdue(uid);
    }
    wait();
  };
  return {
    note: (uid) => {
      if (since.has(uid)) return;
      since.set(uid, time.monotonic());
      if (cancel === undefined) wait();
    },
    forget: (uid) => {
      since.delete(uid);
    },
    stop: () => cancel?.(),
  };
};
