/**
 * Takes single steps of a statechart without running anything.
 *
 * Promises: the transitions of a step are read from the interpreter's own microsteps, never guessed
 * from candidates; actions and invokes are recorded, not executed.
 */
import {
  type ActorOptions,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyTransitionDefinition,
  createActor,
  type EventObject,
  getNextTransitions,
  type InspectionEvent,
} from 'xstate';
import { isMachineSnapshot } from 'xstate';
import { textAt, valueAt } from '../../../src/domain/json.ts';

/** What may be sent to a statechart. */
export type StepEvent = EventObject & Readonly<Record<string, unknown>>;

/** One move of the statechart and what it wanted done. */
export interface Step {
  readonly event: StepEvent;
  readonly before: AnyMachineSnapshot;
  readonly after: AnyMachineSnapshot;
  /** Names of actions, and `invoke:<id>` for each act that starts. */
  readonly actions: readonly string[];
  /** The started actors, with their inputs. */
  readonly invokes: readonly { readonly id: string; readonly input: unknown }[];
  /** The transitions that it took, in order. */
  readonly transitions: readonly AnyTransitionDefinition[];
}

/** Internal events: the interpreter raises them itself. */
const RAISED_INSIDE = /^(xstate\.done\.state\.|xstate\.init$|xstate\.snapshot\.|\*$|$)/;

/** The transcript's name of a step's event. */
export const eventLabel = (event: EventObject): string => {
  const { type, ...payload } = event as EventObject & Record<string, unknown>;
  return Object.keys(payload).length === 0 ? type : `${type} ${JSON.stringify(payload)}`;
};

/** An action's name; `invoke:<id>` when it starts an actor. */
export const actionName = ({ type, params }: {
  readonly type: string;
  readonly params: unknown;
}): string => type === 'xstate.spawnChild' ? `invoke:${textAt(params, 'id') ?? ''}` : type;

type Scope = Parameters<AnyStateMachine['transition']>[2];
type Move = Pick<Step, 'actions' | 'invokes' | 'transitions'> & {
  readonly snapshot: AnyMachineSnapshot;
};
/** The initial step, and the input that it began with. */
type Beginning = Move & { readonly input: unknown };

/** A pure interpreter: computes snapshots and records effects without running them. */
export const stillInterpreter = (machine: AnyStateMachine, input: unknown) => {
  const taken = new Set<AnyTransitionDefinition>();
  const visited = new Set<string>();
  let actions: string[] = [];
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
      actions.push(actionName(action));
      if (action.type !== 'xstate.spawnChild') return;
      const { params } = action;
      invokes.push({ id: textAt(params, 'id') ?? '', input: valueAt(params, 'input') });
    },
  };
  const moved = (move: () => AnyMachineSnapshot): Move => {
    actions = [];
    invokes = [];
    transitions = [];
    const snapshot = move();
    for (const node of snapshot._nodes) visited.add(node.id);
    return { snapshot, actions, invokes, transitions };
  };
  return {
    taken,
    visited,
    begin: (): Beginning => ({
      ...moved(() => machine.getInitialSnapshot(scope, input)),
      input,
    }),
    step: (before: AnyMachineSnapshot, event: StepEvent): Step => {
      const { snapshot: after, ...done } = moved(() => machine.transition(before, event, scope));
      return { event, before, after, ...done };
    },
  };
};

/** The types of events from outside, from timers and from acts that could come now. */
const eventTypesOf = (snapshot: AnyMachineSnapshot): ReadonlySet<string> =>
  new Set(
    getNextTransitions(snapshot)
      .map((transition) => String(transition.eventType))
      .filter((type) => !RAISED_INSIDE.test(type)),
  );

/** The initial actions, as a step; its event bears the input. */
export const firstStep = ({ snapshot, input, ...done }: Beginning): Step => ({
  event: { type: 'xstate.init', input },
  before: snapshot,
  after: snapshot,
  ...done,
});

/**
 * Events with their payloads. An event is always the same object: its name distinguishes payloads
 * with equal JSON.
 */
export const namedEvents = (cases: Readonly<Record<string, readonly object[]>>) => {
  const byType = new Map<string, readonly StepEvent[]>();
  const names = new Map<StepEvent, string>();
  const ofType = (type: string): readonly StepEvent[] => {
    const events = byType.get(type) ??
      (cases[type] ?? [{}]).map((payload) => ({ ...payload, type }));
    byType.set(type, events);
    events.forEach((event, at) => names.set(event, `${type} ${at}`));
    return events;
  };
  return {
    possibleIn: (snapshot: AnyMachineSnapshot): readonly StepEvent[] =>
      snapshot.status === 'active' ? [...eventTypesOf(snapshot)].flatMap(ofType) : [],
    nameOf: (event: StepEvent): string => names.get(event) ?? event.type,
  };
};

/** Where a machine is after an input and events. */
export const snapshotAfter = (
  machine: AnyStateMachine,
  input: unknown,
  events: readonly StepEvent[],
): AnyMachineSnapshot => {
  const interpreter = stillInterpreter(machine, input);
  return events.reduce(
    (snapshot, event) => interpreter.step(snapshot, event).after,
    interpreter.begin().snapshot,
  );
};
