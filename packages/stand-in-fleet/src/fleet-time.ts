/** The stand-in fleet's injected clock, real or simulated. */
import type { ActorOptions, AnyActorLogic } from 'xstate';

/** A clock. */
export interface FleetTime {
  /** Wall-clock milliseconds since the epoch. */
  readonly now: () => number;
  /** Calls `run` once, `delayMs` from now. Returns a function that cancels it. */
  readonly schedule: (delayMs: number, run: () => void) => () => void;
}

/** The clock interface that XState requires. */
type StatechartClock = NonNullable<ActorOptions<AnyActorLogic>['clock']>;

/** The clock of the machines' statecharts. */
export const machineClock = (time: FleetTime): StatechartClock => ({
  setTimeout: (run: () => void, delayMs: number) => time.schedule(delayMs, run),
  clearTimeout: (cancel: unknown) => {
    if (typeof cancel === 'function') cancel();
  },
});

const NANOS_PER_MS = 1_000_000n;

/** Wall-clock milliseconds as the wire's nanoseconds. */
export const unixNanos = (epochMs: number): bigint => BigInt(Math.round(epochMs)) * NANOS_PER_MS;

/** Simulated durations of a real fleet's operations, in milliseconds. */
export interface FleetTiming {
  /** Interval of allocation passes. */
  readonly cycleMs: number;
  /** From a `Hello` to its ack; live frames may precede it. */
  readonly helloMs: number;
  /** From a roll-up's arrival to its acceptance; a newer roll-up supersedes it meanwhile. */
  readonly rollupMs: number;
  /** Time limit of a bootstrap pull. */
  readonly bootstrapMs: number;
  /** After a failed or timed-out pull, the pause before its need gets another machine. */
  readonly bootstrapPauseMs: number;
  /** From purchase to availability. */
  readonly creationMs: number;
  /** From a bootstrap response to a running node. */
  readonly joiningMs: number;
  /** Duration of the provider's own drain; at most the grace. */
  readonly drainingMs: number;
  /** From release to deletion. */
  readonly deletionMs: number;
}

/** Short enough to demonstrate, long enough to observe. */
export const DEFAULT_TIMING: FleetTiming = {
  cycleMs: 1000,
  helloMs: 0,
  rollupMs: 20,
  bootstrapMs: 30_000,
  bootstrapPauseMs: 5000,
  creationMs: 2000,
  joiningMs: 500,
  drainingMs: 2000,
  deletionMs: 1000,
};
