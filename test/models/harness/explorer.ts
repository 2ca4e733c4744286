/**
 * Walks a statechart through every reachable configuration without running anything.
 *
 * Promises: events that a child, a timer or the outside could send are all tried; what an edge
 * takes is read from the interpreter's own microsteps, never guessed from candidates; a context
 * that holds anything but plain data fails, because such data hides configurations.
 */
import {
  type ActorOptions,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyTransitionDefinition,
  type ContextFrom,
  createActor,
  type EventObject,
  getNextTransitions,
  type InputFrom,
  type InspectionEvent,
} from 'xstate';
import { isMachineSnapshot } from 'xstate';

/** One move of the statechart and what it wanted done. */
export interface Step {
  readonly event: EventObject & Readonly<Record<string, unknown>>;
  readonly before: AnyMachineSnapshot;
  readonly after: AnyMachineSnapshot;
  /** Names of actions, and `invoke:<id>` for each act that starts. */
  readonly acts: readonly string[];
  /** The acts that start, with what they are given. */
  readonly invokes: readonly { readonly id: string; readonly input: unknown }[];
  /** The transitions that it took, in order. */
  readonly transitions: readonly AnyTransitionDefinition[];
}

/** What may be fed to a statechart, and how much of it counts. */
export interface Exploration<Machine extends AnyStateMachine, World> {
  readonly machine: Machine;
  readonly inputs: readonly InputFrom<Machine>[];
  readonly events: Readonly<Record<string, readonly object[]>>;
  readonly project: (context: ContextFrom<Machine>) => unknown;
  readonly world: World;
  readonly record: (world: World, step: Step) => World;
  /** False for what the world outside cannot do as it is; everything when it is not said. */
  readonly happens?: (world: World, moment: Pick<Step, 'before' | 'event'>) => boolean;
  readonly limit: number;
}

/** A configuration: the snapshot, and what the world outside shows after the way that led here. */
export interface Configuration<World> {
  readonly key: string;
  readonly snapshot: AnyMachineSnapshot;
  readonly world: World;
  readonly input: unknown;
  /** The edge by which it was first reached; none for a beginning. */
  readonly reachedBy: Edge<World> | undefined;
}

/** A step between two configurations. */
export interface Edge<World> {
  readonly from: Configuration<World>;
  readonly toKey: string;
  readonly step: Step;
}

/** Everything that was reached. */
export interface Explored<World> {
  readonly configurations: ReadonlyMap<string, Configuration<World>>;
  readonly edges: readonly Edge<World>[];
  readonly takenTransitions: ReadonlySet<AnyTransitionDefinition>;
  readonly visitedStates: ReadonlySet<string>;
  readonly truncated: boolean;
}

/** Internal events: the interpreter raises them itself. */
const RAISED_INSIDE = /^(xstate\.done\.state\.|xstate\.init$|xstate\.snapshot\.|\*$|$)/;

const assertPlain = (value: unknown, path: string): void => {
  if (value === null || ['string', 'number', 'boolean', 'undefined'].includes(typeof value)) return;
  if (Array.isArray(value)) {
    value.forEach((entry, index) => assertPlain(entry, `${path}[${index}]`));
    return;
  }
  if (typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype) {
    for (const [key, entry] of Object.entries(value)) assertPlain(entry, `${path}.${key}`);
    return;
  }
  const kind = typeof value === 'object' ? value?.constructor?.name ?? 'object' : typeof value;
  throw new Error(`Context must be plain data, but ${path} holds a ${kind}`);
};

/** The name of a step's event as a story tells it. */
export const tell = (event: EventObject): string => {
  const { type, ...payload } = event as EventObject & Record<string, unknown>;
  return Object.keys(payload).length === 0 ? type : `${type} ${JSON.stringify(payload)}`;
};

type Scope = Parameters<AnyStateMachine['transition']>[2];
type Move = Pick<Step, 'acts' | 'invokes' | 'transitions'> & {
  readonly snapshot: AnyMachineSnapshot;
};

/** The interpreter with its hands tied: moves snapshots, writes down what would be done. */
export const stillInterpreter = (machine: AnyStateMachine, input: unknown) => {
  const taken = new Set<AnyTransitionDefinition>();
  const visited = new Set<string>();
  let acts: string[] = [];
  let invokes: { id: string; input: unknown }[] = [];
  let transitions: AnyTransitionDefinition[] = [];
  const inspect = (event: InspectionEvent): void => {
    if (event.type !== '@xstate.microstep') return;
    for (const transition of event._transitions) {
      taken.add(transition);
      transitions.push(transition);
      visited.add(transition.source.id);
    }
    if (isMachineSnapshot(event.snapshot)) {
      for (const node of event.snapshot._nodes) visited.add(node.id);
    }
  };
  const options: ActorOptions<AnyStateMachine> = { input, inspect };
  const self = createActor(machine, options);
  const scope: Scope = {
    self,
    id: self.id,
    sessionId: self.sessionId,
    logger: () => {},
    defer: () => {},
    emit: () => {},
    system: self.system,
    stopChild: () => {},
    actionExecutor: (action) => {
      const params: Record<string, unknown> = typeof action.params === 'object' &&
          action.params !== null
        ? { ...action.params }
        : {};
      if (action.type === 'xstate.spawnChild') {
        const id = String(params['id']);
        acts.push(`invoke:${id}`);
        invokes.push({ id, input: params['input'] });
      } else acts.push(action.type);
    },
  };
  const moved = (move: () => AnyMachineSnapshot): Move => {
    acts = [];
    invokes = [];
    transitions = [];
    const snapshot = move();
    for (const node of snapshot._nodes) visited.add(node.id);
    return { snapshot, acts, invokes, transitions };
  };
  return {
    taken,
    visited,
    begin: (): Move => moved(() => machine.getInitialSnapshot(scope, input)),
    move: (snapshot: AnyMachineSnapshot, event: EventObject): Move =>
      moved(() => machine.transition(snapshot, event, scope)),
  };
};

/** The types of events from outside, from timers and from acts that could come now. */
export const eventTypesOf = (snapshot: AnyMachineSnapshot): ReadonlySet<string> =>
  new Set(
    getNextTransitions(snapshot)
      .map((transition) => String(transition.eventType))
      .filter((type) => !RAISED_INSIDE.test(type)),
  );

/** What a beginning does, as a step. */
export const firstStep = ({ snapshot, ...done }: Move): Step => ({
  event: { type: 'xstate.init' },
  before: snapshot,
  after: snapshot,
  ...done,
});

/** Breadth first from every input, so that the way to each configuration is a shortest one. */
export const explore = <Machine extends AnyStateMachine, World>(
  exploration: Exploration<Machine, World>,
): Explored<World> => {
  const { machine, inputs, events, project, world, record, limit } = exploration;
  const happens = exploration.happens ?? (() => true);
  const configurations = new Map<string, Configuration<World>>();
  const edges: Edge<World>[] = [];
  const taken = new Set<AnyTransitionDefinition>();
  const visited = new Set<string>();
  const queue: Configuration<World>[] = [];

  const keyOf = (snapshot: AnyMachineSnapshot, shown: World): string => {
    assertPlain(snapshot.context, 'context');
    return JSON.stringify([snapshot.status, snapshot.value, project(snapshot.context), shown]);
  };
  const meet = (configuration: Configuration<World>): void => {
    if (configurations.has(configuration.key) || configurations.size >= limit) return;
    configurations.set(configuration.key, configuration);
    queue.push(configuration);
  };

  let truncated = false;
  for (const input of inputs) {
    const interpreter = stillInterpreter(machine, input);
    const begun = interpreter.begin();
    const first = firstStep(begun);
    const shown = record(world, first);
    meet({
      key: keyOf(begun.snapshot, shown),
      snapshot: begun.snapshot,
      world: shown,
      input,
      reachedBy: undefined,
    });
    for (let from = queue.shift(); from !== undefined; from = queue.shift()) {
      if (from.snapshot.status !== 'active') continue;
      for (const type of eventTypesOf(from.snapshot)) {
        for (const payload of events[type] ?? [{}]) {
          const event = { ...payload, type };
          if (!happens(from.world, { before: from.snapshot, event })) continue;
          const { snapshot, ...done } = interpreter.move(from.snapshot, event);
          const step: Step = { event, before: from.snapshot, after: snapshot, ...done };
          const after = record(from.world, step);
          const toKey = keyOf(snapshot, after);
          const edge = { from, toKey, step };
          edges.push(edge);
          truncated ||= configurations.size >= limit && !configurations.has(toKey);
          meet({ key: toKey, snapshot, world: after, input: from.input, reachedBy: edge });
        }
      }
    }
    for (const transition of interpreter.taken) taken.add(transition);
    for (const id of interpreter.visited) visited.add(id);
  }
  return { configurations, edges, takenTransitions: taken, visitedStates: visited, truncated };
};

/** The steps that lead to a configuration, in order. */
export const wayTo = <World>(configuration: Configuration<World>): readonly Edge<World>[] => {
  const way: Edge<World>[] = [];
  for (let edge = configuration.reachedBy; edge !== undefined; edge = edge.from.reachedBy) {
    way.unshift(edge);
  }
  return way;
};
