/** Exponential backoff with full jitter: the delays between attempts that failed. */
import { type Seed, unitInterval } from './random.ts';

/** Where a backoff starts and where it stops growing. */
export interface BackoffLimits {
  readonly firstMs: number;
  readonly lastMs: number;
}

/** No delay is shorter than this part of the first step: jitter may not become a hot loop. */
const FLOOR_OF_FIRST_STEP = 0.25;

/**
 * The delay in milliseconds before attempt `attempt` (1 for the first retry): drawn evenly below
 * the exponential step, so that a thousand clients that failed together come back apart.
 */
export const backoffMs = (limits: BackoffLimits, attempt: number, seed: Seed): number => {
  const exponent = Math.min(Math.max(attempt, 1) - 1, 30);
  const stepMs = Math.min(limits.lastMs, limits.firstMs * 2 ** exponent);
  const floorMs = limits.firstMs * FLOOR_OF_FIRST_STEP;
  return Math.round(floorMs + (stepMs - floorMs) * unitInterval(seed));
};
