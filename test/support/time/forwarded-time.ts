/** Real time that a test puts forward instead of waiting. */
import type { Time } from '../../../src/domain/time.ts';
import { realTime } from '../../../src/effects/real-time.ts';

/** A clock that goes on by itself, and at once by as much as a test wants. */
export interface ForwardedTime extends Time {
  /** Both clocks go forward by so many milliseconds; the timers that are due then run. */
  readonly forward: (ms: number) => void;
}

interface Timer {
  readonly dueMs: number;
  readonly run: () => void;
  cancel: () => void;
}

/** Starts at the real time. */
export const forwardedTime = (): ForwardedTime => {
  const timers = new Set<Timer>();
  let aheadMs = 0;
  const monotonic = (): number => realTime.monotonic() + aheadMs;
  const arm = (timer: Timer): void => {
    timer.cancel = realTime.schedule(Math.max(0, timer.dueMs - monotonic()), () => {
      timers.delete(timer);
      timer.run();
    });
  };
  return {
    now: () => realTime.now() + aheadMs,
    monotonic,
    schedule: (delayMs, run) => {
      const timer: Timer = { dueMs: monotonic() + delayMs, run, cancel: () => {} };
      timers.add(timer);
      arm(timer);
      return () => {
        timers.delete(timer);
        timer.cancel();
      };
    },
    forward: (ms) => {
      aheadMs += ms;
      for (const timer of [...timers].sort((left, right) => left.dueMs - right.dueMs)) {
        timer.cancel();
        arm(timer);
      }
    },
  };
};
