/**
 * The stand-in fleet's notion of time: handed in, so that the same fleet runs on a real clock and
 * on a simulated one.
 */
import type { ActorOptions, AnyActorLogic } from 'xstate';

/** A source of time. */
export interface FleetTime {
  /** Wall-clock milliseconds since the epoch. */
  readonly now: () => number;
  /** Calls `run` once, `delayMs` from now. Returns a function that cancels it. */
  readonly schedule: (delayMs: number, run: () => void) => () => void;
}

/** What XState asks of a clock. */
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

/** How long the stand-in takes for what a real fleet takes its time for. All in milliseconds. */
export interface FleetTiming {
  /** From one allocation of machines to needs to the next. */
  readonly cycleMs: number;
  /** From a `Hello` to its ack; live frames may come before it. */
  readonly helloMs: number;
  /** From a roll-up's arrival to its acceptance; a newer one that comes meanwhile supersedes it. */
  readonly rollupMs: number;
  /** How long a bootstrap pull waits. */
  readonly bootstrapMs: number;
  /** After a failed or unanswered pull, the pause before its need gets another machine. */
  readonly bootstrapPauseMs: number;
  /** From bought to there. */
  readonly creationMs: number;
  /** Time from a bootstrap answer to a running node. */
  readonly joiningMs: number;
  /** Time of the provider's own drain; at most the grace. */
  readonly drainingMs: number;
  /** From given back to gone. */
  readonly deletionMs: number;
}

/** Fast enough to watch, slow enough to see. */
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
