/**
 * Executes the generated paths of a statechart on a cluster and reports coverage.
 *
 * Promises: every path has its own wire, gate and names; a transition that was not executed is
 * reported with its reason.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Layer } from 'effect';
import { expect, inject, test } from 'vitest';
import type { AnyStateMachine } from 'xstate';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { kubeConnection } from '../../../src/effects/kube-connection.ts';
import { realTime } from '../../../src/effects/real-time.ts';
import { writeBudget } from '../../../src/effects/write-budget.ts';
import { makeWriteGate, WriteGate } from '../../../src/effects/write-gate.ts';
import { isContinuousIntegration } from '../../../tools/testbed/environment.ts';
import { statesBelow, transitionsOf } from '../harness/coverage.ts';
import { stillInterpreter } from '../harness/interpreter.ts';
import type { Path } from '../harness/paths.ts';
import { type ActGate, behindGate, makeActGate } from './act-gate.ts';
import { drawnNames } from './drawn-names.ts';
import { type FaultLine, startFaultLine } from './fault-line.ts';
import { executePath, type PathResult } from './path-execution.ts';
import {
  type Executable,
  explored,
  pathsOf,
  reasonsOf,
  shortestPaths,
  worldsOf,
} from './executable.ts';
import { handAt, type SiteAddress } from './site.ts';
import type { Services, StepSource } from './cluster-harness.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Which paths to execute: all, or a set that covers every transition. */
    readonly paths?: 'all' | 'shortest';
    /** The cluster on which paths are executed. */
    readonly site?: SiteAddress;
    /** Why there is none. */
    readonly siteProblem?: string;
  }
  interface TaskMeta {
    /** What the reporter of models prints. */
    execution?: ExecutionResult;
  }
}

/** What was executed of one statechart on one cluster. */
export interface ExecutionResult {
  readonly machine: string;
  readonly site: SiteAddress['name'];
  /** False for a statechart without requests of its own. */
  readonly calls: boolean;
  readonly paths: number;
  readonly steps: number;
  /** Steps by who made the actor move. */
  readonly moves: Readonly<Record<StepSource, number>>;
  /** Transitions by acts that the cluster answered, or by news from it. */
  readonly byCluster: number;
  readonly executed: number;
  readonly transitions: number;
  /** Transitions that were not executed, each with why. */
  readonly unexecuted: readonly string[];
}

/** Thousands of paths, of a few milliseconds each on calm cores. */
const PATHS_TIMEOUT_MS = 900_000;
const NO_MOVES = { server: 0, line: 0, watch: 0, hand: 0, word: 0, clock: 0 };
const BY_CLUSTER: ReadonlySet<StepSource> = new Set(['server', 'line', 'watch']);

const servicesOf = (line: FaultLine, gate: ActGate): Services => {
  const telemetry = silentTelemetry;
  const writeGate = makeWriteGate(realTime);
  writeGate.openUntil(Number.POSITIVE_INFINITY);
  const api = Layer.provide(
    behindGate(gate),
    Layer.orDie(kubeConnection({ source: line.source, version: 'models', telemetry })),
  );
  const open = Layer.succeed(WriteGate, writeGate);
  return Layer.provideMerge(
    writeBudget({ qps: 1000, burst: 1000, telemetry }),
    Layer.merge(api, open),
  );
};

let executed = 0;

/** Executes all paths, one after the other. */
export const executeAll = async <World>(
  executable: Executable<World>,
  site: SiteAddress,
  paths: readonly Path[],
): Promise<readonly PathResult[]> => {
  const { harness, exploration: { project }, invariant } = executable;
  const { answers = {} } = harness;
  const directory = await mkdtemp(join(tmpdir(), 'tidegate-models-'));
  const hand = handAt(site);
  const faultLine = await startFaultLine(site, directory);
  const session = await harness.open({ site, hand, source: faultLine.source });
  const results: PathResult[] = [];
  try {
    for (const path of paths) {
      const number = executed += 1;
      const line = await startFaultLine(site, directory);
      const [gate, names] = [makeActGate(), drawnNames()];
      const environment = {
        site,
        number,
        hand,
        line,
        gate,
        services: servicesOf(line, gate),
        names,
      };
      const run = await session.begin(environment, path.input);
      const worlds = worldsOf(executable, path);
      const execution = { path, worlds, answers, project, invariant, run, gate, line, names };
      try {
        results.push(await executePath(execution));
      } finally {
        await run.stop();
        await line.stop();
      }
    }
  } finally {
    await session.close();
    await faultLine.stop();
    await hand.close();
    await rm(directory, { recursive: true, force: true });
  }
  return results;
};

const resultOf = <World>(
  executable: Executable<World>,
  site: SiteAddress,
  results: readonly PathResult[],
): ExecutionResult => {
  const drawn = statesBelow(executable.machine.root).flatMap(transitionsOf);
  const moves = results.flatMap((one) => one.moves);
  const count: Record<StepSource, number> = { ...NO_MOVES };
  for (const { by } of moves) count[by] += 1;
  const begun = executable.exploration.inputs.flatMap((input) =>
    stillInterpreter(executable.machine, input).begin().transitions
  );
  const taken = new Set([...begun, ...moves.flatMap(({ transitions }) => transitions)]);
  const byCluster = new Set(
    moves.filter(({ by }) => BY_CLUSTER.has(by)).flatMap(({ transitions }) => transitions),
  );
  const missing = drawn.filter((transition) => !taken.has(transition));
  return {
    machine: executable.name,
    site: site.name,
    calls: true,
    paths: results.length,
    steps: moves.length,
    moves: count,
    byCluster: drawn.filter((transition) => byCluster.has(transition)).length,
    executed: drawn.length - missing.length,
    transitions: drawn.length,
    unexecuted: reasonsOf(executable, missing),
  };
};

/** The cluster that this run executes on. */
const givenSite = (): SiteAddress => {
  const site = inject('site');
  if (site === undefined) throw new Error('The run did not say on which cluster to execute');
  return site;
};

/** Reported as not run, with why; in CI it fails instead. */
const notRun = (title: string, problem: string): void => {
  if (isContinuousIntegration()) test(title, () => expect.fail(problem));
  else test.skip(`${title} (not run: ${problem})`);
};

/** Registers the execution of one statechart. */
export const describeExecution = <World>(
  executable: Executable<World>,
): void => {
  const title = `${executable.name} goes every path that a cluster can go`;
  const problem = inject('siteProblem');
  if (problem !== undefined) return notRun(title, problem);
  test(title, async ({ task }) => {
    const site = givenSite();
    const ground = explored(executable, false);
    const cutShort = executable.harness.limit === undefined && ground.truncated;
    expect(cutShort, 'there are more configurations than are looked at').toBe(false);
    const paths = inject('paths') === 'shortest'
      ? shortestPaths(ground)
      : pathsOf(executable, ground);
    const results = await executeAll(executable, site, paths);
    expect(results.length, 'paths').toBeGreaterThan(0);
    task.meta.execution = resultOf(executable, site, results);
  }, PATHS_TIMEOUT_MS);
};

/** Reports that a statechart has nothing to execute. */
export const describeNoCalls = (name: string, machine: AnyStateMachine): void => {
  const title = `${name} makes no calls of its own`;
  const problem = inject('siteProblem');
  if (problem !== undefined) return notRun(title, problem);
  test(title, ({ task }) => {
    task.meta.execution = {
      machine: name,
      site: givenSite().name,
      calls: false,
      paths: 0,
      steps: 0,
      moves: NO_MOVES,
      byCluster: 0,
      executed: 0,
      transitions: statesBelow(machine.root).flatMap(transitionsOf).length,
      unexecuted: [],
    };
  });
};
