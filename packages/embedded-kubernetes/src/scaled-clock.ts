/**
 * A clock with an adjustable rate and jumps: a day of a cluster in a minute.
 *
 * Promises: timers fire in the order of their due times, also across a jump; at rate 0 no timer
 * fires unless the clock is advanced. Durations and the wall clock move together.
 */
import type { Time } from './values/time.ts';

/** A `Time` whose rate can be set. */
export interface ScaledClock extends Time {
  /** Simulated seconds per real second. */
  readonly rate: () => number;
  readonly setRate: (rate: number) => void;
  /** Advances the clock by `ms`. */
  readonly jump: (ms: number) => void;
}

interface Timer {
  readonly dueMs: number;
  readonly order: number;
  readonly run: () => void;
}

const byDue = (left: Timer, right: Timer): number =>
  left.dueMs - right.dueMs || left.order - right.order;

/** Time on top of `base`, at `rate`. */
export const scaledClock = (base: Time, startRate = 1): ScaledClock => {
  const wallMs = base.now();
  const armed = new Map<Timer, () => void>();
  let rate = startRate;
  let anchorMs = 0;
  let anchorBaseMs = base.monotonic();
  let made = 0;

  const elapsedMs = (): number => anchorMs + (base.monotonic() - anchorBaseMs) * rate;
  const arm = (timer: Timer): void => {
    const leftMs = Math.max(0, timer.dueMs - elapsedMs());
    if (rate === 0 && leftMs > 0) {
      armed.set(timer, () => {});
      return;
    }
    const delayMs = leftMs === 0 ? 0 : leftMs / rate;
    armed.set(
      timer,
      base.schedule(delayMs, () => {
        armed.delete(timer);
        timer.run();
      }),
    );
  };
  /** Restarts the base timers after a change of rate. */
  const anchor = (ms: number, newRate: number): void => {
    anchorMs = ms;
    anchorBaseMs = base.monotonic();
    rate = newRate;
    const timers = [...armed.keys()].sort(byDue);
    for (const cancel of armed.values()) cancel();
    armed.clear();
    for (const timer of timers) arm(timer);
  };

  return {
    now: () => Math.round(wallMs + elapsedMs()),
    monotonic: elapsedMs,
    schedule: (delayMs, run) => {
      const timer = { dueMs: elapsedMs() + Math.max(0, delayMs), order: made += 1, run };
      arm(timer);
      return () => {
        armed.get(timer)?.();
        armed.delete(timer);
      };
    },
    rate: () => rate,
    setRate: (newRate) => anchor(elapsedMs(), newRate),
    jump: (ms) => anchor(elapsedMs() + ms, rate),
  };
};
