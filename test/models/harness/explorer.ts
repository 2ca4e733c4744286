/**
 * Explores every reachable configuration of a statechart with `xstate/graph`, without running
 * actors.
 *
 * Promises: tries all events from invoked actors, timers and outside; fails on a context that is
 * not plain data, because such data hides configurations; reports an exploration that reached its
 * limit.
 *
 * `xstate/graph` refuses `invoke` and `after` only in `createTestModel`. Its path functions accept
 * any actor logic: here, the machine in its environment.
 */
import type {
  ActorLogic,
  AnyMachineSnapshot,
  AnyStateMachine,
  AnyTransitionDefinition,
  ContextFrom,
  InputFrom,
} from 'xstate';
import { getShortestPaths } from 'xstate/graph';
import {
  firstStep,
  namedEvents,
  type Step,
  type StepEvent,
  stillInterpreter,
} from './interpreter.ts';

/** The inputs of a statechart, and which part of it distinguishes configurations. */
export interface Exploration<Machine extends AnyStateMachine, World> {
  readonly machine: Machine;
  readonly inputs: readonly InputFrom<Machine>[];
  readonly events: Readonly<Record<string, readonly object[]>>;
  readonly project: (context: ContextFrom<Machine>) => unknown;
  readonly world: World;
  readonly record: (world: World, step: Step) => World;
  /** False for events that the environment cannot produce now; default: all are possible. */
  readonly happens?: (world: World, moment: Pick<Step, 'before' | 'event'>) => boolean;
  /** The most configurations that are looked at. */
  readonly limit: number;
}

/** A configuration: the snapshot, and the environment's state after the path. */
export interface Configuration<World> {
  readonly key: string;
  readonly snapshot: AnyMachineSnapshot;
  readonly world: World;
  readonly input: unknown;
  /** The steps of a shortest path that leads here from the input. */
  readonly path: readonly Step[];
}

/** A step between two configurations. */
export interface Edge<World> {
  readonly from: Configuration<World>;
  readonly toKey: string;
  readonly step: Step;
}

/** Everything that was reached. */
export interface Explored<World> {
  /** By key, those first that fewer steps lead to. */
  readonly configurations: ReadonlyMap<string, Configuration<World>>;
  readonly edges: readonly Edge<World>[];
  readonly takenTransitions: ReadonlySet<AnyTransitionDefinition>;
  readonly visitedStates: ReadonlySet<string>;
  readonly truncated: boolean;
}

/** A configuration as one step reached it. */
export interface Visit<World> {
  readonly status: 'active';
  readonly output: undefined;
  readonly error: undefined;
  readonly key: string;
  readonly snapshot: AnyMachineSnapshot;
  readonly world: World;
  readonly step: Step;
}

type VisitLogic<World> = ActorLogic<Visit<World>, StepEvent>;

/** Values that were looked at: contexts share the most of theirs, and never change them. */
const plain = new WeakSet<object>();

const isKnownPlain = (value: unknown): boolean => {
  if (typeof value === 'object') return value === null || plain.has(value);
  return ['string', 'number', 'boolean', 'undefined'].includes(typeof value);
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null &&
  (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype);

const assertPlain = (value: unknown, path: string): void => {
  if (isKnownPlain(value)) return;
  if (!isRecord(value)) {
    const kind = typeof value === 'object' ? value?.constructor?.name ?? 'object' : typeof value;
    throw new Error(`Context must be plain data, but ${path} holds a ${kind}`);
  }
  for (const key in value) {
    // Millions of members are plain: the path is for one that is not.
    if (!isKnownPlain(value[key])) assertPlain(value[key], `${path}.${key}`);
  }
  plain.add(value);
};

/**
 * An actor logic with an initial state and a transition function, all that `xstate/graph` needs.
 */
const logicOf = <World>(
  first: Visit<World>,
  transition: (from: Visit<World>, event: StepEvent) => Visit<World>,
): VisitLogic<World> => ({
  transition,
  getInitialSnapshot: () => first,
  getPersistedSnapshot: (visit) => visit,
});

/** The machine in its environment, from one input, as a logic that can be walked. */
export const machineInWorld = <Machine extends AnyStateMachine, World>(
  { machine, project, world, record }: Exploration<Machine, World>,
  input: InputFrom<Machine>,
) => {
  const interpreter = stillInterpreter(machine, input);
  const visitOf = (step: Step, before: World): Visit<World> => {
    const { after: snapshot } = step;
    const recorded = record(before, step);
    const { status, value, context } = snapshot;
    const key = JSON.stringify([status, value, project(context), recorded]);
    const [output, error] = [undefined, undefined];
    return { status: 'active', output, error, key, snapshot, world: recorded, step };
  };
  const take = (from: Visit<World>, event: StepEvent): Visit<World> =>
    visitOf(interpreter.step(from.snapshot, event), from.world);
  const first = visitOf(firstStep(interpreter.begin()), world);
  return { first, take, logic: logicOf(first, take), interpreter };
};

/** True for the first edge to a configuration, up to the limit. */
const firstEdges = (limit: number) => {
  const met = new Set<string>();
  let truncated = false;
  return {
    isFirst: (key: string): boolean => {
      if (met.has(key)) return false;
      const isOver = met.size >= limit;
      truncated ||= isOver;
      if (!isOver) met.add(key);
      return !isOver;
    },
    isTruncated: (): boolean => truncated,
  };
};

/**
 * Walks from one configuration, by events that `leaving` gives; what it gives is recorded.
 *
 * The queue of `xstate/graph` holds edges and costs the square of its length, so only the first
 * edge to a configuration is given to it: the others make no path shorter.
 */
const walkFrom = <World>(
  first: Visit<World>,
  leaving: (from: Visit<World>) => ReadonlyMap<StepEvent, Visit<World>>,
  { nameOf, isFirst }: {
    readonly nameOf: (event: StepEvent) => string;
    readonly isFirst: (key: string) => boolean;
  },
) => {
  assertPlain(first.snapshot.context, 'context');
  const taken = new Map<string, ReadonlyMap<StepEvent, Visit<World>>>();
  const onward = (from: Visit<World>): readonly StepEvent[] => {
    const visits = leaving(from);
    taken.set(from.key, visits);
    const further = [...visits].filter(([, { key }]) => isFirst(key));
    for (const [, { snapshot }] of further) assertPlain(snapshot.context, 'context');
    return further.map(([event]) => event);
  };
  const lookUp = ({ key }: Visit<World>, event: StepEvent): Visit<World> => {
    const visit = taken.get(key)?.get(event);
    if (visit === undefined) throw new Error(`No edge for "${event.type}" leaves ${key}`);
    return visit;
  };
  const paths = getShortestPaths(logicOf(first, lookUp), {
    serializeState: ({ key }) => key,
    serializeEvent: nameOf,
    events: onward,
  });
  return paths.map(({ state, steps }) => ({
    visit: state,
    // The first step of a path represents the initial state.
    path: steps.slice(1).map((one) => one.state.step),
    leaving: [...taken.get(state.key)?.values() ?? []],
  }));
};

/** Walks from every input; what an earlier one reached is not walked again. */
export const explore = <Machine extends AnyStateMachine, World>(
  exploration: Exploration<Machine, World>,
): Explored<World> => {
  const { inputs, events, limit, happens = () => true } = exploration;
  const { possibleIn, nameOf } = namedEvents(events);
  const { isFirst, isTruncated } = firstEdges(limit);
  const configurations = new Map<string, Configuration<World>>();
  const edges: Edge<World>[] = [];
  const taken = new Set<AnyTransitionDefinition>();
  const visited = new Set<string>();
  for (const input of inputs) {
    const { first, take, interpreter } = machineInWorld(exploration, input);
    const leaving = (from: Visit<World>) =>
      new Map(
        possibleIn(from.snapshot)
          .filter((event) => happens(from.world, { before: from.snapshot, event }))
          .map((event) => [event, take(from, event)]),
      );
    const walked = isFirst(first.key) ? walkFrom(first, leaving, { nameOf, isFirst }) : [];
    for (const { visit: { key, snapshot, world }, path, leaving } of walked) {
      const from = { key, snapshot, world, input, path };
      configurations.set(key, from);
      edges.push(...leaving.map(({ key: toKey, step }) => ({ from, toKey, step })));
    }
    for (const transition of interpreter.taken) taken.add(transition);
    for (const id of interpreter.visited) visited.add(id);
  }
  const truncated = isTruncated();
  return {
    configurations,
    edges,
    takenTransitions: taken,
    visitedStates: visited,
    truncated,
  };
};
