/**
 * The gate that every write passes right before it is sent: open only while this process holds the
 * lease (DR-15: no request is sent after `renewDeadline`).
 *
 * Promises: closes by itself at its deadline, without any other code running; after a suspended
 * process resumes, the gate is closed, also when the monotonic clock of its machine stood still
 * meanwhile: then the wall clock has moved on. A wall clock that steps forward closes it as well,
 * until the next renewal; one that steps back changes nothing.
 */
import { Context, Layer } from 'effect';
import type { Time } from '../domain/time.ts';

/** Whether a write may be sent now. */
export type Permit =
  | { readonly _tag: 'Open' }
  | { readonly _tag: 'Closed'; readonly why: string };

const OPEN: Permit = { _tag: 'Open' };

/** The gate. Only `src/actors/leadership.ts` opens and closes it. */
export class WriteGate extends Context.Service<WriteGate, {
  /** Checked synchronously, right before a request is sent. */
  readonly permit: () => Permit;
  /** Opens until `deadlineMs` of the monotonic clock. */
  readonly openUntil: (deadlineMs: number) => void;
  readonly close: (why: string) => void;
  /** The machine was suspended since the gate was opened: timers have stood still. */
  readonly wasSuspended: () => boolean;
  /** The returned function tells whether the machine was suspended since this call. */
  readonly watchSuspension: () => () => boolean;
  /** Counts a request as in flight until the returned function is called: answered or given up. */
  readonly beginRequest: () => () => void;
  /** Closes for good; resolves when every sent request has its answer. */
  readonly shut: (why: string) => Promise<void>;
}>()('tidegate/WriteGate') {}

/** Shorter differences come from reading two clocks, one of which counts whole seconds. */
const SUSPENDED_MS_MIN = 3000;

/** Clocks of the machine beside its monotonic one. */
export interface MachineClocks {
  readonly wallClock: Time['now'];
  /** For how long the monotonic clock has stood still, in all, in milliseconds. */
  readonly suspendedMs: () => number;
}

/** A closed gate on the clock of `time`, and on those of the machine. */
export const makeWriteGate = (
  time: Time,
  { wallClock, suspendedMs }: MachineClocks = { wallClock: time.now, suspendedMs: () => 0 },
): WriteGate['Service'] => {
  const watchSuspension = (): () => boolean => {
    const beforeMs = suspendedMs();
    return () => suspendedMs() - beforeMs >= SUSPENDED_MS_MIN;
  };
  let wasSuspended = watchSuspension();
  let deadlineMs = Number.NEGATIVE_INFINITY;
  let wallDeadlineMs = Number.NEGATIVE_INFINITY;
  let closedBecause = 'this process does not hold the lease yet';
  let isShut = false;
  let inFlight = 0;
  const empty = Promise.withResolvers<void>();
  const settle = (): void => {
    if (isShut && inFlight === 0) empty.resolve();
  };
  return {
    permit: () =>
      time.monotonic() < deadlineMs && wallClock() < wallDeadlineMs
        ? OPEN
        : { _tag: 'Closed', why: closedBecause },
    openUntil: (nextMs) => {
      if (isShut) return;
      deadlineMs = nextMs;
      wallDeadlineMs = wallClock() + (nextMs - time.monotonic());
      wasSuspended = watchSuspension();
      closedBecause = 'the lease was not renewed in time';
    },
    close: (why) => {
      deadlineMs = Number.NEGATIVE_INFINITY;
      closedBecause = why;
    },
    wasSuspended: () => wasSuspended(),
    watchSuspension,
    beginRequest: () => {
      inFlight += 1;
      return () => {
        inFlight -= 1;
        settle();
      };
    },
    shut: (why) => {
      isShut = true;
      deadlineMs = Number.NEGATIVE_INFINITY;
      closedBecause = why;
      settle();
      return empty.promise;
    },
  };
};

/** The gate of a process. */
export const writeGate = (time: Time, clocks?: MachineClocks): Layer.Layer<WriteGate> =>
  Layer.sync(WriteGate, () => makeWriteGate(time, clocks));
