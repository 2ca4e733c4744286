/**
 * The time that a drain has (DR-16): how a grace is read, when the last quarter begins, how long a
 * tier waits for the ones before it, and in which steps a timer is armed.
 */

/** A grace that is absent or no time at all. */
const GRACE_SECONDS_DEFAULT = 30;
const GRACE_SECONDS_MAX = 7 * 24 * 3600;
/** A timer above 2^31 ms fires at once on Node and Deno. */
export const TIMER_STEP_MS = 24 * 3600 * 1000;
const TIER_WAIT_MS_MAX = 30_000;
const QUARTER = 0.25;

/** The grace of an instruction; `clamped` when less was granted than was asked for. */
export interface Grace {
  readonly seconds: number;
  readonly clamped: boolean;
}

/** What an instruction's `grace_period_seconds` means. */
export const graceOf = (seconds: number | undefined): Grace => {
  if (seconds === undefined || !(seconds > 0)) {
    return { seconds: GRACE_SECONDS_DEFAULT, clamped: false };
  }
  return seconds > GRACE_SECONDS_MAX
    ? { seconds: GRACE_SECONDS_MAX, clamped: true }
    : { seconds, clamped: false };
};

/** How long to arm the timer for something that is `leftMs` away; the rest is armed anew. */
export const timerStepMs = (leftMs: number): number => Math.max(0, Math.min(leftMs, TIMER_STEP_MS));

/** When the last quarter of a grace begins, on the clock that `deadlineMs` is of. */
export const lastQuarterMs = (deadlineMs: number, graceSeconds: number): number =>
  deadlineMs - graceSeconds * 1000 * QUARTER;

/** How long a tier waits for the ones before it: `--tier-wait`, or by the grace. */
export const tierWaitMs = (graceSeconds: number, configuredMs?: number): number =>
  configuredMs ?? Math.min(TIER_WAIT_MS_MAX, graceSeconds * 1000 * QUARTER);
