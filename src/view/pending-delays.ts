/**
 * The delays that run in the states of an actor: their names, and when each began and ends.
 *
 * Promises: total, because the data of a recording may be of another version; a delay that the data
 * does not tell is left out.
 */
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import type { ActorDetail, ActorStep } from '../api/actor-board.ts';

/** A delay of an `after` transition. */
export interface PendingDelay {
  /** The path of the state that waits. */
  readonly state: string;
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** A machine with its delays. */
export type DelayedMachine = Pick<AnyStateMachine, 'root' | 'implementations'>;

/** A longer delay stands for none. */
const DAY_MS = 86_400_000;

const stateAt = (root: AnyStateNode, path: string): AnyStateNode | undefined =>
  path.split('.').reduce<AnyStateNode | undefined>((node, name) => node?.states[name], root);

/** A state and those around it: `a.b` → `a`, `a.b`. */
const withOuter = (path: string): readonly string[] =>
  path.split('.').map((_, at, names) => names.slice(0, at + 1).join('.'));

const delaysIn = (node: AnyStateNode): readonly string[] => [
  ...new Set(
    [...node.transitions.values()].flat()
      .flatMap((transition) => 'delay' in transition ? [String(transition.delay)] : []),
  ),
];

const lengthOf = ({ implementations }: DelayedMachine, name: string, context: unknown): number => {
  const found: unknown = Object.hasOwn(implementations.delays, name)
    ? implementations.delays[name]
    : Number(name);
  try {
    const length: unknown = typeof found === 'function' ? found({ context, event: {} }) : found;
    return typeof length === 'number' ? length : Number.NaN;
  } catch {
    return Number.NaN;
  }
};

const isIn = (state: string, { state: states }: ActorStep): boolean =>
  states.split(' ').some((path) => path === state || path.startsWith(`${state}.`));

/** When the actor entered the state that it is in. */
const enteredMs = (state: string, { path, row }: Pick<ActorDetail, 'path' | 'row'>): number => {
  const left = path.findLastIndex((step) => !isIn(state, step));
  return path[left + 1]?.atMs ?? row.sinceMs;
};

/** The delays that run now. */
export const pendingDelays = (
  machine: DelayedMachine,
  detail: Pick<ActorDetail, 'row' | 'path' | 'context'>,
): readonly PendingDelay[] => {
  const { row: { state, status }, context } = detail;
  if (status !== 'active') return [];
  return [...new Set(state.split(' ').flatMap(withOuter))].flatMap((path) => {
    const node = stateAt(machine.root, path);
    if (node === undefined) return [];
    const startMs = enteredMs(path, detail);
    return delaysIn(node).flatMap((name): readonly PendingDelay[] => {
      const length = lengthOf(machine, name, context);
      return length > 0 && length < DAY_MS
        ? [{ state: path, name, startMs, endMs: startMs + length }]
        : [];
    });
  });
};
