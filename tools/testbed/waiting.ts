/**
 * Bounded waiting for real processes: the only polling there is, and never used on our own state.
 */
import { realTime } from '../../src/effects/real-time.ts';

/** The timeout and interval of a wait, and the condition's name for messages. */
export interface Patience {
  readonly what: string;
  readonly timeoutMs?: number;
  readonly everyMs?: number;
  /** Returns why the condition can never hold, if known; then the wait ends. */
  readonly hopeless?: () => string | undefined;
}

const TIMEOUT_MS = 60_000;
const EVERY_MS = 100;

/** Resolves after `ms`. */
export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    realTime.schedule(ms, resolve);
  });

const described = (problem: unknown): string =>
  problem instanceof Error ? problem.message : String(problem);

/**
 * Polls `probe` until it returns something other than `undefined` or `false`, and returns that. A
 * probe that throws is retried; its last error is in the timeout's error.
 */
export const eventually = async <T>(
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  patience: Patience,
): Promise<T> => {
  const deadline = realTime.monotonic() + (patience.timeoutMs ?? TIMEOUT_MS);
  let last: string;
  for (;;) {
    try {
      const found = await probe();
      if (found !== undefined && found !== false) return found;
      last = 'not yet';
    } catch (problem) {
      last = described(problem);
    }
    const hopeless = patience.hopeless?.();
    if (hopeless !== undefined) throw new Error(`Cannot wait for ${patience.what}: ${hopeless}`);
    if (realTime.monotonic() > deadline) {
      throw new Error(
        `Waited ${patience.timeoutMs ?? TIMEOUT_MS} ms for ${patience.what}: ${last}`,
      );
    }
    await pause(patience.everyMs ?? EVERY_MS);
  }
};
