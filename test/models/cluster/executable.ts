/**
 * Selects the paths of a statechart that can be executed on a cluster, with a reason for each other
 * one.
 *
 * Promises: deterministic for a model and harness; every selected path is executable according to
 * the harness; a transition that no selected path takes has a reason.
 */
import type { AnyStateMachine, AnyTransitionDefinition } from 'xstate';
import { transitionName } from '../harness/coverage.ts';
import type { Rig } from '../harness/driver.ts';
import { type Exploration, explore, type Explored } from '../harness/explorer.ts';
import { firstStep, stillInterpreter } from '../harness/interpreter.ts';
import { edgeCover, kindsOf, type Path, transitionCover } from '../harness/paths.ts';
import type { ClusterHarness, Moment } from './cluster-harness.ts';

/** A model, as far as it is executed. */
export interface Executable<World> {
  readonly name: string;
  readonly machine: AnyStateMachine;
  readonly exploration: Pick<
    Exploration<AnyStateMachine, World>,
    'inputs' | 'events' | 'project' | 'limit'
  >;
  readonly invariant: Rig['invariant'];
  readonly harness: ClusterHarness<World>;
  /** The paths that are driven over fakes. */
  readonly generated: () => readonly Path[];
}

const ERROR = 'xstate.error.actor.';
const DEFECT = 'an act that breaks is a defect of ours, and no answer of a cluster';

const hindranceOf = <World>(
  { harness }: Executable<World>,
  world: World,
  moment: Moment,
) => moment.event.type.startsWith(ERROR) ? DEFECT : harness.hindrance(world, moment);

/** What may come, by the model and by the harness. */
const eventsOf = <World>({ exploration, harness }: Executable<World>) => {
  const further = Object.entries(harness.events ?? {})
    .map(([type, cases]) => [type, [...exploration.events[type] ?? [], ...cases]] as const);
  return { ...exploration.events, ...Object.fromEntries(further) };
};

/** The explored configurations, as far as paths need them. */
export type Ground<World> = Pick<Explored<World>, 'edges' | 'truncated'>;

/** What may happen in an exploration. */
type Happens<World> = (world: World, moment: Moment) => boolean;

/** The exploration from one initial state. */
const exploredFrom = <World>(
  executable: Executable<World>,
  input: unknown,
  happens: Happens<World>,
): Explored<World> =>
  explore<AnyStateMachine, World>({
    machine: executable.machine,
    ...executable.exploration,
    inputs: [input],
    events: eventsOf(executable),
    limit: executable.harness.limit ?? executable.exploration.limit,
    world: executable.harness.world,
    record: executable.harness.follows,
    happens,
  });

/** The exploration from each initial state: restricted to the cluster's abilities, or complete. */
export const explored = <World>(
  executable: Executable<World>,
  all: boolean,
): Ground<World> => {
  const { exploration: { inputs }, harness: { parts = [] } } = executable;
  const isPossible: Happens<World> = (world, moment) =>
    hindranceOf(executable, world, moment) === undefined;
  const possible = [() => true, ...parts].map((part): Happens<World> => (world, moment) =>
    part(moment) && isPossible(world, moment)
  );
  const kinds = all ? [() => true] : possible;
  const grounds = inputs.flatMap((input) =>
    kinds.map((happens) => exploredFrom(executable, input, happens))
  );
  return {
    edges: grounds.flatMap(({ edges }) => edges),
    truncated: grounds.some(({ truncated }) => truncated),
  };
};

/** The state before each step of a path. */
export const worldsOf = <World>(
  { machine, harness }: Executable<World>,
  path: Path,
): readonly World[] => {
  const begun = firstStep(stillInterpreter(machine, path.input).begin());
  const worlds = [harness.follows(harness.world, begun)];
  for (const step of path.steps) {
    const world = worlds.at(-1);
    if (world !== undefined) worlds.push(harness.follows(world, step));
  }
  return worlds;
};

/** True when the whole path can be executed. */
const canExecute = <World>(executable: Executable<World>, path: Path): boolean => {
  const worlds = worldsOf(executable, path);
  return path.steps.every((step, at) => {
    const world = worlds[at];
    return world !== undefined && hindranceOf(executable, world, step) === undefined;
  });
};

/** PathSet of one name are the same. */
const nameOf = ({ input, steps }: Path): string =>
  JSON.stringify([input, steps.map(({ event }) => event)]);

/** PathSet that together take every transition that was found. */
export const shortestPaths = (ground: Ground<unknown>): readonly Path[] => transitionCover(ground);

/**
 * Shortest paths to everything that a cluster can do; where not all of it was looked at, also those
 * of the generated paths that can be executed.
 */
export const pathsOf = <World>(
  executable: Executable<World>,
  ground: Ground<World>,
): readonly Path[] => {
  const named = [...shortestPaths(ground), ...edgeCover(ground)]
    .map((path) => [nameOf(path), path] as const);
  const paths = [...new Map(named).values()];
  const known = new Set(paths.flatMap(({ steps }) => steps.flatMap(kindsOf)));
  for (const path of ground.truncated ? executable.generated() : []) {
    const kinds = path.steps.flatMap(kindsOf);
    if (kinds.every((kind) => known.has(kind)) || !canExecute(executable, path)) continue;
    for (const kind of kinds) known.add(kind);
    paths.push(path);
  }
  return paths;
};

const NO_PATH = 'nothing that a cluster can do leads there';

/** What hinders the steps that would take these transitions. */
const hindrancesOf = <World>(
  executable: Executable<World>,
  missing: readonly AnyTransitionDefinition[],
): ReadonlyMap<AnyTransitionDefinition, ReadonlySet<string>> => {
  const found = new Map(missing.map((transition) => [transition, new Set<string>()]));
  if (missing.length === 0) return found;
  for (const { from, step } of explored(executable, true).edges) {
    const why = hindranceOf(executable, from.world, step) ?? NO_PATH;
    for (const transition of step.transitions) found.get(transition)?.add(why);
  }
  return found;
};

/** Why transitions were not executed. */
export const reasonsOf = <World>(
  executable: Executable<World>,
  missing: readonly AnyTransitionDefinition[],
): readonly string[] => {
  const isDefect = ({ eventType }: AnyTransitionDefinition) => `${eventType}`.startsWith(ERROR);
  const found = hindrancesOf(executable, missing.filter((transition) => !isDefect(transition)));
  return missing.map((transition) => {
    const reasons = [...found.get(transition) ?? [DEFECT]];
    const specific = reasons.filter((reason) => reason !== NO_PATH);
    const why = specific.length > 0 ? specific : [NO_PATH];
    return `${transitionName(transition)}: ${why.join('; ')}`;
  });
};
