/**
 * The `nodeAvailability` statechart with its writes to the API server, its Events and its metrics.
 *
 * Promises: pods are deleted one after another in their order, and none after its Node came back or
 * was found to be of a storm; what was deleted is counted.
 */
import { Effect } from 'effect';
import type { Actor, SnapshotFrom } from 'xstate';
import type { EventNote, RecordEvent } from '../../api/event-note.ts';
import { defectText } from '../../api/telemetry.ts';
import {
  conditionPatch,
  silenceText,
  taintsPatch,
} from '../../domain/node-availability/availability-writes.ts';
import { type AvailableNode, NODE_STATES } from '../../domain/node-availability/node-state.ts';
import { type AvailabilityOutcome, NodeAvailabilityApi } from '../../effects/node-availability.ts';
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
import { WRITES_STOPPED } from '../actor-logic.ts';
import { type ActorRegistry, actorRegistry } from '../actor-registry.ts';

/** A Node that exists. */
export interface AvailabilityEntry {
  node: AvailableNode;
  /** When it went offline, on the monotonic clock; null for one that a former process handled. */
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
    ({ context }: { readonly context: NodeAvailabilityContext }): void =>
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

/** An actor that was stopped is of an earlier term, and its Node may be of a storm by now. */
const isReplacing = (actor: NodeAvailabilityActor): boolean => {
  const snapshot = actor.getSnapshot();
  return snapshot.status === 'active' &&
    snapshot.matches({ availability: { offline: 'replacing' } });
};

const stateLabel = ({ context: { state } }: Snapshot): string => state.toLowerCase();

/** Deletes the pods that are due. */
const removal = (
  environment: Pick<ActorEnvironment<NodeAvailabilityApi>, 'telemetry'>,
  actor: NodeAvailabilityActor,
): Effect.Effect<RemovalEnd, never, NodeAvailabilityApi> =>
  Effect.gen(function* () {
    const api = yield* NodeAvailabilityApi;
    const removed: string[] = [];
    let why = '';
    for (const pod of duePods(actor.getSnapshot().context)) {
      if (!isReplacing(actor)) break;
      const outcome = yield* api.remove({ ...pod, mayLeave: () => isReplacing(actor) });
      environment.telemetry.count('tidegate_lost_pods_total', 1, { outcome: outcome._tag });
      if (outcome._tag === 'Deleted') {
        const { name: node } = actor.getSnapshot().context.node;
        environment.telemetry.count('tidegate_node_replaced_pods_total', 1, { node });
      }
      if (outcome._tag === 'Fault') why = outcome.why;
      else removed.push(pod.uid);
    }
    return { removed, why };
  });

/** The actors of all Nodes. */
export const nodeAvailabilityActors = (
  environment: ActorEnvironment<NodeAvailabilityApi>,
  options: NodeAvailabilityActorsOptions,
): NodeAvailabilityActors => {
  const { telemetry, runtime, time } = environment;
  const { times, project, onSnapshot, requestPods, record } = options;
  const actorOf = ({ node: { uid } }: NodeAvailabilityContext) => registry.get(uid);
  const failed = (actor: NodeAvailabilityActor, cause: unknown): void => {
    telemetry.log('error', 'Cannot write the availability of a Node: its write threw', {
      node: actor.getSnapshot().context.node.name,
      problem: defectText(cause),
    });
  };
  /** An actor that has ended needs no answer. */
  const send = (actor: NodeAvailabilityActor, event: NodeAvailabilityEvent): void => {
    if (actor.getSnapshot().status === 'active') actor.send(event);
  };
  const remove = async (actor: NodeAvailabilityActor): Promise<void> => {
    const stopped: RemovalEnd = { removed: [], why: WRITES_STOPPED.why };
    const end = await runtime.runPromise(
      registry.inFlight(removal(environment, actor), stopped),
    );
    send(actor, { type: 'removal.ended', end });
  };
  const write = async (actor: NodeAvailabilityActor): Promise<void> => {
    const { node, wanted } = actor.getSnapshot().context;
    const outcome = await runtime.runPromise(registry.inFlight(
      NodeAvailabilityApi.use((api) =>
        api.write({
          node: node.name,
          taints: taintsPatch(node, wanted),
          condition: conditionPatch(node, wanted, time.now()),
        })
      ),
      WRITES_STOPPED satisfies AvailabilityOutcome,
    ));
    const answer = outcome._tag === 'Written' ? project(outcome.node) : undefined;
    telemetry.count('tidegate_node_writes_total', 1, { op: 'availability', outcome: outcome._tag });
    if (answer !== undefined) return send(actor, { type: 'node.written', node: answer });
    const why = outcome._tag === 'Fault' ? outcome.why : 'the answer is not a Node';
    send(actor, { type: 'write.failed', why });
  };
  /** In a later step: an actor in transition has not the context of its action yet. */
  const start = (
    act: (actor: NodeAvailabilityActor) => Promise<void>,
  ) =>
  ({ context }: { readonly context: NodeAvailabilityContext }): void => {
    const actor = actorOf(context);
    if (actor === undefined) return;
    queueMicrotask(() => void act(actor).catch((cause: unknown) => failed(actor, cause)));
  };
  const registry: NodeAvailabilityActors = actorRegistry(environment, {
    name: 'nodeAvailability',
    logic: nodeAvailability.provide({
      actions: {
        ...nodeEvents(record, times),
        requestPods: ({ context }) => {
          const entry = registry.entry(context.node.uid);
          if (entry !== undefined) requestPods(entry);
        },
        removePods: start(remove),
        writeNode: start(write),
      },
    }),
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
