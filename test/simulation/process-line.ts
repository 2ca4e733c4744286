/**
 * The lifeline of one simulated process: its time, and whether outside events reach it.
 *
 * Promises: a killed process does nothing more, even if it is still in memory; a frozen one does
 * nothing until it is thawed, and then receives everything in order. The clocks of a frozen process
 * keep running; the monotonic clock and the timers of a suspended machine stand still. The wall
 * clock of the machine may be wrong, and steps.
 */
import type { Time } from '../../src/domain/time.ts';

/** The lifeline. */
export interface ProcessLine {
  readonly time: Time;
  /** Runs `act` in the process: now, when it thaws, or never. */
  readonly reach: (act: () => void) => void;
  readonly alive: () => boolean;
  readonly frozen: () => boolean;
  readonly kill: () => void;
  readonly freeze: () => void;
  /** Freezes the process with its machine. */
  readonly suspend: () => void;
  /** For how long its machine has stood still, in all. */
  readonly suspendedMs: () => number;
  /** Moves the wall clock of its machine. */
  readonly jumpWallClock: (ms: number) => void;
  readonly thaw: () => void;
}

/** The clocks of one machine, and how long they stood still. */
const machineClocks = (world: Time, skewMs: number) => {
  let wallOffsetMs = skewMs;
  let lostMs = 0;
  let suspendedAtMs: number | undefined;
  return {
    now: (): number => world.now() + wallOffsetMs,
    monotonic: (): number => (suspendedAtMs ?? world.monotonic()) - lostMs,
    lostMs: (): number => lostMs,
    jumpWallClock: (ms: number): void => {
      wallOffsetMs += ms;
    },
    suspend: (): void => {
      suspendedAtMs ??= world.monotonic();
    },
    resume: (): void => {
      if (suspendedAtMs !== undefined) lostMs += world.monotonic() - suspendedAtMs;
      suspendedAtMs = undefined;
    },
  };
};

/** A process on the time of the world, whose machine has a wall clock that is off by `skewMs`. */
export const processLine = (world: Time, skewMs = 0): ProcessLine => {
  const clocks = machineClocks(world, skewMs);
  let alive = true;
  let held: (() => void)[] | undefined;
  const reach = (act: () => void): void => {
    if (!alive) return;
    if (held === undefined) act();
    else held.push(act);
  };
  return {
    reach,
    alive: () => alive,
    frozen: () => held !== undefined,
    kill: () => {
      alive = false;
      held = undefined;
    },
    freeze: () => {
      held ??= [];
    },
    suspend: () => {
      clocks.suspend();
      held ??= [];
    },
    suspendedMs: clocks.lostMs,
    jumpWallClock: clocks.jumpWallClock,
    thaw: () => {
      clocks.resume();
      const waiting = held ?? [];
      held = undefined;
      for (const act of waiting) reach(act);
    },
    time: {
      now: clocks.now,
      monotonic: clocks.monotonic,
      schedule: (delayMs, run) => {
        if (!alive) return () => {};
        let cancelled = false;
        let cancel = (): void => {};
        const arm = (waitMs: number): void => {
          const lostMs = clocks.lostMs();
          const dueMs = clocks.monotonic() + waitMs;
          cancel = world.schedule(waitMs, () =>
            reach(() => {
              if (cancelled) return;
              const stood = clocks.lostMs() > lostMs;
              const leftMs = dueMs - clocks.monotonic();
              if (stood && leftMs > 0) arm(leftMs);
              else run();
            }));
        };
        arm(delayMs);
        return () => {
          cancelled = true;
          cancel();
        };
      },
    },
  };
};
