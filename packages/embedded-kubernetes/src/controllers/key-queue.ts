/**
 * A controller's queue: keys that are to be looked at, each once however often it is asked for.
 *
 * Promises: a key that is asked for again while it waits keeps its place; work runs one key at a
 * time, in order of due time; nothing runs after `stop`.
 */
import type { Time } from '../values/time.ts';

/** Keys that wait. */
export interface KeyQueue {
  /** Looks at `key` in `delayMs`, or earlier when it waits already. */
  readonly schedule: (key: string, delayMs: number) => void;
  readonly stop: () => void;
}

interface Waiting {
  readonly dueMs: number;
  readonly cancel: () => void;
}

/** A queue that hands due keys to `work`. */
export const keyQueue = (time: Time, work: (key: string) => void): KeyQueue => {
  const waiting = new Map<string, Waiting>();
  return {
    schedule: (key, delayMs) => {
      const dueMs = time.monotonic() + delayMs;
      const known = waiting.get(key);
      if (known !== undefined && known.dueMs <= dueMs) return;
      known?.cancel();
      const cancel = time.schedule(delayMs, () => {
        waiting.delete(key);
        work(key);
      });
      waiting.set(key, { dueMs, cancel });
    },
    stop: () => {
      for (const { cancel } of waiting.values()) cancel();
      waiting.clear();
    },
  };
};
