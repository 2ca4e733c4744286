/** The catalogue of statecharts: the description of each machine and each of its states. */
import type { AnyStateMachine, AnyStateNode } from 'xstate';

/** A machine with its descriptions. */
export interface MachineSummary {
  readonly description: string;
  /** State descriptions, by path in the chart. */
  readonly states: Readonly<Record<string, string>>;
}

const statesBelow = (node: AnyStateNode): readonly (readonly [string, string])[] =>
  Object.values(node.states).flatMap((
    inner,
  ) => [[inner.path.join('.'), inner.description ?? ''] as const, ...statesBelow(inner)]);

/** All machines, by name. */
export const catalogueText = (
  machines: Readonly<Record<string, AnyStateMachine>>,
): Readonly<Record<string, MachineSummary>> =>
  Object.fromEntries(
    Object.entries(machines).map(([name, { root }]) => [
      name,
      { description: root.description ?? '', states: Object.fromEntries(statesBelow(root)) },
    ]),
  );
