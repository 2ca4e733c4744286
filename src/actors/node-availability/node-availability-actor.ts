/**
 * The `nodeAvailability` statechart with its writes to the API server, its Events and its metrics.
 *
 * Promises: pods are deleted one after another in their order, and none after its Node came back or
 * was found to be of a storm; when it is lost again, an earlier removal is over; what was deleted
 * is counted; an act that throws is logged and made again.
 */
import { Effect } from 'effect';
import { type Actor, matchesState, type SnapshotFrom, type StateValue } from 'xstate';
import type { EventNote, RecordEvent } from '../../api/event-note.ts';
import type { Telemetry } from '../../api/telemetry.ts';
import {
  conditionPatch,
  silenceText,
  taintsPatch,
} from '../../domain/node-availability/availability-writes.ts';
import { type AvailableNode, NODE_STATES } from '../../domain/node-availability/node-state.ts';
import { NodeAvailabilityApi } from '../../effects/node-availability.ts';
import { nodeAvailability } from '../../machines/node-availability.ts';
import {
  type AvailabilityTimes,
  duePods,
  type NodeAvailabilityContext,
  type NodeAvailabilityEvent,
  type NodeAvailabilityInput,
  type RemovalEnd,
} from '../../machines/node-availability-context.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import {
  type ActingActor,
  newestAttempts,
  startAct,
  type WriteInFlight,
  WRITES_STOPPED,
} from '../actor-logic.ts';
import { type ActorRegistry, actorRegistry } from '../actor-registry.ts';

/** A Node that exists. */
export interface AvailabilityEntry {
  node: AvailableNode;
  /** When it last went offline, on the monotonic clock; null if a former process handled that. */
  offlineMs: number | null;
  /** Its actor has begun, so that its Node shows what this process decided. */
  isKnown: boolean;
}

export type NodeAvailabilityActor = Actor<typeof nodeAvailability>;
export type NodeAvailabilityActors = ActorRegistry<typeof nodeAvailability, AvailabilityEntry>;
type Snapshot = SnapshotFrom<typeof nodeAvailability>;

/** What the actors read and do. */
export interface NodeAvailabilityActorsOptions {
  readonly times: AvailabilityTimes;
  /** Reads a Node of an answer. */
  readonly project: (raw: unknown) => AvailableNode | undefined;
  readonly input: (
    entry: AvailabilityEntry,
  ) => Pick<NodeAvailabilityInput, 'silentMs' | 'isGuarded'>;
  /** The pods of the Node are to be sent. */
  readonly requestPods: (entry: AvailabilityEntry) => void;
  readonly onSnapshot: (entry: AvailabilityEntry, snapshot: Snapshot) => void;
  readonly record: RecordEvent;
}

const regarding = ({ name, uid }: AvailableNode): EventNote['regarding'] => ({
  apiVersion: 'v1',
  kind: 'Node',
  name,
  uid,
});

/** The Events of Nodes. */
const nodeEvents = (record: RecordEvent, { offlineAfterMs }: AvailabilityTimes) => {
  const note =
    (reason: EventNote['reason'], text: (context: NodeAvailabilityContext) => string) =>
    (context: NodeAvailabilityContext): void =>
      record({ regarding: regarding(context.node), reason, note: text(context) });
  return {
    recordDegraded: note('NodeDegraded', () => 'No new pods are placed there; its pods stay'),
    recordOffline: note(
      'NodeOffline',
      () => `${silenceText(offlineAfterMs)}; its stateless pods are replaced elsewhere`,
    ),
    recordBack: note('NodeBack', () => 'Its Lease is renewed, or its Ready condition is known'),
    recordGivenUp: note(
      'LostPodsFailing',
      (context) => `${duePods(context).length} pods could not be deleted: ${context.problem}`,
    ),
  };
};

/** What removals and writes need of an actor. */
interface AvailabilityActor extends ActingActor<NodeAvailabilityEvent> {
  readonly getSnapshot: () => Pick<Snapshot, 'status' | 'context'> & { readonly value: StateValue };
}

const REPLACING = { availability: { offline: 'replacing' } };

/** An actor that was stopped is of an earlier term, and its Node may be of a storm by now. */
const isReplacing = (actor: AvailabilityActor): boolean => {
  const { status, value } = actor.getSnapshot();
  return status === 'active' && matchesState(REPLACING, value);
};

const stateLabel = ({ context: { state } }: Snapshot): string => state.toLowerCase();

/** Deletes the pods that are due, one after another while `mayGoOn`. */
const removal = (
  telemetry: Telemetry,
  actor: AvailabilityActor,
  mayGoOn: () => boolean,
): Effect.Effect<RemovalEnd, never, NodeAvailabilityApi> =>
  Effect.gen(function* () {
    const api = yield* NodeAvailabilityApi;
    const removed: string[] = [];
    let why = '';
    for (const pod of duePods(actor.getSnapshot().context)) {
      if (!mayGoOn()) break;
      const outcome = yield* api.remove({ ...pod, mayLeave: mayGoOn });
      telemetry.count('tidegate_lost_pods_total', 1, { outcome: outcome._tag });
      if (outcome._tag === 'Deleted') {
        const { name: node } = actor.getSnapshot().context.node;
        telemetry.count('tidegate_node_replaced_pods_total', 1, { node });
      }
      if (outcome._tag === 'Fault') why = outcome.why;
      else removed.push(pod.uid);
    }
    return { removed, why };
  });

/** The side effects of a Node's statechart besides its writes. */
export interface NodeAvailabilityActions {
  readonly requestPods: (context: NodeAvailabilityContext) => void;
  readonly recordDegraded: (context: NodeAvailabilityContext) => void;
  readonly recordOffline: (context: NodeAvailabilityContext) => void;
  readonly recordBack: (context: NodeAvailabilityContext) => void;
  readonly recordGivenUp: (context: NodeAvailabilityContext) => void;
}

/** What the writes of a Node's statechart need. */
export interface NodeAvailabilityWrites
  extends Pick<ActorEnvironment<NodeAvailabilityApi>, 'runtime' | 'time' | 'telemetry'> {
  /** Reads a Node of an answer. */
  readonly project: (raw: unknown) => AvailableNode | undefined;
}

/** The event that answers an act; none when nothing needs it. */
type Answer = Promise<NodeAvailabilityEvent | undefined>;

const nodeRequests = (
  { runtime, time, telemetry, project }: NodeAvailabilityWrites,
  inFlight: WriteInFlight,
) => {
  /** The removal that an actor began last; those before it are over when they are answered. */
  const removals = newestAttempts();
  const remove = async (actor: AvailabilityActor): Answer => {
    const isLast = removals(actor);
    const mayGoOn = (): boolean => isLast() && isReplacing(actor);
    const outcome = await runtime.runPromise(inFlight(removal(telemetry, actor, mayGoOn)));
    const end = '_tag' in outcome ? { removed: [], why: outcome.why } : outcome;
    return isLast() ? { type: 'removal.ended', end } : undefined;
  };
  const write = async (actor: AvailabilityActor): Answer => {
    const { node, wanted } = actor.getSnapshot().context;
    const outcome = await runtime.runPromise(inFlight(
      NodeAvailabilityApi.use((api) =>
        api.write({
          node: node.name,
          taints: taintsPatch(node, wanted),
          condition: conditionPatch(node, wanted, time.now()),
        })
      ),
    ));
    const answer = outcome._tag === 'Written' ? project(outcome.node) : undefined;
    telemetry.count('tidegate_node_writes_total', 1, { op: 'availability', outcome: outcome._tag });
    if (answer !== undefined) return { type: 'node.written', node: answer };
    const why = outcome._tag === 'Fault' ? outcome.why : 'the answer is not a Node';
    return { type: 'write.failed', why };
  };
  return { remove, write };
};

const starter = (telemetry: Telemetry) =>
(
  act: (actor: AvailabilityActor) => Answer,
  failed: (why: string) => NodeAvailabilityEvent,
) =>
({ self }: { readonly self: AvailabilityActor }): void =>
  startAct(self, () => act(self), (problem) => {
    telemetry.log('error', 'Cannot write the availability of a Node: its write threw', {
      node: self.getSnapshot().context.node.name,
      problem,
    });
    return failed(problem);
  });

/** The statechart with its implementations; `inFlight` counts each removal and each write. */
export const provideNodeAvailability = (
  writes: NodeAvailabilityWrites,
  actions: NodeAvailabilityActions,
  inFlight: WriteInFlight,
): typeof nodeAvailability => {
  const { remove, write } = nodeRequests(writes, inFlight);
  const start = starter(writes.telemetry);
  return nodeAvailability.provide({
    actions: {
      requestPods: ({ context }) => actions.requestPods(context),
      recordDegraded: ({ context }) => actions.recordDegraded(context),
      recordOffline: ({ context }) => actions.recordOffline(context),
      recordBack: ({ context }) => actions.recordBack(context),
      recordGivenUp: ({ context }) => actions.recordGivenUp(context),
      removePods: start(remove, (why) => ({ type: 'removal.ended', end: { removed: [], why } })),
      writeNode: start(write, (why) => ({ type: 'write.failed', why })),
    },
  });
};

/** The actors of all Nodes. */
export const nodeAvailabilityActors = (
  environment: ActorEnvironment<NodeAvailabilityApi>,
  options: NodeAvailabilityActorsOptions,
): NodeAvailabilityActors => {
  const { telemetry } = environment;
  const { times, project, onSnapshot, requestPods, record } = options;
  const actions = {
    ...nodeEvents(record, times),
    requestPods: ({ node }: NodeAvailabilityContext) => {
      const entry = registry.entry(node.uid);
      if (entry !== undefined) requestPods(entry);
    },
  };
  const registry: NodeAvailabilityActors = actorRegistry(environment, {
    name: 'nodeAvailability',
    logic: provideNodeAvailability(
      { ...environment, project },
      actions,
      (write) => registry.inFlight(write, WRITES_STOPPED),
    ),
    keyOf: ({ node }: AvailabilityEntry) => node.uid,
    labelOf: ({ node }) => node.name,
    input: (entry, seed) => ({ node: entry.node, ...options.input(entry), times, seed }),
    observe: ({ node }, actor) => actor.send({ type: 'node.observed', node }),
    stateOf: stateLabel,
    onSnapshot,
    onCount: (state, count) => {
      if (STATE_LABELS.has(state)) telemetry.gauge('tidegate_nodes', count, { state });
    },
    logFields: ({ node }) => ({ node: node.name }),
  });
  return registry;
};

const STATE_LABELS: ReadonlySet<string> = new Set(NODE_STATES.map((state) => state.toLowerCase()));
