/** The real `Time`: the only code that reads the machine's clocks and sets timers. */
import { uptime } from 'node:os';
import type { Time } from '../domain/time.ts';
import type { MachineClocks } from './write-gate.ts';

/** Node and Deno fire a longer timer at once; longer waits use several timers. */
const LONGEST_TIMER_MS = 24 * 60 * 60 * 1000;

/** Wall clock, monotonic clock and timers of this process. */
export const realTime: Time = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule: (delayMs, run) => {
    let timer: ReturnType<typeof setTimeout>;
    const arm = (remainingMs: number): void => {
      const stepMs = Math.min(Math.max(0, remainingMs), LONGEST_TIMER_MS);
      const left = remainingMs - stepMs;
      timer = setTimeout(() => (left > 0 ? arm(left) : run()), stepMs);
    };
    arm(delayMs);
    return () => clearTimeout(timer);
  },
};

/** Other clocks of this machine: its uptime goes on while it is suspended. */
export const machineClocks: MachineClocks = {
  wallClock: realTime.now,
  suspendedMs: () => uptime() * 1000 - realTime.monotonic(),
};
