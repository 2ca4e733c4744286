/**
 * A trace of calls with their causes: which call led to another, also through promises, queues and
 * timers.
 *
 * Promises: on simulated time everything between two timers is caused by the function that the
 * first of them ran; so a continuation that has waited since an earlier timer is caused by the call
 * that began the present turn. A closure that ran exactly once is caused by the call that created
 * it, and, when another call ran it, by that as well: by a queue that it waited in.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { SourceFunction } from './instrumented-source.ts';

/** An event that an actor takes in. */
export interface ActorStep {
  readonly actor: string;
  readonly event: string;
}

/** A message that leaves the process, or reaches it. */
export interface Exchange {
  readonly direction: 'in' | 'out';
  readonly peer: string;
  readonly message: string;
}

/** One run of a function, one event of an actor, or one exchange with a peer. */
export interface Call {
  readonly number: number;
  /** Functions go by their numbers. */
  readonly what: number | ActorStep | Exchange;
  /** The number of the timer in whose turn it ran. */
  readonly turn: number;
  /** The call that ran it; undefined at the beginning of a turn. */
  readonly caller: Call | undefined;
  /** The call that made the closure. */
  readonly maker: Call | undefined;
  /** How often each closure ran that it made. */
  readonly runs: Map<number, number>;
  /** The call that runs again after it. */
  before: Call | undefined;
}

/** Where calls are reported to. */
export interface CallTrace {
  readonly functions: SourceFunction[];
  readonly enter: (id: number, maker: Call | undefined) => Call;
  readonly exit: (call: Call) => void;
  /** Before a function waits; returns `value`. */
  readonly suspend: <T>(call: Call, value: T) => T;
  /** After the wait: the same call, unless a turn began in between. */
  readonly resume: (call: Call) => Call;
  /** Returns `value` once the function resumes. */
  readonly given: <T>(value: T, call: Call) => T;
  /** Runs `act` as an event that an actor takes in and that `sender` sent. */
  readonly step: <T>(step: ActorStep, sender: Call | undefined, act: () => T) => T;
  /** An exchange in the call that runs now. */
  readonly exchange: (exchange: Exchange) => Call;
  /** The call that runs now. */
  readonly current: () => Call | undefined;
  /** All calls since the last read, oldest first. */
  readonly drain: () => readonly Call[];
}

const causes = new WeakMap<Call, readonly Call[]>();

/** Whether `call` happened because of `above`. */
const isBelow = (call: Call, above: Call): boolean => {
  const seen = new Set<Call>();
  const open = [call];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === above) return true;
    if (next.number < above.number || seen.has(next)) continue;
    seen.add(next);
    open.push(...causesOf(next));
  }
  return false;
};

const foundCauses = ({ what, caller, maker }: Call): readonly Call[] => {
  if (maker === undefined || typeof what !== 'number') return caller === undefined ? [] : [caller];
  if (caller === undefined || maker === caller) return [maker];
  if (maker.runs.get(what) !== 1) return [caller];
  return isBelow(maker, caller) ? [maker] : [maker, caller];
};

/** The calls that caused a call, once tracing has ended; the main one first. */
export const causesOf = (call: Call): readonly Call[] => {
  const known = causes.get(call) ?? foundCauses(call);
  causes.set(call, known);
  return known;
};

/** An empty trace. */
export const makeCallTrace = (): CallTrace => {
  const running = new AsyncLocalStorage<Call | undefined>();
  let calls: Call[] = [];
  let number = 0;
  let turn = 0;
  let turnRoot: Call | undefined;

  const begin = (
    what: Call['what'],
    { maker, sender, resumed = false }: {
      readonly maker?: Call;
      readonly sender?: Call;
      readonly resumed?: boolean;
    },
  ): Call => {
    const before = running.getStore();
    // Only timers and the simulation itself have no caller; a resumed call has one.
    const isRoot = before === undefined && !resumed;
    if (isRoot) turn += 1;
    const nearest = sender?.turn === turn ? sender : before;
    const caller = isRoot || nearest?.turn === turn ? nearest : turnRoot;
    const call: Call = { number, what, turn, caller, maker, runs: new Map(), before };
    number += 1;
    calls.push(call);
    if (isRoot) turnRoot = call;
    running.enterWith(call);
    return call;
  };
  const exit = (call: Call): void => {
    if (running.getStore() === call) running.enterWith(call.before);
  };
  return {
    functions: [],
    enter: (id, maker) => {
      maker?.runs.set(id, (maker.runs.get(id) ?? 0) + 1);
      return begin(id, maker === undefined ? {} : { maker });
    },
    exit,
    suspend: (call, value) => {
      exit(call);
      return value;
    },
    resume: (call) => {
      if (call.turn !== turn) return begin(call.what, { resumed: true });
      call.before = running.getStore();
      running.enterWith(call);
      return call;
    },
    given: (value) => value,
    step: (step, sender, act) => {
      const call = begin(step, sender === undefined ? {} : { sender });
      try {
        return act();
      } finally {
        exit(call);
      }
    },
    exchange: (exchange) => {
      const call = begin(exchange, {});
      exit(call);
      return call;
    },
    current: () => running.getStore(),
    drain: () => {
      const drained = calls;
      calls = [];
      return drained;
    },
  };
};
