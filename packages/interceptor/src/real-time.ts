/** The clock, the timers and the chance of a process. */
import type { Time } from './time.ts';

/** The real clock. */
export const realTime: Time = {
  now: () => Date.now(),
  schedule: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};

/** A seed for the jitter of this process. */
export const processSeed = (): number => Math.floor(Math.random() * 2 ** 32);
