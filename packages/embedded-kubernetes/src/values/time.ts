/**
 * The clock abstraction: all timed code takes a `Time`, so a test with a simulated one
 * (`simulated-time.ts`) controls every timer.
 */

/** A source of time. */
export interface Time {
  /** Wall-clock milliseconds since 1970; may jump. Written to the cluster, never subtracted. */
  readonly now: () => number;
  /** Monotonic milliseconds from an arbitrary start. For durations. */
  readonly monotonic: () => number;
  /** Calls `run` once, after `delayMs` (at once when ≤ 0). Returns a function that cancels it. */
  readonly schedule: (delayMs: number, run: () => void) => () => void;
}

/** RFC 3339 with milliseconds. Kubernetes' `MicroTime` needs six digits: the caller pads it. */
export const rfc3339 = (epochMs: number): string => new Date(epochMs).toISOString();

/** RFC 3339 without a fraction, as Kubernetes `Time` fields are printed. */
export const rfc3339Seconds = (epochMs: number): string =>
  rfc3339(Math.floor(epochMs / 1000) * 1000).replace('.000Z', 'Z');
