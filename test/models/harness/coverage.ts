/** Lists the unvisited states and transitions of a statechart. */
import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';
import type { Explored } from './explorer.ts';

/** A state and all its descendants, outermost first. */
export const statesBelow = (node: AnyStateNode): readonly AnyStateNode[] => [
  node,
  ...Object.values(node.states).flatMap(statesBelow),
];

/** The transitions that leave a state. */
export const transitionsOf = (node: AnyStateNode): readonly AnyTransitionDefinition[] => [
  ...[...node.transitions.values()].flat(),
  ...(node.always ?? []),
];

const guardName = (guard: AnyTransitionDefinition['guard']): string => {
  if (guard === undefined) return '';
  if (typeof guard === 'string') return ` when ${guard}`;
  if (typeof guard === 'object' && 'type' in guard) return ` when ${String(guard.type)}`;
  return ` when ${guard.name || 'a guard'}`;
};

/** A human-readable transition. */
export const transitionName = (transition: AnyTransitionDefinition): string => {
  const targets = (transition.target ?? []).map((node) => node.id).join(', ') || 'itself';
  const type = String(transition.eventType) || 'always';
  return `${transition.source.id} --${type}${guardName(transition.guard)}--> ${targets}`;
};

/** The coverage of an exploration. */
export interface Coverage {
  readonly states: number;
  readonly transitions: number;
  readonly missingStates: readonly string[];
  readonly missingTransitions: readonly string[];
  readonly undescribedStates: readonly string[];
}

/** Compares the statechart with the visited parts. A transition without effect needs no visit. */
export const coverageOf = <World>(
  machine: AnyStateMachine,
  explored: Explored<World>,
): Coverage => {
  const states = statesBelow(machine.root);
  const transitions = states.flatMap(transitionsOf);
  return {
    states: states.length,
    transitions: transitions.length,
    missingStates: states.filter((node) => !explored.visitedStates.has(node.id)).map((node) =>
      node.id
    ),
    missingTransitions: transitions
      .filter((transition) => !explored.takenTransitions.has(transition))
      .map(transitionName),
    undescribedStates: states
      .filter((node) => node !== machine.root && (node.description ?? '') === '')
      .map((node) => node.id),
  };
};
