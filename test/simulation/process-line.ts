/**
 * The lifeline of one simulated process: its time, and whether outside events reach it.
 *
 * Promises: a killed process does nothing more, even if it is still in memory; a frozen one does
 * nothing until it is thawed, and then receives everything in order. The clocks keep running, as
 * for a suspended real process.
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
  readonly thaw: () => void;
}

/** A process on the time of the world. */
export const processLine = (world: Time): ProcessLine => {
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
    thaw: () => {
      const waiting = held ?? [];
      held = undefined;
      for (const act of waiting) reach(act);
    },
    time: {
      now: world.now,
      monotonic: world.monotonic,
      schedule: (delayMs, run) => {
        if (!alive) return () => {};
        let cancelled = false;
        const cancel = world.schedule(delayMs, () =>
          reach(() => {
            if (!cancelled) run();
          }));
        return () => {
          cancelled = true;
          cancel();
        };
      },
    },
  };
};
