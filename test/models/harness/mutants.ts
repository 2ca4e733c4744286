/**
 * Mutants of a statechart: one guard negated, one target changed or one action dropped, applied to
 * the machine object and never to its source.
 *
 * Promises: mutants are independent machines; one with an infinite loop ends with an error.
 */
import {
  type AnyStateMachine,
  type AnyStateNode,
  type AnyTransitionDefinition,
  createMachine,
  not,
} from 'xstate';
import { statesBelow, transitionName, transitionsOf } from './coverage.ts';

/** A machine that is wrong in one place. */
export interface Mutant {
  /** The mutation, human-readable. */
  readonly name: string;
  readonly kind: 'guard negated' | 'target changed' | 'action dropped';
  /** Walks without it are those of the original. */
  readonly place: Place;
  readonly machine: AnyStateMachine;
}

/** Where a machine is wrong: a transition by its number, or a state by its id. */
export type Place = { readonly transition: number } | { readonly state: string };

/** Far more than any machine of ours takes for one event. */
const MICROSTEPS_MAX = 200;

const copyOf = (machine: AnyStateMachine): AnyStateMachine =>
  createMachine(
    { ...machine.config, options: { maxIterations: MICROSTEPS_MAX } },
    machine.implementations,
  );

/** One change of a machine. */
interface Mutation {
  readonly name: string;
  readonly kind: Mutant['kind'];
  readonly place: Place;
  readonly apply: (machine: AnyStateMachine) => void;
}

type Writable<Thing> = { -readonly [Name in keyof Thing]: Thing[Name] };

/** The definitions are plain objects that the interpreter reads at each step. */
const writable = (transition: AnyTransitionDefinition): Writable<AnyTransitionDefinition> =>
  transition;

const nodeAt = (machine: AnyStateMachine, at: number): AnyStateNode => {
  const node = statesBelow(machine.root)[at];
  if (node === undefined) throw new Error(`No state ${at} in ${machine.id}`);
  return node;
};

const transitionAt = (machine: AnyStateMachine, at: number): AnyTransitionDefinition => {
  const transition = statesBelow(machine.root).flatMap(transitionsOf)[at];
  if (transition === undefined) throw new Error(`No transition ${at} in ${machine.id}`);
  return transition;
};

/** Another state beside the target, or around it when it is alone. */
const elsewhere = (target: AnyStateNode): AnyStateNode | undefined => {
  const beside: readonly AnyStateNode[] = Object.values(target.parent?.states ?? {});
  const at = beside.indexOf(target);
  return beside.length > 1 ? beside[(at + 1) % beside.length] : target.parent?.parent;
};

const ofTransition = (transition: AnyTransitionDefinition, at: number): readonly Mutation[] => {
  const name = transitionName(transition);
  const { guard } = transition;
  const [target] = transition.target ?? [];
  const other = target === undefined ? undefined : elsewhere(target);
  const [otherAt] = other === undefined
    ? []
    : [statesBelow(other.machine.root).findIndex(({ id }) => id === other.id)];
  return [
    ...(guard === undefined || typeof guard === 'function' ? [] : [
      {
        name: `${name}: guard negated`,
        kind: 'guard negated',
        place: { state: transition.source.id },
        apply: (machine) => {
          writable(transitionAt(machine, at)).guard = negated(guard);
        },
      } satisfies Mutation,
    ]),
    ...(other === undefined || otherAt === undefined ? [] : [
      {
        name: `${name}: leads to ${other.id}`,
        kind: 'target changed',
        place: { transition: at },
        apply: (machine) => {
          writable(transitionAt(machine, at)).target = [nodeAt(machine, otherAt)];
        },
      } satisfies Mutation,
    ]),
    ...transition.actions.map((action, place): Mutation => ({
      name: `${name}: without ${nameOf(action)}`,
      kind: 'action dropped',
      place: { transition: at },
      apply: (machine) => {
        writable(transitionAt(machine, at)).actions = transition.actions
          .filter((_, other) => other !== place);
      },
    })),
  ];
};

type Guard = NonNullable<AnyTransitionDefinition['guard']>;

/** The tidy test demands named guards; the types of `not` need each form separately. */
const negated = (guard: Guard): Guard => {
  if (typeof guard === 'function') return guard;
  return typeof guard === 'string' ? not(guard) : not(guard);
};

const nameOf = (action: unknown): string => {
  if (typeof action === 'function') return 'type' in action ? String(action.type) : action.name;
  return typeof action === 'object' && action !== null && 'type' in action
    ? String(action.type)
    : String(action);
};

const listed = (actions: unknown): readonly unknown[] =>
  actions === undefined ? [] : Array.isArray(actions) ? actions : [actions];

/** Actions of a state itself; what XState adds to arm and disarm delays stands behind them. */
const ofState = (node: AnyStateNode, at: number): readonly Mutation[] =>
  (['entry', 'exit'] as const).flatMap((when) =>
    listed(node.config[when]).map((action, place): Mutation => ({
      name: `${node.id} on ${when}: without ${nameOf(action)}`,
      kind: 'action dropped',
      place: { state: node.id },
      apply: (machine) => {
        nodeAt(machine, at)[when].splice(place, 1);
      },
    }))
  );

/** Where the state leads that is entered first. */
const ofBeginning = (node: AnyStateNode, at: number): readonly Mutation[] => {
  if (node.type !== 'compound') return [];
  const [first] = node.initial.target;
  const other = first === undefined ? undefined : elsewhere(first);
  if (other === undefined || other.parent !== node) return [];
  const otherAt = statesBelow(node.machine.root).indexOf(other);
  return [{
    name: `${node.id} begins with ${other.id}`,
    kind: 'target changed',
    place: { state: node.id },
    apply: (machine) => {
      const initial: Writable<AnyStateNode['initial']> = nodeAt(machine, at).initial;
      initial.target = [nodeAt(machine, otherAt)];
    },
  }];
};

/** Every mutant of a machine, one after another. */
export function* mutantsOf(machine: AnyStateMachine): Generator<Mutant> {
  const states = statesBelow(machine.root);
  const mutations = [
    ...states.flatMap(transitionsOf).flatMap(ofTransition),
    ...states.flatMap(ofState),
    ...states.flatMap(ofBeginning),
  ];
  for (const { name, kind, place, apply } of mutations) {
    const mutant = copyOf(machine);
    apply(mutant);
    yield { name, kind, place, machine: mutant };
  }
}
