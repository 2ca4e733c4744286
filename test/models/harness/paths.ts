/**
 * Paths through a statechart: shortest ones that cover every transition, simple ones without
 * repeated configurations, and random ones.
 *
 * Promises: deterministic for a model, on every machine and runtime; their number and length are
 * limited. `xstate/graph` supports none of these for machines with `invoke` or `after`, so they use
 * the explorer's interpreter.
 */
import type {
  AnyMachineSnapshot,
  AnyStateMachine,
  AnyTransitionDefinition,
  EventObject,
} from 'xstate';
import { nextSeed, unitInterval } from '../../../src/domain/random.ts';
import { statePaths } from '../../../src/domain/state-value.ts';
import type { Edge, Explored } from './explorer.ts';
import { eventLabel, namedEvents, type Step, stillInterpreter } from './interpreter.ts';

/** A path: the machine's input and the following events. */
export interface Path {
  readonly input: unknown;
  readonly steps: readonly Step[];
}

/** A machine, and what may be sent to it. */
export interface Ground {
  readonly machine: AnyStateMachine;
  readonly inputs: readonly unknown[];
  readonly events: Readonly<Record<string, readonly object[]>>;
  readonly project: (context: never) => unknown;
  readonly happens: (snapshot: AnyMachineSnapshot, event: EventObject) => boolean;
}

const RANDOM_PATHS = 12;
const RANDOM_STEPS = 40;
const SIMPLE_PATHS = 24;
const SIMPLE_STEPS = 25;

const pathTo = <World>(edge: Edge<World>): Path => ({
  input: edge.from.input,
  steps: [...edge.from.path, edge.step],
});

/** Numbers of events with the same label; some have whole Kubernetes objects in them. */
const numberedLabels = new Map<string, number>();
const numberedEvents = new WeakMap<EventObject, number>();

const numberOf = (event: EventObject): number => {
  const known = numberedEvents.get(event);
  if (known !== undefined) return known;
  const label = eventLabel(event);
  const number = numberedLabels.get(label) ?? numberedLabels.size;
  numberedLabels.set(label, number);
  numberedEvents.set(event, number);
  return number;
};

/** Each two of these, in the order of the regions. */
const pairsOf = (paths: readonly string[]): readonly string[] =>
  paths.flatMap((one, at) => paths.slice(at + 1).map((other) => `${one} beside ${other}`));

/**
 * What a step shows: from which states an event leads to which by which actions, which states stay
 * on that event, and which states of two parallel regions hold at once afterwards.
 *
 * A statechart with parallel regions has the product of their states. Two steps that differ only in
 * a region that neither changes show the same, but for the pairs of states.
 */
export const kindsOf = ({ before, event, after, actions }: Step): readonly string[] => {
  const [was, is] = [statePaths(before.value), statePaths(after.value)];
  const received = numberOf(event);
  const left = was.filter((path) => !is.includes(path));
  const entered = is.filter((path) => !was.includes(path));
  return [
    JSON.stringify([left, received, entered, actions]),
    ...was.filter((path) => is.includes(path)).map((path) => `${path} stays on ${received}`),
    ...pairsOf(is),
  ];
};

/** Shortest paths that together show every kind of step. */
export const edgeCover = <World>(explored: Pick<Explored<World>, 'edges'>): readonly Path[] => {
  const covered = new Set<string>();
  const paths: Path[] = [];
  for (const edge of explored.edges.toReversed()) {
    if (kindsOf(edge.step).every((kind) => covered.has(kind))) continue;
    const path = pathTo(edge);
    for (const kind of path.steps.flatMap(kindsOf)) covered.add(kind);
    paths.push(path);
  }
  return paths;
};

/** Shortest paths that together take every drawn transition: few enough to be read. */
export const transitionCover = <World>(
  explored: Pick<Explored<World>, 'edges'>,
): readonly Path[] => {
  const first = new Map<AnyTransitionDefinition, Edge<World>>();
  for (const edge of explored.edges) {
    for (const transition of edge.step.transitions) {
      if (!first.has(transition)) first.set(transition, edge);
    }
  }
  const longestFirst = [...first].map(([transition, edge]) => ({ transition, path: pathTo(edge) }))
    .toSorted((one, other) => other.path.steps.length - one.path.steps.length);
  const covered = new Set<AnyTransitionDefinition>();
  const paths: Path[] = [];
  for (const { transition, path } of longestFirst) {
    if (covered.has(transition)) continue;
    for (const step of path.steps) step.transitions.forEach((taken) => covered.add(taken));
    paths.push(path);
  }
  return paths.toReversed();
};

/** Chooses the next candidate of a walk; none ends it. */
type Choose = (candidates: readonly (() => Step)[]) => Step | undefined;

/**
 * Walks from one input. Each step continues from the previous snapshot, not from the explored
 * configuration, which represents all that have the same projection.
 */
const walk = (
  { machine, inputs, events, happens }: Ground,
  at: number,
  choose: Choose,
): Path => {
  const input = inputs[at % inputs.length];
  const interpreter = stillInterpreter(machine, input);
  const steps: Step[] = [];
  const { possibleIn } = namedEvents(events);
  let snapshot: AnyMachineSnapshot | undefined = interpreter.begin().snapshot;
  while (snapshot !== undefined) {
    const before: AnyMachineSnapshot = snapshot;
    const candidates = possibleIn(before)
      .filter((event) => happens(before, event))
      .map((event) => () => interpreter.step(before, event));
    const step = choose(candidates);
    if (step !== undefined) steps.push(step);
    snapshot = step?.after;
  }
  return { input, steps };
};

/** A seeded die. */
const dieFrom = (first: number) => {
  let seed = first;
  return <Item>(items: readonly Item[]): Item | undefined => {
    seed = nextSeed(seed);
    return items[Math.floor(unitInterval(seed) * items.length)];
  };
};

/** Random walks, each with its own seed. */
export const randomPaths = (ground: Ground): readonly Path[] =>
  Array.from({ length: RANDOM_PATHS }, (_, at) => {
    const roll = dieFrom(at);
    let left = RANDOM_STEPS;
    return walk(ground, at, (candidates) => {
      left -= 1;
      return left < 0 ? undefined : roll(candidates)?.();
    });
  });

/**
 * Random walks that never repeat a configuration. They are sampled, because `getSimplePaths` lists
 * every one, and their number grows exponentially.
 */
export const simplePaths = (ground: Ground): readonly Path[] => {
  const keyOf = ({ after }: Step): string =>
    JSON.stringify([after.status, after.value, ground.project(after.context as never)]);
  const paths = Array.from({ length: SIMPLE_PATHS }, (_, at) => {
    const roll = dieFrom(at + RANDOM_PATHS);
    const met = new Set<string>();
    return walk(ground, at, (candidates) => {
      const unmet = candidates.map((take) => take()).filter((step) => !met.has(keyOf(step)));
      const step = roll(unmet);
      if (step === undefined || met.size >= SIMPLE_STEPS) return undefined;
      met.add(keyOf(step));
      return step;
    });
  });
  return paths.filter(({ steps }) => steps.length > 0);
};
