/**
 * A clock that advances only on demand, for tests and simulation.
 *
 * Timers fire in order of their due time and, at the same instant, in creation order. `advance`
 * lets promises settle between instants, so that fibers resumed by one timer have run before the
 * next one fires.
 */
import type { Time } from './time.ts';
import { type Timer, timerHeap } from './timer-heap.ts';

/** A `Time` that the test advances. */
export interface SimulatedTime extends Time {
  /** Advances time by `ms`, fires due timers and lets the event loop settle. */
  readonly advance: (ms: number) => Promise<void>;
  /** Fires the next timer, whenever it is due; false when there is none. */
  readonly advanceToNext: () => Promise<boolean>;
  /** Lets pending promises settle without moving time. */
  readonly settle: () => Promise<void>;
  /** Moves only the wall clock, as NTP would. */
  readonly jumpWallClock: (ms: number) => void;
  /** How many timers are armed. */
  readonly pending: () => number;
}

/** Event-loop rounds per settle; a fiber needs a few to resolve its own promises. */
const IDLE_LOOPS = 6;

/** `setImmediate`, like Effect's scheduler: message ports would overtake its fibers on Deno. */
const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** A simulated `Time` that starts at `startMs` of the wall clock. */
export const simulatedTime = (startMs = Date.UTC(2026, 0, 1)): SimulatedTime => {
  let elapsedMs = 0;
  let wallOffsetMs = startMs;
  let made = 0;
  const timers = timerHeap();

  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < IDLE_LOOPS; turn += 1) await nextTurn();
  };

  const fire = async (timer: Timer): Promise<void> => {
    timers.disarm(timer);
    elapsedMs = Math.max(elapsedMs, timer.dueMs);
    timer.run();
    await settle();
  };

  return {
    now: () => wallOffsetMs + elapsedMs,
    monotonic: () => elapsedMs,
    schedule: (delayMs, run) => {
      const dueMs = elapsedMs + Math.max(0, delayMs);
      const timer: Timer = { dueMs, order: made++, run, armed: true };
      timers.add(timer);
      return () => timers.disarm(timer);
    },
    advance: async (ms) => {
      const untilMs = elapsedMs + ms;
      await settle();
      for (
        let next = timers.first();
        next !== undefined && next.dueMs <= untilMs;
        next = timers.first()
      ) {
        await fire(next);
      }
      elapsedMs = untilMs;
      await settle();
    },
    advanceToNext: async () => {
      await settle();
      const next = timers.first();
      if (next === undefined) return false;
      await fire(next);
      return true;
    },
    settle,
    jumpWallClock: (ms) => {
      wallOffsetMs += ms;
    },
    pending: timers.size,
  };
};
