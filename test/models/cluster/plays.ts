/**
 * Plays the generated ways of a statechart on a cluster, and counts what the cluster did of it.
 *
 * Promises: every way is played on a wire, at a gate and with names of its own; what is drawn and
 * was not played is named, with the reason.
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
import { perform, type Performance } from './performance.ts';
import { explored, type Playable, reasonsOf, shortestWays, waysOf, worldsOf } from './playable.ts';
import { handAt, type SiteAddress } from './site.ts';
import type { Mover, Services } from './stage.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Which ways are played: all, or those that together take every transition. */
    readonly ways?: 'all' | 'shortest';
    /** The cluster on which ways are played. */
    readonly site?: SiteAddress;
    /** Why there is none. */
    readonly siteProblem?: string;
  }
  interface TaskMeta {
    /** What the reporter of models prints. */
    play?: PlayResult;
  }
}

/** What was played of one statechart on one cluster. */
export interface PlayResult {
  readonly machine: string;
  readonly site: SiteAddress['name'];
  /** False for a statechart without calls of its own. */
  readonly calls: boolean;
  readonly ways: number;
  readonly steps: number;
  /** Steps by who made the actor move. */
  readonly moves: Readonly<Record<Mover, number>>;
  /** Transitions by acts that the cluster answered, or by news from it. */
  readonly byCluster: number;
  readonly played: number;
  readonly transitions: number;
  /** Transitions that were not played, each with why. */
  readonly unplayed: readonly string[];
}

const WAYS_TIMEOUT_MS = 280_000;
const NO_MOVES = { server: 0, line: 0, watch: 0, hand: 0, word: 0, clock: 0 };
const BY_CLUSTER: ReadonlySet<Mover> = new Set(['server', 'line', 'watch']);

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

let played = 0;

/** Plays all ways, one after the other. */
export const playAll = async <ActorEnvironment>(
  playable: Playable<ActorEnvironment>,
  site: SiteAddress,
  ways: readonly Path[],
): Promise<readonly Performance[]> => {
  const { stage, exploration: { project }, invariant } = playable;
  const directory = await mkdtemp(join(tmpdir(), 'tidegate-models-'));
  const hand = handAt(site);
  const quiet = await startFaultLine(site, directory);
  const theatre = await stage.open({ site, hand, source: quiet.source });
  const performances: Performance[] = [];
  try {
    for (const path of ways) {
      const number = played += 1;
      const line = await startFaultLine(site, directory);
      const [gate, names] = [makeActGate(), drawnNames()];
      const place = { site, number, hand, line, gate, services: servicesOf(line, gate), names };
      const scene = await theatre.begin(place, path.input);
      const worlds = worldsOf(playable, path);
      const play = { path, worlds, project, invariant, scene, gate, line, names };
      try {
        performances.push(await perform(play));
      } finally {
        await scene.stop();
        await line.stop();
      }
    }
  } finally {
    await theatre.close();
    await quiet.stop();
    await hand.close();
    await rm(directory, { recursive: true, force: true });
  }
  return performances;
};

const resultOf = <ActorEnvironment>(
  playable: Playable<ActorEnvironment>,
  site: SiteAddress,
  performances: readonly Performance[],
): PlayResult => {
  const drawn = statesBelow(playable.machine.root).flatMap(transitionsOf);
  const moves = performances.flatMap((one) => one.moves);
  const count: Record<Mover, number> = { ...NO_MOVES };
  for (const { by } of moves) count[by] += 1;
  const begun = playable.exploration.inputs.flatMap((input) =>
    stillInterpreter(playable.machine, input).begin().transitions
  );
  const taken = new Set([...begun, ...moves.flatMap(({ transitions }) => transitions)]);
  const byCluster = new Set(
    moves.filter(({ by }) => BY_CLUSTER.has(by)).flatMap(({ transitions }) => transitions),
  );
  const missing = drawn.filter((transition) => !taken.has(transition));
  return {
    machine: playable.name,
    site: site.name,
    calls: true,
    ways: performances.length,
    steps: moves.length,
    moves: count,
    byCluster: drawn.filter((transition) => byCluster.has(transition)).length,
    played: drawn.length - missing.length,
    transitions: drawn.length,
    unplayed: reasonsOf(playable, missing),
  };
};

/** The cluster that this run plays on. */
const givenSite = (): SiteAddress => {
  const site = inject('site');
  if (site === undefined) throw new Error('The run did not say on which cluster to play');
  return site;
};

/** Reported as not run, with why; in CI it fails instead. */
const notRun = (title: string, problem: string): void => {
  if (isContinuousIntegration()) test(title, () => expect.fail(problem));
  else test.skip(`${title} (not run: ${problem})`);
};

/** Registers the play of one statechart. */
export const describePlay = <ActorEnvironment>(playable: Playable<ActorEnvironment>): void => {
  const title = `${playable.name} goes every way that a cluster can go`;
  const problem = inject('siteProblem');
  if (problem !== undefined) return notRun(title, problem);
  test(title, async ({ task }) => {
    const site = givenSite();
    const ground = explored(playable, false);
    const cutShort = playable.stage.limit === undefined && ground.truncated;
    expect(cutShort, 'there are more configurations than are looked at').toBe(false);
    const ways = inject('ways') === 'shortest' ? shortestWays(ground) : waysOf(playable, ground);
    const performances = await playAll(playable, site, ways);
    task.meta.play = resultOf(playable, site, performances);
  }, WAYS_TIMEOUT_MS);
};

/** Says that a statechart has nothing to play. */
export const describeNoPlay = (name: string, machine: AnyStateMachine): void => {
  const title = `${name} makes no calls of its own`;
  const problem = inject('siteProblem');
  if (problem !== undefined) return notRun(title, problem);
  test(title, ({ task }) => {
    task.meta.play = {
      machine: name,
      site: givenSite().name,
      calls: false,
      ways: 0,
      steps: 0,
      moves: NO_MOVES,
      byCluster: 0,
      played: 0,
      transitions: statesBelow(machine.root).flatMap(transitionsOf).length,
      unplayed: [],
    };
  });
};
