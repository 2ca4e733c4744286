/**
 * The machines of this cluster and their UpcomingNodes.
 *
 * Promises: each UpcomingNode has one writer; frames and drains act only when the lists of objects
 * and Nodes are complete, and until then the last of each machine is kept; frames of one machine
 * that come together lead to one decision; 32 machines write at once; malformed fields are left
 * out, with one Event, and cost only themselves; an object is called stale only by the end of a
 * proven replay. What was reported in one term of leadership is not true in
 * the next: `onLeadershipLost` at its end.
 */
import { type Observable, Subject, Subscription } from 'rxjs';
import type { RecordEvent } from '../../api/event-note.ts';
import { GROUP_VERSION } from '../../domain/api-group.ts';
import type { NodeProjection } from '../../domain/cluster-node.ts';
import type { Fact } from '../../domain/facts.ts';
import type { MachineObservation, ShardEvent } from '../../domain/frames.ts';
import { wellFormed } from '../../domain/machine-spec.ts';
import type { NodeMatch } from '../../domain/node-matching.ts';
import type { DrainFact } from '../../domain/object-phase.ts';
import { SHARD_LIMITS } from '../../domain/shard-limits.ts';
import type { Intern } from '../../domain/text-pool.ts';
import type { UpcomingNodeProjection } from '../../domain/upcoming-node.ts';
import type { Cordons } from '../../effects/cordons.ts';
import type { UpcomingNodes } from '../../effects/upcoming-nodes.ts';
import { type MachineEntry, type MachineIndex, machineIndex } from './machine-index.ts';
import {
  type UpcomingNodeActor,
  type UpcomingNodeActors,
  upcomingNodeActors,
} from './upcoming-node-actor.ts';
import { coalescePerKey, microtaskEnd } from '../../streams/coalesce-per-key.ts';
import { type Trouble, warningAggregator } from '../../streams/warning-aggregator.ts';
import type { Informer } from '../informers/informer.ts';
import type { ActorEnvironment } from '../actor-environment.ts';

/** The inputs of the machines. */
export interface UpcomingNodesOptions {
  readonly shardEvents: Observable<ShardEvent>;
  readonly upcomingNodes: Pick<Informer<UpcomingNodeProjection>, 'facts' | 'get'>;
  readonly nodes: Pick<Informer<NodeProjection>, 'facts'>;
  readonly record: RecordEvent;
  /** Interns equal specs; the informer's projection uses the same function. */
  readonly intern: Intern;
  /** `--lease-duration`. */
  readonly leaseMs: number;
}

/** All machines of this cluster. */
export interface UpcomingNodeRegistry {
  /** The active actors. */
  readonly actors: () => Iterable<UpcomingNodeActor>;
  /** The actor of a machine, while it is active. */
  readonly get: (machineId: string) => UpcomingNodeActor | undefined;
  /** Machines by state; those without an active actor are `passive`. */
  readonly counts: () => Readonly<Record<string, number>>;
  /** The Node of a machine, known or not; `named` is the name in an instruction. */
  readonly nodeOf: (machineId: string, named?: string) => NodeMatch | undefined;
  /** The machine of this Node; `undefined` when unknown or ambiguous. */
  readonly machineOf: (node: string) => string | undefined;
  /** The shard showed the machine CONFIGURED in this term, and it has not left since. */
  readonly wasConfigured: (machineId: string) => boolean;
  /**
   * Applies the report of a machine's drain; resolves when the object shows it, or there is none.
   * Frames do not undo it (DR-40). Never resolves after the lease is lost.
   */
  readonly drain: (machineId: string, fact: DrainFact) => Promise<void>;
  /** This process leads: it records the readiness of Nodes from now on. */
  readonly onLeading: () => void;
  /**
   * Discards the shard's reports at the end of a term of leadership, because another process has
   * its own session from then on. The next session's replay reports them again.
   */
  readonly onLeadershipLost: () => void;
  /** Resolves when no machine writes or waits for a slot. */
  readonly idle: () => Promise<void>;
  /** Starts no more writes and resolves when those in flight have their answers. */
  readonly stop: () => Promise<void>;
}

/** The stream that was opened last, and the one with a complete replay. */
interface Replay {
  stream: number;
  resynced: number | undefined;
  /**
   * Machines that a stream reported before it was opened, and whether their last frame was
   * malformed; `undefined` while one is open.
   */
  early: Map<string, boolean> | undefined;
}

/** Machines of one burst of frames; further ones are considered before the burst ends. */
const BURST_MAX = 10_000;

class Machines implements UpcomingNodeRegistry {
  readonly #environment: ActorEnvironment<UpcomingNodes | Cordons>;
  readonly #index: MachineIndex;
  readonly #actors: UpcomingNodeActors;
  readonly #object: UpcomingNodesOptions['upcomingNodes']['get'];
  readonly #record: RecordEvent;
  readonly #warnLeftOut: (trouble: Trouble) => void;
  readonly #warnBeyond: (trouble: Trouble) => void;
  readonly #subscription = new Subscription();
  /** Ids of machines with new reports. */
  readonly #reports = new Subject<string>();
  readonly #flush = new Subject<void>();
  readonly #replay: Replay = { stream: 0, resynced: undefined, early: new Map() };
  /** The complete lists; nothing acts before both are. */
  readonly #listed = { nodes: false, objects: false, both: false };
  readonly drain: UpcomingNodeRegistry['drain'];

  constructor(
    environment: ActorEnvironment<UpcomingNodes | Cordons>,
    { shardEvents, upcomingNodes, nodes, record, intern, leaseMs }: UpcomingNodesOptions,
  ) {
    const { get: object } = upcomingNodes;
    const { telemetry, time } = environment;
    this.#environment = environment;
    this.#object = object;
    this.#record = record;
    this.#warnLeftOut = warningAggregator(telemetry, time, 'Malformed fields of machines left out');
    this.#warnBeyond = warningAggregator(telemetry, time, 'Machines beyond the limit left out');
    this.#index = machineIndex({ object, telemetry: environment.telemetry, intern });
    this.#actors = upcomingNodeActors(environment, {
      index: this.#index,
      object,
      isReady: () => this.#listed.both,
      record,
      leaseMs,
    });
    this.drain = this.#actors.drain;
    const coalesced = this.#reports.pipe(coalescePerKey({
      keyOf: (machineId) => machineId,
      // After all simultaneous frames are applied.
      release: microtaskEnd,
      flush: this.#flush,
      keysMax: BURST_MAX,
    }));
    this.#subscription.add(coalesced.subscribe(this.#onReport));
    this.#subscription.add(nodes.facts.subscribe(this.#onNodes));
    this.#subscription.add(upcomingNodes.facts.subscribe(this.#onObjects));
    this.#subscription.add(shardEvents.subscribe(this.#onShardEvent));
  }

  readonly actors = () => this.#actors.actors();
  readonly get = (machineId: string) => this.#actors.get(machineId);
  readonly counts = () => this.#actors.counts();
  readonly nodeOf = (machineId: string, named?: string) => this.#index.nodeOf(machineId, named);
  readonly machineOf = (node: string) => this.#index.machineOf(node);
  readonly wasConfigured = (machineId: string) =>
    this.#index.get(machineId)?.wasConfigured === true;

  readonly onLeading = (): void => this.#actors.onLeading();

  readonly onLeadershipLost = (): void => {
    this.#replay.early = new Map();
    this.#actors.onLeadershipLost();
  };

  readonly idle = (): Promise<void> => {
    this.#flush.next();
    return this.#actors.idle();
  };

  readonly stop = (): Promise<void> => {
    this.#subscription.unsubscribe();
    return this.#actors.stop();
  };

  readonly #consider = (entry: MachineEntry): void => this.#actors.consider(entry);

  #isProven(): boolean {
    return this.#listed.both && this.#replay.resynced === this.#replay.stream;
  }

  #unbindAbsent(): void {
    if (this.#isProven()) this.#index.unbind(this.#replay.stream).forEach(this.#consider);
  }

  #onListed(list: 'nodes' | 'objects'): void {
    const listed = this.#listed;
    listed[list] = true;
    if (listed.both || !listed.nodes || !listed.objects) return;
    listed.both = true;
    [...this.#index.entries()].forEach(this.#consider);
    this.#unbindAbsent();
  }

  /** The frame is applied at once: its meaning depends on the previous one. */
  #onFrame(frame: MachineObservation): void {
    const { time } = this.#environment;
    if (this.#index.isBeyond(frame.machineId)) return this.#refuse(frame.machineId);
    const { machine, leftOut } = wellFormed(frame);
    this.#addEarly(machine.machineId, false);
    const entry = this.#index.putFrame(machine, this.#replay.stream, time.now());
    const known = this.#index.get(machine.machineId);
    if (known !== undefined) this.#onLeftOut(known, leftOut);
    if (entry === undefined) return this.#countNoop();
    entry.pendingSinceMs ??= time.monotonic();
    this.#reports.next(entry.machineId);
  }

  #refuse(machineId: string): void {
    const limit = 'machines';
    this.#environment.telemetry.count('tidegate_shard_limits_reached_total', 1, { limit });
    const problem = `limit ${SHARD_LIMITS[limit].max}; the fleet must take machines back first`;
    this.#warnBeyond({ name: machineId, reason: limit, problem });
  }

  #onLeftOut(entry: MachineEntry, problem: string): void {
    if (entry.leftOut === problem) return;
    entry.leftOut = problem;
    if (problem !== '') this.#warnLeftOut({ name: entry.key, reason: 'FieldsLeftOut', problem });
    this.#recordLeftOut(entry);
  }

  /** An Event without the UID of its object is not listed with the object, so it waits for it. */
  #recordLeftOut(entry: MachineEntry): void {
    const { key: name, leftOut: problem } = entry;
    const uid = this.#object(name)?.uid;
    if (uid === undefined || entry.leftOutRecorded === problem) return;
    entry.leftOutRecorded = problem;
    if (problem === '') return;
    this.#record({
      regarding: { apiVersion: GROUP_VERSION, kind: 'UpcomingNode', name, uid },
      reason: 'FieldsLeftOut',
      note: `Left out of UpcomingNode "${name}": ${problem}`,
    });
  }

  readonly #onReport = (machineId: string): void => {
    const entry = this.#index.get(machineId);
    if (entry === undefined) return this.#countNoop();
    this.#consider(entry);
    if (entry.pendingSinceMs === undefined) this.#countNoop();
  };

  #countNoop(): void {
    const nothing = { op: 'status_update', outcome: 'noop' };
    this.#environment.telemetry.count('bigfleet_operator_upcoming_node_writes_total', 1, nothing);
  }

  /** What the stream reported before counts for it: the replay need not repeat it. */
  #onOpened(stream: number): void {
    const { early = [] } = this.#replay;
    this.#replay.stream = stream;
    this.#replay.early = undefined;
    for (const [machine, isMalformed] of early) {
      if (isMalformed) this.#index.mention(machine, stream);
      else this.#index.bind(machine, stream);
    }
  }

  #addEarly(machineId: string, isMalformed: boolean): void {
    const { early } = this.#replay;
    const hasRoom = early !== undefined &&
      (early.has(machineId) || early.size < SHARD_LIMITS.machines.max);
    if (hasRoom) early.set(machineId, isMalformed);
  }

  readonly #onShardEvent = (event: ShardEvent): void => {
    switch (event._tag) {
      case 'MachineObserved':
        return this.#onFrame(event.machine);
      case 'MachineMalformed':
        this.#addEarly(event.machineId, true);
        return this.#index.mention(event.machineId, this.#replay.stream);
      case 'StreamOpened':
        return this.#onOpened(event.stream);
      case 'Resynced':
        this.#replay.resynced = event.stream;
        return this.#unbindAbsent();
      case 'StreamEnded':
        this.#replay.resynced = undefined;
        this.#replay.early = new Map();
        return;
      case 'CapacityObserved':
      case 'ReclaimInstructed':
      case 'ReplayUnproven':
        return;
    }
  };

  readonly #onObject = (current: UpcomingNodeProjection): void => {
    const entry = this.#index.ownerOf(current);
    if (entry === undefined) return;
    // The cache may get an object only after the replay that lacked its machine.
    if (this.#isProven()) this.#index.unbindOne(entry, this.#replay.stream);
    this.#recordLeftOut(entry);
    this.#consider(entry);
  };

  readonly #onObjects = (fact: Fact<UpcomingNodeProjection>): void => {
    if (fact._tag === 'Present') return this.#onObject(fact.object);
    if (fact._tag === 'Listed') {
      fact.objects.forEach(this.#onObject);
      return this.#onListed('objects');
    }
    const entry = this.#index.ownerOf(fact.last);
    if (entry !== undefined) this.#actors.onVanished(entry, fact.last);
  };

  readonly #onNodes = (fact: Fact<NodeProjection>): void => {
    if (fact._tag === 'Absent') return this.#index.removeNode(fact.key).forEach(this.#consider);
    const observed = fact._tag === 'Listed' ? fact.objects : [fact.object];
    for (const node of observed) this.#index.putNode(node).forEach(this.#consider);
    if (fact._tag === 'Listed') this.#onListed('nodes');
  };
}

/** Starts to follow the session, the UpcomingNodes and the Nodes. */
export const startUpcomingNodes = (
  environment: ActorEnvironment<UpcomingNodes | Cordons>,
  options: UpcomingNodesOptions,
): UpcomingNodeRegistry => new Machines(environment, options);
