/** Waits between attempts: they double, have jitter, and honor what the server asks for. */

/** A 32-bit seed in the context of a statechart. */
export type Seed = number;

/** The seed after this one (a step of splitmix32). */
export const nextSeed = (seed: Seed): Seed => (seed + 0x9e3779b9) >>> 0;

/** A number in [0, 1) derived from `seed`. */
const unitInterval = (seed: Seed): number => {
  let z = seed >>> 0;
  z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
  z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
  return ((z ^ (z >>> 15)) >>> 0) / 0x1_0000_0000;
};

const BASE_MS = 1000;
const MOST_MS = 60_000;
const DOUBLINGS_MAX = 10;

/** The attempts that failed in a row. */
export interface Attempts {
  readonly failures: number;
  readonly retryAfterMs: number;
  readonly seed: Seed;
}

/** No attempt has failed. */
export const noFailures = (seed: Seed): Attempts => ({ failures: 0, retryAfterMs: 0, seed });

/** One more attempt has failed; the server may ask for a wait. */
export const failedOnce = ({ failures, seed }: Attempts, retryAfterMs = 0): Attempts => ({
  failures: failures + 1,
  retryAfterMs,
  seed: nextSeed(seed),
});

/** Milliseconds until the next attempt: half of the wait is fixed, half is jitter. */
export const backoffMs = ({ failures, retryAfterMs, seed }: Attempts): number => {
  const whole = Math.min(
    MOST_MS,
    BASE_MS * 2 ** Math.min(DOUBLINGS_MAX, Math.max(0, failures - 1)),
  );
  return Math.max(retryAfterMs, Math.round(whole * (0.5 + unitInterval(seed) / 2)));
};
