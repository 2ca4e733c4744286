/**
 * Plays the generated ways of a statechart on a cluster, and counts what the cluster did of it.
 *
 * Promises: ways are generated from what the stage says that a cluster can do, shortest ones that
 * take every transition and every kind of step; what is drawn and was not played is named, with
 * the reason.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Layer } from 'effect';
import { expect, inject, test } from 'vitest';
import type { AnyStateMachine, AnyTransitionDefinition } from 'xstate';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { kubeConnection } from '../../../src/effects/kube-connection.ts';
import { realTime } from '../../../src/effects/real-time.ts';
import { writeBudget } from '../../../src/effects/write-budget.ts';
import { makeWriteGate, WriteGate } from '../../../src/effects/write-gate.ts';
import { statesBelow, transitionName, transitionsOf } from '../harness/coverage.ts';
import type { Rig } from '../harness/driver.ts';
import {
  type Exploration,
  explore,
  type Explored,
  firstStep,
  stillInterpreter,
} from '../harness/explorer.ts';
import { edgeCover, kindOf, type Path, transitionCover } from '../harness/paths.ts';
import { type ActGate, behindGate, makeActGate } from './act-gate.ts';
import { drawnNames } from './drawn-names.ts';
import { type FaultLine, startFaultLine } from './fault-line.ts';
import { perform, type Performance } from './performance.ts';
import { handAt, type SiteAddress } from './site.ts';
import type { Moment, Mover, Services, Stage } from './stage.ts';

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

/** A model, as far as it is played. */
export interface Playable<World> {
  readonly name: string;
  readonly machine: AnyStateMachine;
  readonly exploration: Pick<
    Exploration<AnyStateMachine, World>,
    'inputs' | 'events' | 'project' | 'limit'
  >;
  readonly invariant: Rig['invariant'];
  readonly stage: Stage<World>;
  /** The ways that are driven over fakes. */
  readonly generated: () => readonly Path[];
}

const WAYS_TIMEOUT_MS = 280_000;
const NO_MOVES = { server: 0, line: 0, watch: 0, hand: 0, word: 0, clock: 0 };
const BY_CLUSTER: ReadonlySet<Mover> = new Set(['server', 'line', 'watch']);
const DEFECT = 'an act that breaks is a defect of ours, and no answer of a cluster';

const hindranceOf = <World>({ stage }: Playable<World>, world: World, moment: Moment) =>
  moment.event.type.startsWith('xstate.error.actor.') ? DEFECT : stage.hindrance(world, moment);

/** What may come, by the model and by the stage. */
const eventsOf = <World>({ exploration, stage }: Playable<World>) => {
  const further = Object.entries(stage.events ?? {})
    .map(([type, cases]) => [type, [...exploration.events[type] ?? [], ...cases]] as const);
  return { ...exploration.events, ...Object.fromEntries(further) };
};

/** What was found, as far as ways are made of it. */
type Ground<World> = Pick<Explored<World>, 'edges' | 'truncated'>;

/** What is found from one beginning. */
const exploredFrom = <World>(
  playable: Playable<World>,
  input: unknown,
  all: boolean,
): Explored<World> =>
  explore<AnyStateMachine, World>({
    machine: playable.machine,
    ...playable.exploration,
    inputs: [input],
    events: eventsOf(playable),
    limit: playable.stage.limit ?? playable.exploration.limit,
    world: playable.stage.world,
    record: playable.stage.follows,
    happens: (world, moment) => all || hindranceOf(playable, world, moment) === undefined,
  });

/** What is found from each beginning: what a cluster can do, or all that is drawn. */
const explored = <World>(playable: Playable<World>, all: boolean): Ground<World> => {
  const grounds = playable.exploration.inputs.map((input) => exploredFrom(playable, input, all));
  return {
    edges: grounds.flatMap(({ edges }) => edges),
    truncated: grounds.some(({ truncated }) => truncated),
  };
};

/** What is so before each step of a way. */
const worldsOf = <World>({ machine, stage }: Playable<World>, path: Path): readonly World[] => {
  const begun = firstStep(stillInterpreter(machine, path.input).begin());
  const worlds = [stage.follows(stage.world, begun)];
  for (const step of path.steps) {
    const world = worlds.at(-1);
    if (world !== undefined) worlds.push(stage.follows(world, step));
  }
  return worlds;
};

/** True when a cluster can go the whole way. */
const canGo = <World>(playable: Playable<World>, path: Path): boolean => {
  const worlds = worldsOf(playable, path);
  return path.steps.every((step, at) => {
    const world = worlds[at];
    return world !== undefined && hindranceOf(playable, world, step) === undefined;
  });
};

/** The generated ways that a cluster can go, and shortest ones to the rest of what it can do. */
const waysOf = <World>(playable: Playable<World>, ground: Ground<World>): readonly Path[] => {
  const ways = [...transitionCover(ground), ...edgeCover(ground)];
  const known = new Set(ways.flatMap(({ steps }) => steps.map(kindOf)));
  for (const way of playable.generated()) {
    if (way.steps.every((step) => known.has(kindOf(step))) || !canGo(playable, way)) continue;
    for (const step of way.steps) known.add(kindOf(step));
    ways.push(way);
  }
  return ways;
};

const WAY_THERE = 'nothing that a cluster can do leads there';

/** Why transitions were not played: what is in the way of the steps that would take them. */
const reasonsOf = <World>(
  playable: Playable<World>,
  missing: ReadonlySet<AnyTransitionDefinition>,
): readonly string[] => {
  const found = new Map<AnyTransitionDefinition, Set<string>>();
  for (const transition of missing) found.set(transition, new Set());
  for (const { from, step } of explored(playable, true).edges) {
    const why = hindranceOf(playable, from.world, step) ?? WAY_THERE;
    for (const transition of step.transitions) found.get(transition)?.add(why);
  }
  return [...found].map(([transition, reasons]) => {
    const telling = [...reasons].filter((reason) => reason !== WAY_THERE);
    const why = telling.length > 0 ? telling : [WAY_THERE];
    return `${transitionName(transition)}: ${why.join('; ')}`;
  });
};

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
const playAll = async <World>(
  playable: Playable<World>,
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

const resultOf = <World>(
  playable: Playable<World>,
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
  const missing = new Set(drawn.filter((transition) => !taken.has(transition)));
  return {
    machine: playable.name,
    site: site.name,
    calls: true,
    ways: performances.length,
    steps: moves.length,
    moves: count,
    byCluster: drawn.filter((transition) => byCluster.has(transition)).length,
    played: drawn.length - missing.size,
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

/** Registers the play of one statechart. */
export const describePlay = <World>(playable: Playable<World>): void => {
  const problem = inject('siteProblem');
  const title = `${playable.name} goes every way that a cluster can go`;
  if (problem !== undefined) return void test.skip(`${title} (not run: ${problem})`);
  test(title, async ({ task }) => {
    const site = givenSite();
    const ground = explored(playable, false);
    const cutShort = playable.stage.limit === undefined && ground.truncated;
    expect(cutShort, 'there are more configurations than are looked at').toBe(false);
    const performances = await playAll(playable, site, waysOf(playable, ground));
    task.meta.play = resultOf(playable, site, performances);
  }, WAYS_TIMEOUT_MS);
};

/** Says that a statechart has nothing to play. */
export const describeNoPlay = (name: string, machine: AnyStateMachine): void => {
  if (inject('siteProblem') !== undefined) return;
  test(`${name} makes no calls of its own`, ({ task }) => {
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
