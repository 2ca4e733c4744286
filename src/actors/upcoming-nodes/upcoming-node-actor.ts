/**
 * The `upcomingNode` statechart with its writes to the API server, its Events and its log lines.
 *
 * Promises: the readiness of a Node gets one Event; failed writes get an Event per object and one
 * aggregated log line.
 */
import { Effect } from 'effect';
import { type Actor, fromPromise, type SnapshotFrom } from 'xstate';
import type { EventNote, RecordEvent } from '../../api/event-note.ts';
import type { Telemetry } from '../../api/telemetry.ts';
import { configuredPatch } from '../../domain/drain/cordon-patch.ts';
import { type NodeLink, nodeLinkOf, sameNodeLink } from '../../domain/node-link.ts';
import type { WriteOutcome } from '../../domain/object-write.ts';
import { isOlder } from '../../domain/resource-versions.ts';
import type { DrainFact } from '../../domain/object-phase.ts';
import type { Time } from '../../domain/time.ts';
import {
  machinePhaseOf,
  pendingWrite,
  showsDrain,
  type UpcomingNodeFacts,
  type UpcomingNodeProjection,
} from '../../domain/upcoming-node.ts';
import { Cordons } from '../../effects/cordons.ts';
import { UpcomingNodes } from '../../effects/upcoming-nodes.ts';
import type { UpcomingNodeAct, UpcomingNodeContext } from '../../machines/upcoming-node-context.ts';
import { upcomingNode } from '../../machines/upcoming-node.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import type { ActorKind } from '../actor-kind.ts';
import { type EffectRuntime, type WriteInFlight, WRITES_STOPPED } from '../actor-logic.ts';
import { type ActorRegistry, actorRegistry } from '../actor-registry.ts';
import { type ConcurrencyLimit, startConcurrencyLimit } from '../concurrency-limit.ts';
import { warningAggregator } from '../../streams/warning-aggregator.ts';
import type { MachineEntry, MachineIndex } from './machine-index.ts';
import { type NodeReadiness, nodeReadiness, objectIn } from './node-readiness.ts';

/** The actions of the statechart. */
export interface UpcomingNodeActions {
  readonly requestSlot: (context: UpcomingNodeContext) => void;
  readonly recordNodeReady: (context: UpcomingNodeContext) => void;
  readonly recordRefused: (context: UpcomingNodeContext) => void;
  readonly recordFailing: (context: UpcomingNodeContext) => void;
}

/** Removes the `reclaim` key from the named Node, if that is still pending. */
export type ReleaseNode = (node: string) => Effect.Effect<WriteOutcome<NodeLink>, never, Cordons>;

/** The writes of the statechart. */
export interface UpcomingNodeWrites {
  readonly inFlight: WriteInFlight;
  readonly releaseNode: ReleaseNode;
}

/** The statechart, provided once for all machines. */
export const provideUpcomingNode = (
  runtime: EffectRuntime<UpcomingNodes | Cordons>,
  actions: UpcomingNodeActions,
  { inFlight, releaseNode }: UpcomingNodeWrites,
): typeof upcomingNode => {
  const write = (verb: keyof UpcomingNodes['Service']) =>
    fromPromise<WriteOutcome<UpcomingNodeProjection>, UpcomingNodeAct>(({ input, signal }) =>
      runtime.runPromise(
        Effect.flatMap(UpcomingNodes, (upcomingNodes) => inFlight(upcomingNodes[verb](input))),
        { signal },
      )
    );
  return upcomingNode.provide({
    actors: {
      createObject: write('create'),
      patchStatus: write('patchStatus'),
      patchSpec: write('patchSpec'),
      deleteObject: write('remove'),
      releaseNode: fromPromise<WriteOutcome<NodeLink>, UpcomingNodeAct>(
        ({ input: { facts }, signal }) =>
          runtime.runPromise(inFlight(releaseNode(facts.node?.name ?? '')), { signal }),
      ),
    },
    actions: {
      requestSlot: ({ context }) => actions.requestSlot(context),
      recordNodeReady: ({ context }) => actions.recordNodeReady(context),
      recordRefused: ({ context }) => actions.recordRefused(context),
      recordFailing: ({ context }) => actions.recordFailing(context),
    },
  });
};

/** Removes the `reclaim` key from a Node, if the Node still allows it. */
export const releaseFrom =
  (index: Pick<MachineIndex, 'nodeNamed' | 'putNode'>): ReleaseNode => (name) =>
    Effect.gen(function* (): Effect.fn.Return<WriteOutcome<NodeLink>, never, Cordons> {
      const { patch } = yield* Cordons;
      const node = index.nodeNamed(name);
      if (node === undefined) return { _tag: 'Absent' };
      const body = configuredPatch(node);
      if (body === undefined) return { _tag: 'Written', current: nodeLinkOf(node) };
      const outcome = yield* patch({ node: name, purpose: 'release', body });
      switch (outcome._tag) {
        case 'Written': {
          const released = { ...node, ...outcome.node };
          index.putNode(released);
          return { _tag: 'Written', current: nodeLinkOf(released) };
        }
        case 'Gone':
          return { _tag: 'Absent' };
        case 'Conflict':
          return { _tag: 'Fault', why: 'the Node changed concurrently' };
        case 'Refused':
        case 'Fault':
          return outcome;
      }
    });

/** The Events about writes. */
type ProblemEvents = Pick<UpcomingNodeActions, 'recordRefused' | 'recordFailing'>;

/** Records failed writes. */
const problemEvents = (
  { telemetry, time }: { readonly telemetry: Telemetry; readonly time: Time },
  record: RecordEvent,
): ProblemEvents => {
  const warn = warningAggregator(telemetry, time, 'Cannot write UpcomingNodes');
  const recordProblem = (reason: EventNote['reason']) => (context: UpcomingNodeContext): void => {
    const { name, problem } = context;
    warn({ name, reason, problem });
    const note = `Cannot write UpcomingNode "${name}": ${problem}`;
    record({ regarding: objectIn(context), reason, note });
  };
  return {
    recordRefused: recordProblem('WriteRefused'),
    recordFailing: recordProblem('WriteFailing'),
  };
};

/** Machines that write at once (WIRE-04). */
const MACHINES_AT_ONCE = 32;
/** Additional slots for machines whose drain reports. */
const DRAINED_AT_ONCE = 16;
/** The maximum number of settled actors that stay active for inspection. */
const ACTIVE_SETTLED_MAX = 2000;

type Machine = typeof upcomingNode;
export type UpcomingNodeActor = Actor<Machine>;
type Snapshot = SnapshotFrom<Machine>;

/** What the actors read, and where they record. */
export interface UpcomingNodeActorsOptions {
  readonly index: MachineIndex;
  readonly object: (key: MachineEntry['key']) => UpcomingNodeProjection | undefined;
  /** The lists of objects and Nodes are complete; nothing acts before. */
  readonly isReady: () => boolean;
  readonly record: RecordEvent;
  /** `--lease-duration`. */
  readonly leaseMs: number;
}

/** The actors of all machines. */
export interface UpcomingNodeActors {
  readonly actors: () => Iterable<UpcomingNodeActor>;
  readonly get: (machineId: string) => UpcomingNodeActor | undefined;
  /** Feeds an active actor; activates a passive one when a write is pending. */
  readonly consider: (entry: MachineEntry) => void;
  /** What its drain reports; resolves when the object shows it, is refused, or does not exist. */
  readonly drain: (machineId: string, fact: DrainFact) => Promise<void>;
  /** The object is gone; an ended machine is removed. */
  readonly onVanished: (entry: MachineEntry, last: UpcomingNodeProjection) => void;
  /** From now on readiness is recorded: that of moments ago at once. */
  readonly onLeading: () => void;
  /** Discards the reports of every machine; nothing is pending until the next report. */
  readonly onLeadershipLost: () => void;
  readonly counts: () => Readonly<Record<string, number>>;
  readonly idle: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

class MachineActors implements UpcomingNodeActors {
  readonly #environment: ActorEnvironment<UpcomingNodes | Cordons>;
  readonly #index: MachineIndex;
  readonly #object: UpcomingNodeActorsOptions['object'];
  readonly #isReady: UpcomingNodeActorsOptions['isReady'];
  readonly #readiness: NodeReadiness;
  readonly #registry: ActorRegistry<Machine, MachineEntry>;
  readonly #frameSlots: ConcurrencyLimit<MachineEntry>;
  readonly #drainSlots: ConcurrencyLimit<MachineEntry>;

  constructor(
    environment: ActorEnvironment<UpcomingNodes | Cordons>,
    { index, object, isReady, record, leaseMs }: UpcomingNodeActorsOptions,
  ) {
    this.#environment = environment;
    this.#index = index;
    this.#object = object;
    this.#isReady = isReady;
    this.#readiness = nodeReadiness(environment, { index, leaseMs, record });
    this.#registry = actorRegistry(environment, this.#kind(problemEvents(environment, record)));
    const inUse = { frames: 0, drains: 0 };
    const limit = (purpose: keyof typeof inUse, atOnce: number) =>
      startConcurrencyLimit<MachineEntry>({
        atOnce,
        keyOf: ({ machineId }) => machineId,
        activate: (entry) => this.#activate(entry),
        onInUse: (count) => {
          inUse[purpose] = count;
          const all = inUse.frames + inUse.drains;
          environment.telemetry.gauge('bigfleet_operator_dispatch_inflight', all);
        },
      });
    this.#frameSlots = limit('frames', MACHINES_AT_ONCE);
    this.#drainSlots = limit('drains', DRAINED_AT_ONCE);
  }

  readonly actors = () => this.#registry.actors();
  readonly get = (machineId: string) => this.#registry.get(machineId);
  readonly counts = () => this.#registry.counts();

  readonly consider = (entry: MachineEntry): void => {
    if (!this.#isReady()) return;
    this.#index.settleDrain(entry);
    this.#readiness.observe(entry);
    this.#registry.consider(entry);
    this.#answerDrain(entry);
    // A machine that waits for a slot because of a frame has requested only that slot.
    const isWaiting = this.#registry.stateOf(entry.machineId) === 'waiting';
    if (entry.awaiting.length > 0 && isWaiting) this.#drainSlots.request(entry);
  };

  readonly drain = (machineId: string, fact: DrainFact): Promise<void> =>
    new Promise((resolve) => {
      const entry = this.#index.putDrain(machineId, fact);
      if (entry === undefined) return resolve();
      entry.awaiting.push(resolve);
      this.consider(entry);
    });

  readonly onVanished = (entry: MachineEntry, last: UpcomingNodeProjection): void => {
    const actor = this.get(entry.machineId);
    actor?.send({ type: 'object.vanished', last });
    if (actor?.getSnapshot().matches('gone') === true) this.#registry.passivate(entry);
    else this.consider(entry);
  };

  readonly onLeading = (): void => this.#readiness.onLeading();

  readonly onLeadershipLost = (): void => {
    this.#readiness.onLeadershipLost();
    this.#registry.suspend(this.#index.entries(), (entry) => {
      this.#readiness.observe(entry);
      entry.reported = undefined;
      entry.drain = undefined;
      entry.outlivedDrain = false;
      // Their callers have lost leadership, too.
      entry.awaiting = [];
      entry.wasConfigured = false;
    });
  };

  readonly idle = async (): Promise<void> => {
    await this.#frameSlots.idle();
    await this.#drainSlots.idle();
  };

  readonly stop = (): Promise<void> => {
    this.#frameSlots.stop();
    this.#drainSlots.stop();
    return this.#registry.stop();
  };

  #kind(problems: ProblemEvents): ActorKind<Machine, MachineEntry> {
    const { telemetry } = this.#environment;
    return {
      name: 'upcomingNode',
      logic: this.#provided(problems),
      keyOf: ({ machineId }) => machineId,
      input: (entry, seed) => ({
        machineId: entry.machineId,
        name: entry.key,
        facts: this.#index.facts(entry),
        readyRecorded: entry.readyRecorded,
        seed,
      }),
      observe: (entry, actor) => this.#observe(entry, actor),
      onSnapshot: (entry, snapshot) => {
        this.#answerDrain(entry);
        if (snapshot.hasTag('settled')) this.#measure(entry, snapshot.context.facts);
      },
      onCount: (state, count) => telemetry.gauge('tidegate_machines', count, { state }),
      passivation: {
        activeMax: ACTIVE_SETTLED_MAX,
        isPending: (entry) => this.#isPending(entry),
        isSafe: (entry, { context }) => this.#isCached(entry, context),
        isOver: (snapshot: Snapshot) => snapshot.matches('gone'),
        onPending: (entry) => this.#requestSlot(entry),
        onPassive: (entry) => {
          entry.pendingSinceMs = undefined;
          this.#answerDrain(entry);
        },
        isForgotten: (entry) => this.#index.forget(entry),
      },
    };
  }

  #provided(problems: ProblemEvents): Machine {
    return provideUpcomingNode(this.#environment.runtime, {
      ...problems,
      requestSlot: ({ machineId }) => {
        const entry = this.#index.get(machineId);
        if (entry !== undefined) this.#requestSlot(entry);
      },
      recordNodeReady: (context) => this.#readiness.record(context),
    }, {
      inFlight: (write) => this.#registry.inFlight(write, WRITES_STOPPED),
      releaseNode: releaseFrom(this.#index),
    });
  }

  #requestSlot(entry: MachineEntry): void {
    (entry.awaiting.length > 0 ? this.#drainSlots : this.#frameSlots).request(entry);
  }

  /** The machine may have been removed and added again since it requested its slot. */
  #activate({ machineId }: MachineEntry): UpcomingNodeActor | undefined {
    const entry = this.#index.get(machineId);
    return entry && this.#registry.activate(entry);
  }

  #isPending(entry: MachineEntry): boolean {
    const facts = this.#index.facts(entry);
    return pendingWrite(entry.machineId, facts) !== undefined ||
      this.#readiness.isPending(entry, facts);
  }

  /** True when the cache has all the actor's knowledge. */
  #isCached(entry: MachineEntry, { facts, newest }: UpcomingNodeContext): boolean {
    const cached = this.#object(entry.key);
    if (cached === undefined) return facts.current === null;
    if (facts.current === null) return false;
    return newest === null || !isOlder(cached.resourceVersion, newest);
  }

  #observe(entry: MachineEntry, actor: UpcomingNodeActor): void {
    const { facts, newest } = actor.getSnapshot().context;
    const { reported } = entry;
    if (reported !== undefined && reported !== facts.reported) {
      actor.send({ type: 'machine.observed', reported });
    }
    const drain = entry.drain ?? null;
    if (drain !== facts.drain) actor.send({ type: 'drain.observed', drain });
    const node = this.#index.node(entry);
    if (!sameNodeLink(node, facts.node)) actor.send({ type: 'node.observed', node });
    const current = this.#object(entry.key);
    if (current !== undefined && current.resourceVersion !== newest) {
      actor.send({ type: 'object.observed', current });
    }
  }

  #answerDrain(entry: MachineEntry): void {
    if (entry.awaiting.length === 0) return;
    const facts = this.get(entry.machineId)?.getSnapshot().context.facts ??
      this.#index.facts(entry);
    const isKnown = facts.drain === (entry.drain ?? null);
    // A write that cannot succeed holds up no drain (DR-04).
    const isRefused = this.#registry.stateOf(entry.machineId) === 'refused';
    if (!isKnown || !(isRefused || showsDrain(entry.machineId, facts))) return;
    for (const resolve of entry.awaiting.splice(0)) resolve();
  }

  #measure(entry: MachineEntry, facts: UpcomingNodeFacts): void {
    if (entry.pendingSinceMs === undefined) return;
    const { telemetry, time } = this.#environment;
    const seconds = (time.monotonic() - entry.pendingSinceMs) / 1000;
    const phase = machinePhaseOf(facts) ?? 'Gone';
    entry.pendingSinceMs = undefined;
    telemetry.observe('bigfleet_operator_node_state_update_duration_seconds', seconds, { phase });
  }
}

/** The actors of an index of machines; none is active at first. */
export const upcomingNodeActors = (
  environment: ActorEnvironment<UpcomingNodes | Cordons>,
  options: UpcomingNodeActorsOptions,
): UpcomingNodeActors => new MachineActors(environment, options);
