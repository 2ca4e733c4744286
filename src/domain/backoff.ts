/** Exponential backoff with full jitter: the delays between failed attempts. */
import { type Seed, unitInterval } from './random.ts';

/** The bounds of a backoff. */
export interface BackoffLimits {
  readonly firstMs: number;
  readonly lastMs: number;
}

/** The minimum delay as a fraction of the first step, so that jitter cannot cause a hot loop. */
const FLOOR_OF_FIRST_STEP = 0.25;

/**
 * The delay in milliseconds before attempt `attempt` (1 for the first retry): drawn uniformly below
 * the exponential step, so that a thousand clients that failed together spread their retries.
 */
export const backoffMs = (limits: BackoffLimits, attempt: number, seed: Seed): number => {
  const exponent = Math.min(Math.max(attempt, 1) - 1, 30);
  const stepMs = Math.min(limits.lastMs, limits.firstMs * 2 ** exponent);
  const floorMs = limits.firstMs * FLOOR_OF_FIRST_STEP;
  return Math.round(floorMs + (stepMs - floorMs) * unitInterval(seed));
};

/** A pod that needs no slot by the cache, and whose budget refuses: the cache is behind. */
const RECHECK = { firstMs: 1000, lastMs: 10_000 };
const RECHECK_DOUBLINGS_MAX = 4;

/** The delay before the eviction of this number, when the pod does not change before. */
export const recheckMs = (attempt: number): number => {
  const doublings = Math.min(Math.max(attempt, 1) - 1, RECHECK_DOUBLINGS_MAX);
  return Math.min(RECHECK.lastMs, RECHECK.firstMs * 2 ** doublings);
};

/** A refusal repeats until a person changes something. */
const REFUSAL = { firstMs: 10_000, lastMs: 300_000 };
const REFUSAL_DOUBLINGS_MAX = 10;

/** The delay after the refusal of this number, without jitter. */
export const refusalBackoffMs = (attempt: number): number => {
  const doublings = Math.min(Math.max(attempt, 1) - 1, REFUSAL_DOUBLINGS_MAX);
  return Math.min(REFUSAL.lastMs, REFUSAL.firstMs * 2 ** doublings);
};
