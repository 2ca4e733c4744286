/**
 * A statechart's own tests, made from its drawing: every state and transition is visited, no
 * configuration is a dead end, invariants hold, a crash anywhere leaves the same obligations, and
 * the ways that cover all of it are driven through the live actor.
 */
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import type {
  AnyMachineSnapshot,
  AnyStateMachine,
  ContextFrom,
  EventObject,
  InputFrom,
} from 'xstate';
import { coverageOf } from './harness/coverage.ts';
import { type Acts, drive } from './harness/driver.ts';
import {
  type Configuration,
  type Edge,
  explore,
  type Explored,
  type Step,
  stillInterpreter,
  tell,
  wayTo,
} from './harness/explorer.ts';

export type { Acts, Step };

/**
 * How the crash-anywhere law is checked: what the cluster shows, and what a restart makes of it.
 */
export interface CrashLaw<Input, World> {
  /** What the cluster shows before anything was done. */
  readonly world: World;
  /** What a step wrote to the cluster. */
  readonly record: (world: World, step: Step) => World;
  /** How a new process begins when the cluster shows `world`. */
  readonly restart: (
    world: World,
  ) => { readonly input: Input; readonly events: readonly EventObject[] };
  /** What is owed: acts, absolute deadlines, owners. Counters and backoff timers may differ. */
  readonly obligations: (snapshot: AnyMachineSnapshot) => unknown;
}

/** What a model test has to know of a statechart. */
export interface Model<Machine extends AnyStateMachine, World> {
  readonly machine: Machine;
  readonly inputs: readonly InputFrom<Machine>[];
  /** Payload cases by event type; a type that is not named gets one event without payload. */
  readonly events?: Readonly<Record<string, readonly object[]>>;
  /** The bounded part of the context that tells configurations apart; default all of it. */
  readonly project?: (context: ContextFrom<Machine>) => unknown;
  /** Throws when broken. `acts` are the actions and `invoke:<id>`s of the step that led here. */
  readonly invariant?: (snapshot: AnyMachineSnapshot, acts: readonly string[]) => void;
  readonly crash?: CrashLaw<InputFrom<Machine>, World>;
  /** The statechart as `src/actors` provides it, over fakes that answer through `acts`. */
  readonly wire?: (acts: Acts) => AnyStateMachine;
  /** The most configurations that it may have; an exploration that is cut short fails. */
  readonly limit?: number;
}

const CONFIGURATIONS_MAX = 5000;

/** Walks the whole statechart of a model. */
export const exploreModel = <Machine extends AnyStateMachine, World>(
  model: Model<Machine, World>,
): Explored<World | undefined> =>
  explore<Machine, World | undefined>({
    machine: model.machine,
    inputs: model.inputs,
    events: model.events ?? {},
    project: model.project ?? ((context) => context),
    world: model.crash?.world,
    record: (world, step) =>
      model.crash === undefined || world === undefined
        ? undefined
        : model.crash.record(world, step),
    limit: model.limit ?? CONFIGURATIONS_MAX,
  });

const storyOf = <World>(configuration: Configuration<World>): string =>
  ['start', ...wayTo(configuration).map((edge) => tell(edge.step.event))].join('\n  ');

/** Configurations whose obligations a restart forgets or invents, each with its story. */
export const crashViolations = <Machine extends AnyStateMachine, World>(
  model: Model<Machine, World>,
  explored: Explored<World | undefined>,
): readonly string[] => {
  const { crash } = model;
  if (crash === undefined) return [];
  const violations: string[] = [];
  for (const configuration of explored.configurations.values()) {
    if (configuration.world === undefined) continue;
    const { input, events } = crash.restart(configuration.world);
    const interpreter = stillInterpreter(model.machine, input);
    let { snapshot } = interpreter.begin();
    for (const event of events) snapshot = interpreter.move(snapshot, event).snapshot;
    const owed = crash.obligations(configuration.snapshot);
    const remembered = crash.obligations(snapshot);
    if (!isDeepStrictEqual(owed, remembered)) {
      violations.push(
        `After\n  ${storyOf(configuration)}\nthe actor owes ${
          JSON.stringify(owed)
        }, a restarted one ${JSON.stringify(remembered)}`,
      );
    }
  }
  return violations;
};

const deadEnds = <World>(explored: Explored<World>): readonly string[] => {
  const leads = new Map<string, Set<string>>();
  for (const edge of explored.edges) {
    const targets = leads.get(edge.from.key) ?? new Set();
    leads.set(edge.from.key, targets.add(edge.toKey));
  }
  return [...explored.configurations.values()]
    .filter(({ key, snapshot }) =>
      snapshot.status === 'active' && !snapshot.hasTag('settled') &&
      [...leads.get(key) ?? []].every((target) => target === key)
    )
    .map(storyOf);
};

/** Shortest ways that together take every kind of edge: source state, event, target state. */
export const edgeCover = <World>(
  explored: Explored<World>,
): readonly (readonly Edge<World>[])[] => {
  const covered = new Set<string>();
  const kind = (edge: Edge<World>): string =>
    JSON.stringify([edge.step.before.value, tell(edge.step.event), edge.step.after.value]);
  const paths: (readonly Edge<World>[])[] = [];
  for (const edge of explored.edges.toReversed()) {
    if (covered.has(kind(edge))) continue;
    const path = [...wayTo(edge.from), edge];
    for (const step of path) covered.add(kind(step));
    paths.push(path);
  }
  return paths;
};

/** Registers the tests of one statechart. */
export const describeModel = <Machine extends AnyStateMachine, World = undefined>(
  name: string,
  model: Model<Machine, World>,
): void => {
  describe(name, () => {
    const explored = exploreModel(model);
    const coverage = coverageOf(model.machine, explored);

    test(`${name} is explored to its end`, () => {
      expect(explored.truncated, `${explored.configurations.size} configurations`).toBe(false);
    });
    test(`${name} reaches each of its ${coverage.states} states`, () => {
      expect(coverage.missingStates).toEqual([]);
    });
    test(`${name} takes each of its ${coverage.transitions} transitions`, () => {
      expect(coverage.missingTransitions).toEqual([]);
    });
    test(`${name} describes each of its states`, () => {
      expect(coverage.undescribedStates).toEqual([]);
    });
    test(`${name} has no dead end`, () => {
      expect(deadEnds(explored)).toEqual([]);
    });
    if (model.invariant !== undefined) {
      test(`${name} keeps its invariants on every step`, () => {
        for (const edge of explored.edges) model.invariant?.(edge.step.after, edge.step.acts);
      });
    }
    if (model.crash !== undefined) {
      test(`${name} owes the same after a crash anywhere`, () => {
        expect(crashViolations(model, explored)).toEqual([]);
      });
    }
    test(`${name} as a live actor follows every drawn way`, async () => {
      const rig = {
        machine: model.machine,
        wire: model.wire,
        project: model.project ?? ((context: unknown) => context),
      };
      for (const path of edgeCover(explored)) await drive(rig, path);
    });
  });
};
