/**
 * What holds for every statechart that is the only writer of an object.
 *
 * Promises: told by pending writes, answers and timers, so that a statechart that writes too much,
 * too little or too early breaks a law; holds on pure steps and on the live actor's.
 */
import type { AnyMachineSnapshot } from 'xstate';
import { textAt, valueAt } from '../../../src/domain/json.ts';
import type { Step } from './interpreter.ts';
import { exactly, isTimer, must, visibleActions } from './step-invariants.ts';
import { TRIES_PER_SLOT } from './tries.ts';

/** What differs between writers. */
export interface Writer {
  /** The name of the pending write by the facts; `undefined` when there is none. */
  readonly pendingIn: (snapshot: AnyMachineSnapshot) => string | undefined;
  /** The act of each write. */
  readonly actorOf: Readonly<Record<string, string>>;
  /** What a write is based on. */
  readonly baseOf: (before: AnyMachineSnapshot) => unknown;
  /** The state without a pending write. */
  readonly restsIn: (snapshot: AnyMachineSnapshot) => string;
  readonly retries: 'WithSlot' | 'WithoutSlot';
  /** The region of a parallel statechart that writes; default: the whole statechart. */
  readonly region?: string;
  /**
   * True when the write that is pending after an answer is the one that was answered; default: it
   * has the same name, and the wanted object has not changed meanwhile.
   */
  readonly isRepeated?: (step: Step) => boolean;
  /** True for facts that make it ask for a slot at once, although its writes fail. */
  readonly reconsiders: (step: Step) => boolean;
}

/** The name of a state, as the statechart nests it. */
const nested = ({ region }: Pick<Writer, 'region'>, state: string): string =>
  region === undefined ? state : `${region}.${state}`;

const isIn = (
  writer: Pick<Writer, 'region'>,
  snapshot: AnyMachineSnapshot,
  state: string,
): boolean => snapshot.matches(nested(writer, state));

/** The state value of the region that writes. */
const valueIn = ({ region }: Pick<Writer, 'region'>, { value }: AnyMachineSnapshot): unknown =>
  region === undefined ? value : valueAt(value, region);

/** `Outdated`: a refusal of what is no longer wanted. */
type Verdict = 'Landed' | 'Failed' | 'Refused' | 'Outdated';

const repeatsItself = ({ before, after }: Step): boolean => {
  const { sent } = before.context;
  return sent !== null && after.context.pendingWrite?.write === sent;
};

/** True while the next write is tried at once, although this one was refused. */
const isOutdated = ({ before: { context }, event }: Step): boolean =>
  context.sent === null && context.attempt < TRIES_PER_SLOT && !event.type.endsWith('.releaseNode');

/** What an answer means; `undefined` for other events. */
const verdictOf = (
  { isRepeated = repeatsItself }: Pick<Writer, 'isRepeated'>,
  step: Step,
): Verdict | undefined => {
  const { event, before } = step;
  if (event.type.startsWith('xstate.error.actor.')) return 'Failed';
  if (!event.type.startsWith('xstate.done.actor.')) return undefined;
  const { output } = event;
  const tag = textAt(output, '_tag');
  if (tag === 'Refused') return isOutdated(step) ? 'Outdated' : 'Refused';
  if (tag === 'Absent') return 'Landed';
  if (tag !== 'Written') return 'Failed';
  if (event.type.endsWith('.releaseNode')) {
    return valueAt(output, 'current', 'releasable') === true ? 'Failed' : 'Landed';
  }
  // The same write is still pending, and not because the wanted object changed meanwhile.
  if (isRepeated(step)) return 'Failed';
  const base: unknown = before.context.base;
  const version = valueAt(output, 'current', 'resourceVersion');
  return version === (valueAt(base, 'resourceVersion') ?? base) ? 'Failed' : 'Landed';
};

const spendsSlot = ({ retries }: Pick<Writer, 'retries'>, { after }: Step): boolean =>
  retries === 'WithoutSlot' || after.context.attempt >= TRIES_PER_SLOT;

/** True when it may write: it has a slot, and the last write landed or is to be repeated. */
const writesNow = (writer: Writer, step: Step): boolean =>
  (step.event.type === 'slot.acquired' && isIn(writer, step.before, 'waiting')) ||
  ['Landed', 'Outdated'].includes(verdictOf(writer, step) ?? '') || isTimer(step, 'writeBackoff');

/** Where a writer with a pending write must be. */
const stateWithPending = (writer: Writer, step: Step): string => {
  const { before, event } = step;
  if (writesNow(writer, step)) return 'acting';
  switch (verdictOf(writer, step)) {
    case 'Refused':
      return 'refused';
    case 'Failed':
      return spendsSlot(writer, step) ? 'setAside' : 'acting.backingOff';
  }
  const waits = ['setAside', 'refused'].find((state) => isIn(writer, before, state));
  const asksAgain = isTimer(step, 'slotBackoff') || isTimer(step, 'refusalBackoff') ||
    writer.reconsiders(step);
  if (waits !== undefined && event.type !== 'xstate.init') return asksAgain ? 'waiting' : waits;
  return isIn(writer, before, 'acting.backingOff') ? 'acting.backingOff' : 'waiting';
};

const passes = ({ transitions }: Step, state: string): boolean =>
  transitions.some(({ target = [] }) => target.some(({ path }) => path.join('.') === state));

const tries = (writer: Writer, step: Step): void => {
  const { before, after, event } = step;
  const verdict = verdictOf(writer, step);
  const { attempt, problem } = after.context;
  if (event.type === 'xstate.init') return;
  const since = before.context.attempt;
  const expected = verdict === 'Landed' ? 0 : since + (verdict === undefined ? 0 : 1);
  must(attempt === expected, `${attempt} failures in a row, not ${expected}`);
  if (verdict === 'Landed') must(problem === '', 'a landed write has no problem');
  if (verdict !== 'Landed' && verdict !== undefined) must(problem !== '', 'a failure has a cause');
  exactly(step, 'recordRefused', verdict === 'Refused');
  exactly(step, 'recordFailing', verdict === 'Failed' && spendsSlot(writer, step));
};

/** The law of each step. */
export const writerInvariant = (writer: Writer) => (step: Step): void => {
  const { before, after } = step;
  const pending = writer.pendingIn(after);
  must(after.context.pendingWrite?.write === pending, `the pending write is ${pending}`);
  tries(writer, step);
  exactly(step, 'requestSlot', passes(step, nested(writer, 'waiting')));
  const writes = visibleActions(step).filter((act) => act.startsWith('invoke:'));
  const isWriting = isIn(writer, before, 'acting') && !isIn(writer, before, 'acting.backingOff');
  if (isWriting && verdictOf(writer, step) === undefined) {
    const [was, is] = [before, after].map((snapshot) => JSON.stringify(valueIn(writer, snapshot)));
    must(was === is, 'facts restart no write');
    must(writes.length === 0, 'one write at a time');
    return;
  }
  const state = pending === undefined ? writer.restsIn(after) : stateWithPending(writer, step);
  must(
    isIn(writer, after, state),
    `"${step.event.type}" leads to ${JSON.stringify(after.value)}, not to ${state}`,
  );
  const begins = pending !== undefined && writesNow(writer, step);
  const expected = begins ? [`invoke:${writer.actorOf[pending]}`] : [];
  must(writes.join() === expected.join(), `writes [${writes.join()}], not [${expected.join()}]`);
  if (!begins) return;
  if (pending !== 'node_release') {
    must(after.context.sent === pending, 'a write in flight is known');
    const base = JSON.stringify(writer.baseOf(after));
    must(JSON.stringify(after.context.base) === base, `a write is based on ${base}`);
  }
  if (verdictOf(writer, step) === undefined) {
    must(after.context.verdict === 'Untried', 'a new try has no verdict');
  }
};
