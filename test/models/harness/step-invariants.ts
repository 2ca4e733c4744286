/**
 * Words for invariants: what an event must lead to, and what must be done on the way.
 *
 * Promises: a broken law throws with the event and the state that it broke in.
 */
import type { AnyMachineSnapshot } from 'xstate';
import { statePaths } from '../../../src/domain/state-value.ts';
import type { Step } from './interpreter.ts';

/** Values of statecharts, and the innermost states in them. */
const innermost = new WeakMap<object, readonly string[]>();

const innermostOf = (value: AnyMachineSnapshot['value']): readonly string[] => {
  if (typeof value === 'string') return [value];
  const known = innermost.get(value);
  if (known !== undefined) return known;
  const paths = statePaths(value);
  innermost.set(value, paths);
  return paths;
};

/** As `snapshot.matches` with a path, for invariants that ask it a dozen times of each step. */
export const isAt = ({ value }: Pick<AnyMachineSnapshot, 'value'>, path: string): boolean =>
  innermostOf(value).some((one) => one === path || one.startsWith(`${path}.`));

/** Throws when a condition does not hold. Millions hold: a text that takes work is a function. */
export const must = (holds: boolean, what: string | (() => string)): void => {
  if (!holds) throw new Error(`Broken: ${typeof what === 'string' ? what : what()}`);
};

const valueText = ({ value }: Pick<AnyMachineSnapshot, 'value'>): string => JSON.stringify(value);

/** What a step does for others to see: actions, and `invoke:<id>` for each act that starts. */
export const visibleActions = ({ actions }: Pick<Step, 'actions'>): readonly string[] =>
  actions.filter((action) => !action.startsWith('xstate.'));

/** An act is performed when a condition holds, and only then. */
export const exactly = (step: Step, act: string, when: boolean): void => {
  must(
    step.actions.includes(act) === when,
    () =>
      `"${act}" ${when ? 'is not performed' : 'is performed'} on "${step.event.type}" in ${
        valueText(step.before)
      }`,
  );
};

/** A timer's name in its event. */
export const isTimer = ({ event }: Pick<Step, 'event'>, delay: string): boolean =>
  event.type.startsWith(`xstate.after.${delay}.`);

/** What an event leads to. */
export interface Line {
  /** The type of the event, or `after <delay>`. */
  readonly on: string;
  /** The states in which the line applies; default: every state. */
  readonly from?: readonly string[];
  /** The state that it leads to; default: the state stays. */
  readonly to?: string;
  /** What it does, in order. */
  readonly does?: readonly string[];
  /** A further condition. */
  readonly when?: (step: Step) => boolean;
}

const applies = (step: Step, { on, from, when }: Line): boolean => {
  const [word = '', delay = ''] = on.split(' ');
  const received = word === 'after' ? isTimer(step, delay) : step.event.type === on;
  return received && (from === undefined || from.some((state) => isAt(step.before, state))) &&
    when?.(step) !== false;
};

/** The first line that applies must be followed; without one, nothing changes or is done. */
export const follows = (lines: readonly Line[]) => (step: Step): void => {
  const line = lines.find((one) => applies(step, one));
  const { to, does = [] } = line ?? {};
  const [was, is] = [() => valueText(step.before), () => valueText(step.after)];
  const performed = visibleActions(step);
  must(
    to === undefined ? was() === is() : isAt(step.after, to),
    () => `"${step.event.type}" in ${was()} leads to ${is()}, not to ${to ?? 'itself'}`,
  );
  must(
    performed.join() === does.join(),
    () => `"${step.event.type}" in ${was()} does [${performed.join()}], not [${does.join()}]`,
  );
};
