/**
 * A controller's work queue with deduplicated keys.
 *
 * Promises: adding a queued key again keeps its place; work runs one key at a time in order of due
 * time; nothing runs after `stop`.
 */
import type { Time } from '../values/time.ts';

/** The queue. */
export interface KeyQueue {
  /** Queues `key` for `delayMs` from now; an earlier due time wins. */
  readonly schedule: (key: string, delayMs: number) => void;
  readonly stop: () => void;
}

interface Waiting {
  readonly dueMs: number;
  readonly cancel: () => void;
}

/** A queue that passes due keys to `work`. */
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
