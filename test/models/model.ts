/**
 * Generated tests of a statechart: every state and transition is visited, a settled state can be
 * reached from everywhere, invariants hold, a crash anywhere leaves the same obligations, and
 * covering paths are driven through the live actor.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { afterAll, describe, expect, inject, test } from 'vitest';
import type {
  AnyMachineSnapshot,
  AnyStateMachine,
  ContextFrom,
  EventObject,
  InputFrom,
} from 'xstate';
import { describeExecution, describeNoCalls } from './cluster/executions.ts';
import type { ClusterHarness } from './cluster/cluster-harness.ts';
import { type CrashInvariant, crashViolations, receivedIn } from './harness/crash.ts';
import { crashInRegistry } from './harness/registry-crash.ts';
import { deadEnds, type Settles } from './harness/dead-ends.ts';
import { type Coverage, coverageOf } from './harness/coverage.ts';
import { drive, type InvokedActors } from './harness/driver.ts';
import { explore, type Explored } from './harness/explorer.ts';
import { forgetting } from './harness/forgetting.ts';
import { checkedWalks, type Rules } from './harness/independent-checks.ts';
import { firstStep, type Step, stillInterpreter } from './harness/interpreter.ts';
import {
  documentedRow,
  mutantsIn,
  type MutationResult,
  mutationResult,
  rowsOf,
} from './harness/mutation-run.ts';
import {
  edgeCover,
  type Ground,
  randomPaths,
  simplePaths,
  transitionCover,
} from './harness/paths.ts';
import { type PathSet, transcriptsOf } from './harness/transcript.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The purpose of the run; default: test the machines. */
    readonly purpose?: 'mutants' | 'cluster';
  }
  interface TaskMeta {
    /** What the reporter of models prints. */
    coverage?: ModelCoverage;
    mutation?: MutationResult;
  }
}

/** The size of a model's exploration. */
export interface ModelCoverage extends Coverage {
  readonly machine: string;
  readonly configurations: number;
  readonly transcripts: number;
  readonly paths: number;
}

export type { InvokedActors };

/** What a model test needs to know about a statechart. */
export interface Model<Machine extends AnyStateMachine, World> {
  readonly machine: Machine;
  readonly inputs: readonly InputFrom<Machine>[];
  /** Payload cases by event type; a type that is not named gets one event without payload. */
  readonly events?: Readonly<Record<string, readonly object[]>>;
  /** The bounded part of the context that distinguishes configurations; default: all of it. */
  readonly project?: (context: ContextFrom<Machine>) => unknown;
  /** Throws when broken. `actions` has `invoke:<id>`s, too, of the step that led here. */
  readonly invariant?: (snapshot: AnyMachineSnapshot, actions: readonly string[]) => void;
  /**
   * As `invariant`, but sees the event and the state before it; not checked on clusters, where
   * objects have other names.
   */
  readonly stepInvariant?: (step: Step) => void;
  /** Whether nothing more needs to happen; default: the state is tagged as settled. */
  readonly settles?: Settles;
  readonly crash?: CrashInvariant<InputFrom<Machine>, World>;
  /** The statechart as `src/actors` provides it, over fakes that answer through `invoked`. */
  readonly wire?: (invoked: InvokedActors) => AnyStateMachine;
  /** False for events that the environment cannot produce: the exploration skips them. */
  readonly happens?: (snapshot: AnyMachineSnapshot, event: EventObject) => boolean;
  /** The most configurations that it may have; an exploration that is cut short fails. */
  readonly limit?: number;
}

/** A model with all that its generated tests need. */
export interface TestedModel<Machine extends AnyStateMachine, World, Cluster>
  extends Model<Machine, World> {
  readonly crash: CrashInvariant<InputFrom<Machine>, World>;
  /** The type of an event: the machine that keeps nothing of it must break the crash law. */
  readonly forgets: string;
  /** Executes its paths on a cluster; none for a statechart without requests of its own. */
  readonly harness?: ClusterHarness<Cluster>;
}

const CONFIGURATIONS_MAX = 5000;

/** Walks the whole statechart of a model, or one like it. */
export const exploreModel = <Machine extends AnyStateMachine, World>(
  model: Model<Machine, World>,
  machine: AnyStateMachine = model.machine,
): Explored<World | undefined> =>
  explore<AnyStateMachine, World | undefined>({
    machine,
    inputs: model.inputs,
    events: model.events ?? {},
    project: model.project ?? ((context) => context),
    world: model.crash?.world,
    record: (world, step) =>
      model.crash === undefined || world === undefined
        ? undefined
        : model.crash.record(world, receivedIn(step)),
    limit: model.limit ?? CONFIGURATIONS_MAX,
  });

/** What holds on every step of a model. */
const rulesOf = <Machine extends AnyStateMachine, World>(
  { invariant, stepInvariant, settles, crash }: Model<Machine, World>,
): Rules<InputFrom<Machine>, World> => ({
  invariant,
  stepInvariant,
  settles,
  crash,
});

/** The recorded and the further paths of a model that was walked. */
const pathsOf = <Machine extends AnyStateMachine, World>(
  model: Model<Machine, World>,
  explored: Explored<World | undefined>,
): PathSet => {
  const ground: Ground = {
    machine: model.machine,
    inputs: model.inputs,
    events: model.events ?? {},
    project: model.project ?? ((context: unknown) => context),
    happens: model.happens ?? (() => true),
  };
  return {
    recorded: transitionCover(explored),
    further: [...edgeCover(explored), ...simplePaths(ground), ...randomPaths(ground)],
  };
};

const transcriptsFile = (name: string): URL => new URL(`transcripts/${name}.txt`, import.meta.url);

/** Compares transcripts with the committed ones; `--emit` re-records them. */
const checkTranscripts = (name: string, transcript: string): void => {
  const file = transcriptsFile(name);
  if (process.env['UPDATE_GOLDEN'] !== undefined) writeFileSync(file, transcript);
  expect(transcript, 're-record them with "npm run models -- --emit"').toBe(
    existsSync(file) ? readFileSync(file, 'utf8') : '',
  );
};

/** The share of the mutants of each machine that checks other than transcripts must catch. */
const INDEPENDENTLY_CAUGHT_MIN = 0.8;

/** Configurations of a mutant that are looked at: more would show little and take minutes. */
const MUTANT_CONFIGURATIONS_MAX = 400;

/** Tries the generated tests themselves: what they do not catch is named. */
const describeMutants = <Machine extends AnyStateMachine, World, Cluster>(
  name: string,
  model: TestedModel<Machine, World, Cluster>,
): void => {
  test(`checks that know what is right catch four of five mutants of ${name}`, ({ task }) => {
    const result = mutationResult({
      machine: model.machine,
      rules: rulesOf(model),
      paths: pathsOf(model, exploreModel(model)),
      explored: (machine) => exploreModel({ ...model, limit: MUTANT_CONFIGURATIONS_MAX }, machine),
    });
    task.meta.mutation = result;
    const { made, caught } = mutantsIn(result);
    expect(caught / made, [...result.byTranscriptsOnly, ...result.survivors].join('\n'))
      .toBeGreaterThanOrEqual(INDEPENDENTLY_CAUGHT_MIN);
    const page = readFileSync(new URL('../../docs/lifecycle-tests.md', import.meta.url), 'utf8');
    expect(rowsOf(page, result.machine), 'correct the table in docs/lifecycle-tests.md')
      .toEqual([documentedRow(result)]);
  });
};

/** Executes the paths on a cluster. */
const describeOnCluster = <Machine extends AnyStateMachine, World, Cluster>(
  name: string,
  model: TestedModel<Machine, World, Cluster>,
): void => {
  const { machine, harness, inputs, events = {}, project, invariant, limit } = model;
  if (harness === undefined) {
    describeNoCalls(name, machine);
    return;
  }
  const exploration = {
    inputs,
    events,
    project: project ?? ((context: unknown) => context),
    limit: limit ?? CONFIGURATIONS_MAX,
  };
  const generated = () => {
    const { recorded, further } = pathsOf(model, exploreModel(model));
    return [...recorded, ...further];
  };
  describeExecution({ name, machine, exploration, invariant, harness, generated });
};

/** The cluster's state in a model that does not define one. */
const hasWorld = <World>(explored: Explored<World | undefined>): explored is Explored<World> =>
  [...explored.configurations.values()].every(({ world }) => world !== undefined);

/** Crash-anywhere checks, on the pure statechart and on live actors in their registry. */
export const crashChecks = <Machine extends AnyStateMachine, World>(
  { machine, crash }: Model<Machine, World>,
  explored: Explored<World | undefined>,
) =>
  crash === undefined || !hasWorld(explored) ? undefined : {
    violations: () => crashViolations(machine, crash, explored),
    inRegistry: () => crashInRegistry(machine, crash, explored),
  };

const NO_FURTHER_RULES = {
  invariant: undefined,
  stepInvariant: undefined,
  settles: undefined,
};

const describeCrashes = <Machine extends AnyStateMachine, World, Cluster>(
  name: string,
  model: TestedModel<Machine, World, Cluster>,
  { explored, paths }: {
    readonly explored: Explored<World | undefined>;
    readonly paths: PathSet;
  },
): void => {
  const checks = crashChecks(model, explored);
  if (checks === undefined) throw new Error(`${name} has a configuration without a world`);
  test(`${name} owes the same after a crash anywhere`, () => {
    expect(checks.violations()).toEqual([]);
  });
  test(`${name} that forgets "${model.forgets}" owes something else after a crash`, () => {
    const rules = { ...NO_FURTHER_RULES, crash: model.crash };
    const walks = [...paths.recorded, ...paths.further];
    const forgetful = forgetting(model.machine, model.forgets);
    expect(checkedWalks(model.machine, rules, walks).found).toBeUndefined();
    expect(checkedWalks(forgetful, rules, walks).found?.check).toBe('crash law');
  });
  test(`${name} loses nothing when its actor crashes in any state and is restarted`, () => {
    const { crashes, counted, violations } = checks.inRegistry();
    expect(violations).toEqual([]);
    expect(counted, 'crashes that the registry counted').toBe(crashes);
  });
};

/** Registers the tests of one statechart. */
export const describeModel = <
  Machine extends AnyStateMachine,
  World,
  Cluster = undefined,
>(
  name: string,
  model: TestedModel<Machine, World, Cluster>,
): void => {
  switch (inject('purpose')) {
    case 'mutants':
      return describeMutants(name, model);
    case 'cluster':
      return describeOnCluster(name, model);
  }
  describe(name, () => {
    const explored = exploreModel(model);
    const coverage = coverageOf(model.machine, explored);
    const paths = pathsOf(model, explored);
    // It has every snapshot: the next files of this process have use for the memory.
    afterAll(() => void Object.assign(explored, { configurations: new Map(), edges: [] }));

    test(`${name} is explored to its end`, ({ task }) => {
      task.meta.coverage = {
        machine: name,
        configurations: explored.configurations.size,
        transcripts: paths.recorded.length,
        paths: paths.further.length,
        ...coverage,
      };
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
    test(`${name} can settle wherever it is`, () => {
      expect(deadEnds(explored, model.settles)).toEqual([]);
    });
    test(`${name} keeps its invariants on every step`, () => {
      for (const input of model.inputs) {
        const begun = firstStep(stillInterpreter(model.machine, input).begin());
        model.stepInvariant?.(begun);
        model.invariant?.(begun.after, begun.actions);
      }
      // Many paths lead to one configuration by the same actions: one check suffices.
      const seen = new Set<string>();
      for (const { toKey, step } of explored.edges) {
        model.stepInvariant?.(step);
        const key = `${toKey} ${step.actions.join()}`;
        if (seen.has(key)) continue;
        seen.add(key);
        model.invariant?.(step.after, step.actions);
      }
    });
    describeCrashes(name, model, { explored, paths });
    test(`${name} follows its recorded transcripts`, () => {
      checkTranscripts(name, transcriptsOf(model.machine, paths));
    });
    test(`${name} as a live actor follows every generated path`, async () => {
      const rig = {
        machine: model.machine,
        wire: model.wire,
        project: model.project ?? ((context: unknown) => context),
        invariant: model.invariant,
        stepInvariant: model.stepInvariant,
      };
      for (const path of paths.further) await drive(rig, path);
    });
  });
};
