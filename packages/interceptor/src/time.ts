/** The clock and the chance that everything timed takes, so that a test controls both. */
import type { ActorOptions, AnyActorLogic } from 'xstate';

/** A source of time. */
export interface Time {
  /** Wall-clock milliseconds since 1970; may jump. Written to the cluster. */
  readonly now: () => number;
  /** Calls `run` once after `delayMs`. Returns a function that cancels it. */
  readonly schedule: (delayMs: number, run: () => void) => () => void;
}

/** RFC 3339 as Kubernetes prints it: without a fraction when there is none. */
export const rfc3339 = (epochMs: number): string =>
  new Date(epochMs).toISOString().replace('.000Z', 'Z');

/** The clock of statecharts. */
export const statechartClock = (
  time: Time,
): NonNullable<ActorOptions<AnyActorLogic>['clock']> => ({
  setTimeout: (run: () => void, delayMs: number) => time.schedule(delayMs, run),
  clearTimeout: (cancel: unknown) => {
    if (typeof cancel === 'function') cancel();
  },
});
