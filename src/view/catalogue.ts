/** The catalogue of statecharts in words: what each machine and each of its states is. */
import type { AnyStateMachine, AnyStateNode } from 'xstate';

/** A machine in words. */
export interface MachineSummary {
  readonly description: string;
  /** What is true in each state, by its path in the chart. */
  readonly states: Readonly<Record<string, string>>;
}

const statesBelow = (node: AnyStateNode): readonly (readonly [string, string])[] =>
  Object.values(node.states).flatMap((
    inner,
  ) => [[inner.path.join('.'), inner.description ?? ''] as const, ...statesBelow(inner)]);

/** Every machine by its name. */
export const catalogueText = (
  machines: Readonly<Record<string, AnyStateMachine>>,
): Readonly<Record<string, MachineSummary>> =>
  Object.fromEntries(
    Object.entries(machines).map(([name, { root }]) => [
      name,
      { description: root.description ?? '', states: Object.fromEntries(statesBelow(root)) },
    ]),
  );
