/**
 * Which of the ways of a statechart a cluster can go, and why not the others.
 *
 * Promises: the same model and stage give the same ways; every way that is given can be gone as far
 * as the stage knows; a transition that none of them takes has a reason.
 */
import type { AnyStateMachine, AnyTransitionDefinition } from 'xstate';
import { transitionName } from '../harness/coverage.ts';
import type { Rig } from '../harness/driver.ts';
import { type Exploration, explore, type Explored } from '../harness/explorer.ts';
import { firstStep, stillInterpreter } from '../harness/interpreter.ts';
import { edgeCover, kindOf, type Path, transitionCover } from '../harness/paths.ts';
import type { Moment, Stage } from './stage.ts';

/** A model, as far as it is played. */
export interface Playable<ActorEnvironment> {
  readonly name: string;
  readonly machine: AnyStateMachine;
  readonly exploration: Pick<
    Exploration<AnyStateMachine, ActorEnvironment>,
    'inputs' | 'events' | 'project' | 'limit'
  >;
  readonly invariant: Rig['invariant'];
  readonly stage: Stage<ActorEnvironment>;
  /** The ways that are driven over fakes. */
  readonly generated: () => readonly Path[];
}

const ERROR = 'xstate.error.actor.';
const DEFECT = 'an act that breaks is a defect of ours, and no answer of a cluster';

const hindranceOf = <ActorEnvironment>(
  { stage }: Playable<ActorEnvironment>,
  world: ActorEnvironment,
  moment: Moment,
) => moment.event.type.startsWith(ERROR) ? DEFECT : stage.hindrance(world, moment);

/** What may come, by the model and by the stage. */
const eventsOf = <ActorEnvironment>({ exploration, stage }: Playable<ActorEnvironment>) => {
  const further = Object.entries(stage.events ?? {})
    .map(([type, cases]) => [type, [...exploration.events[type] ?? [], ...cases]] as const);
  return { ...exploration.events, ...Object.fromEntries(further) };
};

/** What was found, as far as ways are made of it. */
export type Ground<ActorEnvironment> = Pick<Explored<ActorEnvironment>, 'edges' | 'truncated'>;

/** What is found from one beginning. */
const exploredFrom = <ActorEnvironment>(
  playable: Playable<ActorEnvironment>,
  input: unknown,
  all: boolean,
): Explored<ActorEnvironment> =>
  explore<AnyStateMachine, ActorEnvironment>({
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
export const explored = <ActorEnvironment>(
  playable: Playable<ActorEnvironment>,
  all: boolean,
): Ground<ActorEnvironment> => {
  const grounds = playable.exploration.inputs.map((input) => exploredFrom(playable, input, all));
  return {
    edges: grounds.flatMap(({ edges }) => edges),
    truncated: grounds.some(({ truncated }) => truncated),
  };
};

/** What is so before each step of a way. */
export const worldsOf = <ActorEnvironment>(
  { machine, stage }: Playable<ActorEnvironment>,
  path: Path,
): readonly ActorEnvironment[] => {
  const begun = firstStep(stillInterpreter(machine, path.input).begin());
  const worlds = [stage.follows(stage.world, begun)];
  for (const step of path.steps) {
    const world = worlds.at(-1);
    if (world !== undefined) worlds.push(stage.follows(world, step));
  }
  return worlds;
};

/** True when a cluster can go the whole way. */
const canGo = <ActorEnvironment>(playable: Playable<ActorEnvironment>, path: Path): boolean => {
  const worlds = worldsOf(playable, path);
  return path.steps.every((step, at) => {
    const world = worlds[at];
    return world !== undefined && hindranceOf(playable, world, step) === undefined;
  });
};

/** Ways of one name are the same. */
const nameOf = ({ input, steps }: Path): string =>
  JSON.stringify([input, steps.map(({ event }) => event)]);

/** Ways that together take every transition that was found. */
export const shortestWays = (ground: Ground<unknown>): readonly Path[] => transitionCover(ground);

/**
 * Shortest ways to everything that a cluster can do; where not all of it was looked at, also those
 * of the generated ways that a cluster can go.
 */
export const waysOf = <ActorEnvironment>(
  playable: Playable<ActorEnvironment>,
  ground: Ground<ActorEnvironment>,
): readonly Path[] => {
  const named = [...shortestWays(ground), ...edgeCover(ground)]
    .map((way) => [nameOf(way), way] as const);
  const ways = [...new Map(named).values()];
  const known = new Set(ways.flatMap(({ steps }) => steps.map(kindOf)));
  for (const way of ground.truncated ? playable.generated() : []) {
    if (way.steps.every((step) => known.has(kindOf(step))) || !canGo(playable, way)) continue;
    for (const step of way.steps) known.add(kindOf(step));
    ways.push(way);
  }
  return ways;
};

const WAY_THERE = 'nothing that a cluster can do leads there';

/** What is in the way of the steps that would take these transitions. */
const hindrancesOf = <ActorEnvironment>(
  playable: Playable<ActorEnvironment>,
  missing: readonly AnyTransitionDefinition[],
): ReadonlyMap<AnyTransitionDefinition, ReadonlySet<string>> => {
  const found = new Map(missing.map((transition) => [transition, new Set<string>()]));
  if (missing.length === 0) return found;
  for (const { from, step } of explored(playable, true).edges) {
    const why = hindranceOf(playable, from.world, step) ?? WAY_THERE;
    for (const transition of step.transitions) found.get(transition)?.add(why);
  }
  return found;
};

/** Why transitions were not played. */
export const reasonsOf = <ActorEnvironment>(
  playable: Playable<ActorEnvironment>,
  missing: readonly AnyTransitionDefinition[],
): readonly string[] => {
  const isDefect = ({ eventType }: AnyTransitionDefinition) => `${eventType}`.startsWith(ERROR);
  const found = hindrancesOf(playable, missing.filter((transition) => !isDefect(transition)));
  return missing.map((transition) => {
    const reasons = [...found.get(transition) ?? [DEFECT]];
    const telling = reasons.filter((reason) => reason !== WAY_THERE);
    const why = telling.length > 0 ? telling : [WAY_THERE];
    return `${transitionName(transition)}: ${why.join('; ')}`;
  });
};
