/**
 * The catalogue of statecharts: the description of each machine and each of its states, and the
 * events that lead from one to another.
 */
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { causeText, chartOf } from './chart/chart.ts';

/**
 * What may happen in a state: the event or delay (empty for an eventless transition), and the state
 * that it may lead to.
 */
export type PossibleMove = readonly [from: string, cause: string, to: string];

/** A machine with its descriptions. */
export interface MachineSummary {
  readonly description: string;
  /** State descriptions, by path in the chart. */
  readonly states: Readonly<Record<string, string>>;
  /** Each once. */
  readonly moves: readonly PossibleMove[];
}

const statesBelow = (node: AnyStateNode): readonly (readonly [string, string])[] =>
  Object.values(node.states).flatMap((
    inner,
  ) => [[inner.path.join('.'), inner.description ?? ''] as const, ...statesBelow(inner)]);

const movesOf = (machine: AnyStateMachine): readonly PossibleMove[] => {
  const moves = chartOf(machine).transitions.flatMap(({ from, cause, targets: [to] }) =>
    to === undefined ? [] : [[from, causeText(cause), to] satisfies PossibleMove]
  );
  return [...new Map(moves.map((move) => [move.join(' '), move])).values()];
};

/** All machines, by name. */
export const catalogueText = (
  machines: Readonly<Record<string, AnyStateMachine>>,
): Readonly<Record<string, MachineSummary>> =>
  Object.fromEntries(
    Object.entries(machines).map(([name, machine]) => [
      name,
      {
        description: machine.root.description ?? '',
        states: Object.fromEntries(statesBelow(machine.root)),
        moves: movesOf(machine),
      },
    ]),
  );
