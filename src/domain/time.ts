/**
 * The one notion of time. XState's clock, RxJS's scheduler and Effect's `Clock` are all built from
 * a `Time` (`src/effects/effect-clock.ts`), so a test that holds a simulated one holds every timer.
 */

/** A source of time. Real in `src/effects/real-time.ts`, simulated in tests. */
export interface Time {
  /** Wall-clock milliseconds since 1970; may jump. Written to the cluster, never subtracted. */
  readonly now: () => number;
  /** Monotonic milliseconds from an arbitrary start. For durations. */
  readonly monotonic: () => number;
  /** Calls `run` once, after `delayMs` (immediately when ≤ 0). Returns a cancel function. */
  readonly schedule: (delayMs: number, run: () => void) => () => void;
}

/** RFC 3339 with milliseconds. Kubernetes' `MicroTime` needs six digits: pad it there. */
export const rfc3339 = (epochMs: number): string => new Date(epochMs).toISOString();

/** RFC 3339 without a fraction, as Kubernetes prints `Time` fields. */
export const rfc3339Seconds = (epochMs: number): string =>
  rfc3339(Math.floor(epochMs / 1000) * 1000).replace('.000Z', 'Z');
