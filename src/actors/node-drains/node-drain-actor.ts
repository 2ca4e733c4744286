/**
 * The actor of one drain: the `nodeDrain` statechart with its patches of the Node and its requests
 * to evictions, the UpcomingNode and Events.
 *
 * Promises: never writes the UpcomingNode, only reports to its actor (DR-40); only a reclaim
 * reports there; no pod is evicted for a drain that has ended.
 */
import { Effect } from 'effect';
import { visibleEnd } from '../../domain/drain/drain-state.ts';
import type { DrainedNode } from '../../domain/drain/drained-node.ts';
import type { NodeWriteOutcome } from '../../domain/drain/node-write.ts';
import {
  blockedCondition,
  type DrainCondition,
  endedCondition,
} from '../../domain/drain/drain-condition.ts';
import type { DrainFact } from '../../domain/object-phase.ts';
import type { Time } from '../../domain/time.ts';
import { Cordons, type NodeWritePurpose, type TimedCondition } from '../../effects/cordons.ts';
import { fromPromise, type SnapshotFrom } from 'xstate';
import { nodeDrain } from '../../machines/node-drain.ts';
import type {
  NodeDrainAct,
  NodeDrainContext,
  NodeDrainEnd,
  NodeEndAct,
} from '../../machines/node-drain-context.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { type EffectRuntime, WRITES_STOPPED } from '../actor-logic.ts';
import { type ActorRegistry, actorRegistry } from '../actor-registry.ts';
import type { Informer } from '../informers/informer.ts';
import type { PodEvictions } from '../pod-evictions/pod-evictions.ts';
import type { BlockerReview } from './drain-pods.ts';
import type { DrainEvents } from './drain-events.ts';
import { drainInput } from './drain-input.ts';
import {
  type DrainEntry,
  drainKey,
  drainSeconds,
  drainStateOf,
  isCordonOnly,
  ONLY_KEPT,
} from './drain-index.ts';

/** The side effects of a drain's statechart. */
export interface NodeDrainActions {
  readonly requestSlot: (context: NodeDrainContext) => void;
  readonly recordStarted: (context: NodeDrainContext) => void;
  readonly showDraining: (context: NodeDrainContext) => void;
  readonly recordCordonFailing: (context: NodeDrainContext) => void;
  readonly recordLeftAlone: (context: NodeDrainContext) => void;
  readonly evictPods: (context: NodeDrainContext) => void;
  readonly countPods: (context: NodeDrainContext) => void;
  readonly releasePods: (context: NodeDrainContext) => void;
  /** Resolves when the UpcomingNode shows the end, or there is none to show it. */
  readonly showEnd: (end: NodeDrainEnd) => Promise<void>;
  /** The condition to write with the end; undefined when it is written apart. */
  readonly conditionAtEnd: (end: NodeEndAct) => TimedCondition | undefined;
}

type InFlight = (write: Effect.Effect<NodeWriteOutcome>) => Effect.Effect<NodeWriteOutcome>;

/** The statechart with its implementations; `inFlight` counts each write. */
export const provideNodeDrain = (
  runtime: EffectRuntime<Cordons>,
  actions: NodeDrainActions,
  inFlight: InFlight = (write) => write,
): typeof nodeDrain => {
  const patch = <Act extends NodeDrainAct>(
    purpose: NodeWritePurpose,
    conditionOf: (act: Act) => TimedCondition | undefined = () => undefined,
  ) =>
    fromPromise<NodeWriteOutcome, Act>(({ input, signal }) => {
      const { node, body } = input;
      const timed = conditionOf(input);
      const write = { node, purpose, body, ...(timed && { timed }) };
      return runtime.runPromise(
        Effect.flatMap(Cordons, (cordons) => inFlight(cordons.patch(write))),
        { signal },
      );
    });
  return nodeDrain.provide({
    actors: {
      cordonNode: patch('cordon'),
      writeEnd: patch('end', actions.conditionAtEnd),
      showEnd: fromPromise<void, NodeDrainEnd>(({ input }) => actions.showEnd(input)),
    },
    actions: {
      requestSlot: ({ context }) => actions.requestSlot(context),
      recordStarted: ({ context }) => actions.recordStarted(context),
      showDraining: ({ context }) => actions.showDraining(context),
      recordCordonFailing: ({ context }) => actions.recordCordonFailing(context),
      recordLeftAlone: ({ context }) => actions.recordLeftAlone(context),
      evictPods: ({ context }) => actions.evictPods(context),
      countPods: ({ context }) => actions.countPods(context),
      releasePods: ({ context }) => actions.releasePods(context),
    },
  });
};

/** The targets of drains. */
export interface DrainTargets {
  readonly evictions: Pick<PodEvictions, 'want' | 'release'>;
  /** Resolves when the object shows it, or there is none. */
  readonly showOnMachine: (machineId: string, fact: DrainFact) => Promise<void>;
  /** Shows what blocks the drain of a Node, or its end, as a condition. */
  readonly showOnNode?: (node: string, condition: DrainCondition) => void;
  /** The machine of the Node; `undefined` while unknown. */
  readonly machineOf: (node: DrainedNode) => string | undefined;
  readonly events: DrainEvents;
  /** `--pause-drains`. */
  readonly paused: boolean;
  /** Volumes that are attached to a node, for the Event of the end. */
  readonly volumesOn?: (node: string) => readonly string[];
}

/** How actions find their drain. */
export interface DrainLookup {
  /** `undefined` when the drain may not act any more. */
  readonly entryOf: (key: string) => DrainEntry | undefined;
  readonly contextOf: (entry: DrainEntry) => NodeDrainContext | undefined;
  readonly requestSlot: (entry: DrainEntry) => void;
  readonly countPods: (entry: DrainEntry) => void;
}

/** The node facts that decide why pods remain. */
const nodeNow = (
  entry: DrainEntry,
  context: NodeDrainContext | undefined,
  paused: boolean,
): DrainedNode => {
  const node = context?.node ?? entry.node;
  return paused ? { ...node, paused } : node;
};

/** What holds up the pods of a drain: nothing while it does not evict; undefined without it. */
export const blockersOf = (
  drains: Pick<NodeDrainActors, 'entry' | 'get'>,
  key: string,
  paused: boolean,
): BlockerReview | undefined => {
  const entry = drains.entry(key);
  if (entry === undefined) return undefined;
  const snapshot = drains.get(key)?.getSnapshot();
  if (snapshot?.matches({ work: { underway: 'draining' } }) !== true) {
    return { blocked: [], nextMs: Number.POSITIVE_INFINITY, isIdle: true };
  }
  const { annotation } = snapshot.context;
  const terms = annotation ?? { deadlineMs: null, graceSeconds: 0 };
  return entry.pods.review(nodeNow(entry, snapshot.context, paused), terms);
};

/** The actions of all drains. */
class DrainActions implements NodeDrainActions {
  readonly #time: Time;
  readonly #targets: DrainTargets;
  readonly #lookup: DrainLookup;

  constructor(time: Time, targets: DrainTargets, lookup: DrainLookup) {
    this.#time = time;
    this.#targets = targets;
    this.#lookup = lookup;
  }

  readonly requestSlot = (context: NodeDrainContext): void =>
    this.#about(context, this.#lookup.requestSlot);

  readonly recordStarted = (context: NodeDrainContext): void =>
    this.#about(context, (entry) => {
      const { annotation } = context;
      if (entry.isStartRecorded || annotation === null || isCordonOnly(entry)) return;
      entry.isStartRecorded = true;
      if (entry.node.showsDraining === false) {
        entry.hasCondition = true;
        this.#targets.showOnNode?.(entry.node.name, blockedCondition(null));
      }
      this.#targets.events.started(entry.node, {
        ids: annotation.ids,
        pods: entry.pods.left(),
        deadlineMs: annotation.deadlineMs,
      });
    });

  /** A drain that resumes after its deadline shows only its end. */
  readonly showDraining = (context: NodeDrainContext): void =>
    this.#about(context, (entry) => {
      const isOver = context.leftMs !== null && context.leftMs <= 0;
      if (!isOver) void this.#show(entry, { _tag: 'Draining' });
    });

  readonly recordCordonFailing = (context: NodeDrainContext): void =>
    this.#about(context, ({ node }) => this.#targets.events.cordonFailing(node, context.problem));

  /** Recorded when the Node is observed. */
  readonly recordLeftAlone = (): void => {};

  readonly evictPods = (context: NodeDrainContext): void =>
    this.#about(context, (entry) => {
      this.recordStarted(context);
      for (const pod of entry.pods.unasked(context.startedTo)) {
        entry.pods.setAsked(pod);
        this.#targets.evictions.want(pod, {
          node: entry.node.name,
          owner: entry.owner,
          deadlineMonotonicMs: entry.deadline.atMs,
          drainSinceMs: entry.sinceMs,
          graceSeconds: entry.pods.graceSeconds(),
          podsLeft: entry.pods.left,
        });
      }
    });

  readonly countPods = (context: NodeDrainContext): void =>
    this.#about(context, (entry) => {
      entry.observed = null;
      this.#lookup.countPods(entry);
    });

  readonly releasePods = (context: NodeDrainContext): void =>
    this.#about(context, (entry) => {
      const { pods, node, owner } = entry;
      // The answers to evictions are forgotten with them.
      entry.remaining = this.#remainingOf(entry, context);
      pods.setReleased();
      this.#targets.evictions.release(node.name, owner);
    });

  readonly showEnd = async ({ node, owner, end }: NodeDrainEnd): Promise<void> => {
    const entry = this.#lookup.entryOf(drainKey(node, owner));
    if (entry === undefined) return;
    const context = this.#lookup.contextOf(entry);
    const lastError = end === 'Failed' ? this.#lastErrorOf(entry, context) : '';
    // An owner that leaves ends nothing that anybody waits for.
    if (entry.isWithdrawn || isCordonOnly(entry)) return;
    this.#targets.events.ended(entry.node, {
      end,
      ...drainSeconds(entry, this.#time.monotonic()),
      lastError,
      forbidden: context !== undefined && context.refusal !== '',
      volumes: this.#targets.volumesOn?.(node) ?? [],
      tolerating: entry.pods.tolerating(),
      acknowledged: entry.pods.acknowledged(),
      lostPods: context?.node === null ? entry.pods.left() : 0,
    });
    await this.#show(entry, end === 'Failed' ? { _tag: end, lastError } : { _tag: end });
  };

  /** Apart from a patch that uncordons, and after the condition that shows a blocker. */
  readonly conditionAtEnd = (
    { node, owner, end, body }: NodeEndAct,
  ): TimedCondition | undefined => {
    const entry = this.#lookup.entryOf(drainKey(node, owner));
    if (entry === undefined) return undefined;
    const context = this.#lookup.contextOf(entry);
    const shows = context?.node?.showsDraining;
    // A drain that has ended shows its end already; now only its key leaves.
    const hasEnd = entry.isWithdrawn && shows === false;
    if (!hasEnd) entry.hasCondition ||= Object.hasOwn(body, 'spec') || shows === true;
    if (hasEnd || entry.hasCondition) return undefined;
    const visible = context === undefined ? end : visibleEnd(context) ?? end;
    const condition = endedCondition(visible, entry.remaining, context?.refusal);
    return { condition, nowMs: this.#time.now() };
  };

  async #show(entry: DrainEntry, fact: DrainFact): Promise<void> {
    if (entry.owner !== 'reclaim') return;
    if (entry.machineId === '') entry.machineId = this.#targets.machineOf(entry.node) ?? '';
    if (entry.machineId !== '') await this.#targets.showOnMachine(entry.machineId, fact);
  }

  #lastErrorOf(entry: DrainEntry, context: NodeDrainContext | undefined): string {
    if (context === undefined) return '';
    const { annotation, refusal, problem } = context;
    if (annotation === null) {
      return `cannot cordon the node: ${problem || 'no answer'}`;
    }
    return refusal === '' ? entry.remaining : `${refusal}; ${entry.remaining}`;
  }

  #remainingOf(entry: DrainEntry, context: NodeDrainContext): string {
    if (context.end !== 'Failed') return context.end === 'Drained' ? entry.pods.stayed() : '';
    const timeUp = context.leftMs !== null && context.leftMs <= 0;
    return entry.pods.remaining(nodeNow(entry, context, this.#targets.paused), timeUp);
  }

  #about({ name, owner }: NodeDrainContext, act: (entry: DrainEntry) => void): void {
    const entry = this.#lookup.entryOf(drainKey(name, owner));
    if (entry !== undefined) act(entry);
  }
}

export type NodeDrainActors = ActorRegistry<typeof nodeDrain, DrainEntry>;

/** Ends a condition that showed a blocker; any other end is written with the end (DR-50). */
const showEndOnNode = (
  entry: DrainEntry,
  context: NodeDrainContext,
  { showOnNode }: Pick<DrainTargets, 'showOnNode'>,
): void => {
  const { node, annotation, refusal } = context;
  const end = visibleEnd(context);
  if (node === null || end === null || annotation === null) return;
  if (!entry.hasCondition && node.showsDraining !== true) return;
  showOnNode?.(node.name, endedCondition(end, entry.remaining, refusal));
};

/** The dependencies of drain actors. */
export interface NodeDrainActorOptions extends DrainTargets {
  readonly nodes: Pick<Informer<DrainedNode>, 'get'>;
  /** `--tier-wait`. */
  readonly tierWaitMs?: number;
  readonly isStopped: () => boolean;
  readonly requestSlot: (entry: DrainEntry) => void;
  /** The actor of the drain started, or needs its pods counted once more. */
  readonly countPods: (entry: DrainEntry) => void;
  readonly onSnapshot: (entry: DrainEntry, snapshot: SnapshotFrom<typeof nodeDrain>) => void;
  /** While its actor restarted, the Node was deleted, or got the end of the drain. */
  readonly onLost: (entry: DrainEntry) => void;
}

/** The actors of all drains. */
export const nodeDrainActors = (
  environment: ActorEnvironment<Cordons>,
  options: NodeDrainActorOptions,
): NodeDrainActors => {
  const { time, telemetry, runtime } = environment;
  const actions = new DrainActions(time, options, {
    entryOf: (key) => (options.isStopped() ? undefined : registry.entry(key)),
    contextOf: ({ key }) => registry.get(key)?.getSnapshot().context,
    requestSlot: options.requestSlot,
    countPods: options.countPods,
  });
  const registry: NodeDrainActors = actorRegistry(environment, {
    name: 'nodeDrain',
    logic: provideNodeDrain(runtime, actions, (one) => registry.inFlight(one, WRITES_STOPPED)),
    keyOf: ({ key }: DrainEntry) => key,
    labelOf: ({ key, owner, node }) => (owner === 'reclaim' ? node.name : key),
    input: (entry, seed) => {
      const input = drainInput(time, options, { entry, seed });
      if (input === undefined) queueMicrotask(() => options.onLost(entry));
      return input;
    },
    onStart: (entry, actor) => {
      options.countPods(entry);
      if (entry.isReleased) actor.send({ type: 'evictions.released' });
    },
    onSnapshot: (entry, snapshot) => {
      options.onSnapshot(entry, snapshot);
      if (drainStateOf(snapshot) === ONLY_KEPT) entry.statelessGoneMs ??= time.monotonic();
      if (snapshot.hasTag('settled')) showEndOnNode(entry, snapshot.context, options);
    },
    onCrash: (entry) => {
      entry.hasCrashed = true;
      entry.observed = null;
      entry.pods.setReleased();
      options.evictions.release(entry.node.name, entry.owner);
    },
    stateOf: drainStateOf,
    onCount: (state, count) => telemetry.gauge('tidegate_drains', count, { state }),
    logFields: ({ node, owner }) => ({ node: node.name, owner }),
  });
  return registry;
};
