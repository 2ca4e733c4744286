/**
 * A slice of a trace: the calls between a path's trigger and its outputs.
 *
 * Promises: a call is included when it causes, directly or through other calls, a message of the
 * path (`isGoal`). So side effects (metrics, logs, Events on objects, caches of other kinds) are
 * excluded, and so are functions that only return a value; the files of those are counted
 * separately, as consulted.
 *
 * Where a path waits in memory for a timer (a need that the next roll-up includes), no call
 * connects the two turns. There the chain from the trigger to the call that stores the value is
 * included, too; it is found by the files that both turns call.
 */
import { type Call, causesOf, type Exchange } from './call-trace.ts';
import type { SourceFunction } from './instrumented-source.ts';

/** The definition of a path's slice. */
export interface SliceOptions {
  /** All calls between the trigger and the outcome, oldest first. */
  readonly calls: readonly Call[];
  readonly isGoal: (exchange: Exchange) => boolean;
  /** The message that begins a path which waits in memory. */
  readonly isTrigger: (exchange: Exchange) => boolean;
  readonly functions: readonly SourceFunction[];
  /** The file of a statechart, by the id of one of its actors. */
  readonly chartOf: (actor: string) => string;
}

/** The calls of a path, oldest first. */
export interface PathSlice {
  readonly passed: readonly Call[];
  /** Where the path waits in memory; undefined when it never does. */
  readonly held: Call | undefined;
  /** Files of `src/` that are passed. */
  readonly files: readonly string[];
  /** Distinct calls from a function of one file to a function of another. */
  readonly crossings: readonly string[];
  /** Files of `src/` that ran because of the path but are not on it. */
  readonly consulted: readonly string[];
}

/** The exchange of a call; undefined for other calls. */
export const exchangeOf = ({ what }: Call): Exchange | undefined =>
  typeof what === 'object' && 'peer' in what ? what : undefined;

/** The file that a call runs in; undefined for an exchange. */
export const fileOf = (
  { what }: Call,
  { functions, chartOf }: Pick<SliceOptions, 'functions' | 'chartOf'>,
): string | undefined => {
  if (typeof what === 'number') return functions[what]?.file;
  return 'actor' in what ? chartOf(what.actor) : undefined;
};

const isOperator = (file: string | undefined): file is string => file?.startsWith('src/') === true;

/** A function or a statechart as the list of calls names it. */
const placeOf = (call: Call, options: SliceOptions): string => {
  const file = fileOf(call, options) ?? '';
  const called = typeof call.what === 'number' ? options.functions[call.what] : undefined;
  return called === undefined ? file : `${file}:${called.line} ${called.name}`;
};

const causedBy = (goals: readonly Call[], firstNumber: number): Set<Call> => {
  const passed = new Set<Call>();
  const open = [...goals];
  for (let call = open.pop(); call !== undefined; call = open.pop()) {
    if (call.number < firstNumber || passed.has(call)) continue;
    passed.add(call);
    open.push(...causesOf(call));
  }
  return passed;
};

/** The files that the path reads in its timer's turn, and those that it passes. */
const filesAround = (passed: ReadonlySet<Call>, options: SliceOptions) => ({
  passed: new Set([...passed].map((call) => fileOf(call, options))),
  read: new Set(
    options.calls
      .filter((call) => !passed.has(call) && causesOf(call).some((cause) => passed.has(cause)))
      .map((call) => fileOf(call, options)),
  ),
});

/**
 * The call that stores the trigger's value: the first in the trigger's turn into a file of the
 * path, or into a file that the path reads.
 */
const heldCall = (passed: ReadonlySet<Call>, options: SliceOptions): Call | undefined => {
  const { calls, isTrigger } = options;
  const trigger = calls.find((call) => {
    const exchange = exchangeOf(call);
    return exchange !== undefined && isTrigger(exchange);
  });
  const inTurn = calls.filter(({ turn }) => turn === trigger?.turn);
  if (inTurn.some((call) => passed.has(call))) return undefined;
  const files = filesAround(passed, options);
  const taken = inTurn.find((call) => {
    const file = fileOf(call, options);
    return isOperator(file) && files.passed.has(file);
  });
  if (taken === undefined) return undefined;
  return inTurn.find((call) =>
    causesOf(call).includes(taken) && fileOf(call, options) !== fileOf(taken, options) &&
    files.read.has(fileOf(call, options))
  ) ?? taken;
};

/** Requests of which the path needs the answer. */
const answeredRequests = (passed: ReadonlySet<Call>, calls: readonly Call[]): readonly Call[] =>
  calls.filter((call) =>
    exchangeOf(call)?.direction === 'out' && causesOf(call).some((cause) => passed.has(cause))
  );

const crossingsIn = (passed: ReadonlySet<Call>, options: SliceOptions): ReadonlySet<string> => {
  const crossings = new Set<string>();
  for (const call of passed) {
    const file = fileOf(call, options);
    for (const cause of causesOf(call)) {
      const from = fileOf(cause, options);
      if (!passed.has(cause) || !isOperator(file) || !isOperator(from) || from === file) continue;
      crossings.add(`${placeOf(cause, options)} → ${placeOf(call, options)}`);
    }
  }
  return crossings;
};

const consultedBy = (passed: ReadonlySet<Call>, options: SliceOptions): ReadonlySet<string> => {
  const lastNumber = Math.max(...[...passed].map(({ number }) => number));
  const reached = new Set(passed);
  const files = new Set<string>();
  for (const call of options.calls) {
    if (call.number > lastNumber) break;
    if (!reached.has(call) && !causesOf(call).some((cause) => reached.has(cause))) continue;
    reached.add(call);
    const file = fileOf(call, options);
    if (isOperator(file)) files.add(file);
  }
  return files;
};

/** Cuts a path out of a record. */
export const slicePath = (options: SliceOptions): PathSlice => {
  const { calls, isGoal } = options;
  const firstNumber = calls[0]?.number ?? 0;
  const goals = calls.filter((call) => {
    const exchange = exchangeOf(call);
    return exchange !== undefined && isGoal(exchange);
  });
  if (goals.length === 0) throw new Error('Nothing left the process for this path');
  const passed = causedBy(goals, firstNumber);
  for (const call of answeredRequests(passed, calls)) passed.add(call);
  const held = heldCall(passed, options);
  if (held !== undefined) { for (const call of causedBy([held], firstNumber)) passed.add(call); }
  const files = new Set([...passed].map((call) => fileOf(call, options)).filter(isOperator));
  return {
    passed: [...passed].toSorted((a, b) => a.number - b.number),
    held,
    files: [...files].toSorted(),
    crossings: [...crossingsIn(passed, options)].toSorted(),
    consulted: [...consultedBy(passed, options)].filter((file) => !files.has(file)).toSorted(),
  };
};
