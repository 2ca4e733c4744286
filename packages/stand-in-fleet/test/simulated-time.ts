/**
 * Time that moves only when a test moves it. Timers fire in the order of their due time; promises
 * settle before the next one fires.
 */
import type { FleetTime } from '../src/fleet-time.ts';

interface Timer {
  readonly dueMs: number;
  readonly run: () => void;
}

/** Rounds of the event loop after which nothing is pending. */
const SETTLED_ROUNDS = 6;

/** A fleet's time with its crank. */
export interface SimulatedTime extends FleetTime {
  /** Moves time forward by `ms`, firing what becomes due. */
  readonly advance: (ms: number) => Promise<void>;
  /** Lets pending promises settle without moving time. */
  readonly settle: () => Promise<void>;
}

/** Time that starts at the first moment of 2026. */
export const simulatedTime = (): SimulatedTime => {
  let nowMs = Date.UTC(2026, 0, 1);
  const timers = new Set<Timer>();
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < SETTLED_ROUNDS; turn += 1) {
      await new Promise((resolve) => void setImmediate(resolve));
    }
  };
  /** The first timer among those due earliest. */
  const nextUntil = (untilMs: number): Timer | undefined => {
    let next: Timer | undefined;
    for (const timer of timers) {
      if (timer.dueMs <= untilMs && (next === undefined || timer.dueMs < next.dueMs)) next = timer;
    }
    return next;
  };
  return {
    now: () => nowMs,
    schedule: (delayMs, run) => {
      const timer: Timer = { dueMs: nowMs + Math.max(0, delayMs), run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    advance: async (ms) => {
      const untilMs = nowMs + ms;
      await settle();
      for (let timer = nextUntil(untilMs); timer !== undefined; timer = nextUntil(untilMs)) {
        timers.delete(timer);
        nowMs = Math.max(nowMs, timer.dueMs);
        timer.run();
        await settle();
      }
      nowMs = untilMs;
      await settle();
    },
    settle,
  };
};
