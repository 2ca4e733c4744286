/**
 * The grace of a drain (DR-16): how it is read, when its last quarter begins, how long a tier waits
 * for earlier ones, and how long timers are split.
 */

/** The grace when none is given. */
const GRACE_SECONDS_DEFAULT = 30;
const GRACE_SECONDS_MAX = 7 * 24 * 3600;
/** A timer above 2^31 ms fires immediately on Node and Deno. */
const TIMER_STEP_MS = 24 * 3600 * 1000;
const TIER_WAIT_MS_MAX = 30_000;
const QUARTER = 0.25;

/** The grace of an instruction; `clamped` when it was cut to the maximum. */
export interface Grace {
  readonly seconds: number;
  readonly clamped: boolean;
}

/** Interprets an instruction's `grace_period_seconds`. */
export const graceOf = (seconds: number | undefined): Grace => {
  if (seconds === undefined || !(seconds > 0)) {
    return { seconds: GRACE_SECONDS_DEFAULT, clamped: false };
  }
  return seconds > GRACE_SECONDS_MAX
    ? { seconds: GRACE_SECONDS_MAX, clamped: true }
    : { seconds, clamped: false };
};

/** A refused eviction is tried again this long before the deadline, whatever its backoff. */
const LAST_TRIES_MS = [30_000, 5000];

/** Until the next of the last tries before a deadline `leftMs` away; `Infinity` after them. */
export const untilLastTryMs = (leftMs: number): number =>
  Math.min(...LAST_TRIES_MS.filter((tryMs) => tryMs < leftMs).map((tryMs) => leftMs - tryMs));

/** The next timer for a moment `leftMs` away; a longer wait arms several in turn. */
export const timerStepMs = (leftMs: number): number => Math.max(0, Math.min(leftMs, TIMER_STEP_MS));

/** When the last quarter of a grace begins, on the clock of `deadlineMs`. */
export const lastQuarterMs = (deadlineMs: number, graceSeconds: number): number =>
  deadlineMs - graceSeconds * 1000 * QUARTER;

/** How long a tier waits for earlier tiers: `--tier-wait`, or derived from the grace. */
export const tierWaitMs = (graceSeconds: number, configuredMs?: number): number =>
  configuredMs ?? Math.min(TIER_WAIT_MS_MAX, graceSeconds * 1000 * QUARTER);
