/**
 * The drains of this process: begun by an order or by the annotation on a Node, joined by further
 * orders, and forgotten when the end stands on the Node.
 *
 * Promises: one drain for each node and owner; every annotation without an end has a drain while
 * this process leads, whichever process wrote it (DR-13); 32 Nodes are cordoned at
 * once (DR-11); an order that finds a drain at its end begins another one after it; a drain that
 * crashes begins again from what the Node shows.
 */
import { type Observable, Subject, Subscription } from 'rxjs';
import type { ActorRefFrom, SnapshotFrom } from 'xstate';
import { annotationOf, type DrainOwner, isDrainOwner } from '../../domain/drain/cordon.ts';
import type { DrainedNode } from '../../domain/drain/drained-node.ts';
import type { PlanTerms } from '../../domain/drain/plan.ts';
import type { DrainPod } from '../../domain/drain/pod.ts';
import type { Fact } from '../../domain/facts.ts';
import { objectKey, type Revision } from '../../domain/ids.ts';
import { isOlder } from '../../domain/revisions.ts';
import type { Cordons } from '../../effects/cordons.ts';
import type { nodeDrain } from '../../machines/node-drain.ts';
import type { NodeDrainContext } from '../../machines/node-drain-context.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { type ConcurrencyLimit, startConcurrencyLimit } from '../concurrency-limit.ts';
import type { Informer } from '../informers/informer.ts';
import type { PodEvictions } from '../pod-evictions/pod-evictions.ts';
import { DrainBlockers } from './drain-blockers.ts';
import { UnrecognizedCordons } from './drain-events.ts';
import {
  cordonOrderOf,
  deadlineOf,
  type DrainBeginning,
  type DrainDeadline,
  type DrainEntry,
  drainEntry,
  type DrainEvent,
  drainKey,
  type DrainOrder,
  DrainsByNode,
  drainTime,
  hasLanded,
  isEarlier,
  orderedDrain,
  ordersLeft,
  resumedDrain,
} from './drain-index.ts';
import { drainPods } from './drain-pods.ts';
import {
  type DrainTargets,
  type NodeDrainActors,
  nodeDrainActors,
  nodeNow,
} from './node-drain-actor.ts';
import { oncePerMoment, PodsByNode } from './pods-by-node.ts';

export type { DrainEvent, DrainOrder } from './drain-index.ts';

/** Nodes that are cordoned at once (DR-11). */
const CORDONS_AT_ONCE = 32;

export type NodeDrainActor = ActorRefFrom<typeof nodeDrain>;
type DrainSnapshot = SnapshotFrom<typeof nodeDrain>;

/** What drains are started with. */
export interface DrainsOptions extends DrainTargets {
  readonly nodes: Pick<Informer<DrainedNode>, 'facts' | 'get' | 'values'>;
  readonly pods: Pick<Informer<DrainPod>, 'facts'>;
  readonly evictions: Pick<
    PodEvictions,
    'want' | 'release' | 'statusOf' | 'progress' | 'changes'
  >;
  /** The operator's own pod leaves last. */
  readonly own: PlanTerms['own'];
  /** `--tier-wait`. */
  readonly tierWaitMs?: number;
}

/** All drains of a process; not leading at first. */
export class DrainRegistry {
  readonly #environment: ActorEnvironment<Cordons>;
  readonly #options: DrainsOptions;
  readonly #registry: NodeDrainActors;
  readonly #byNode = new DrainsByNode();
  readonly #pods: PodsByNode;
  readonly #unrecognized: UnrecognizedCordons;
  readonly #blockers: DrainBlockers;
  readonly #slots: ConcurrencyLimit<DrainEntry>;
  /** Where the end of a drain stands: older observations of its Node show none. */
  readonly #ends = new Map<string, Revision>();
  /** Owners that have left and whose annotations may still be there. */
  readonly #withdrawn = new Set<string>();
  readonly #events = new Subject<DrainEvent>();
  readonly #subscription = new Subscription();
  readonly #lookSoon: (key: string) => void;
  #isLeading = false;
  #isStopped = false;

  constructor(environment: ActorEnvironment<Cordons>, options: DrainsOptions) {
    this.#environment = environment;
    this.#options = options;
    this.#unrecognized = new UnrecognizedCordons(options.events.leftAlone);
    this.#lookSoon = oncePerMoment((key) => this.#look(key));
    this.#slots = startConcurrencyLimit<DrainEntry>({
      atOnce: CORDONS_AT_ONCE,
      keyOf: ({ key }) => key,
      activate: ({ key }) => (this.#isStopped ? undefined : this.#registry.get(key)),
    });
    this.#registry = nodeDrainActors(environment, {
      ...options,
      isStopped: () => this.#isStopped,
      requestSlot: (entry) => this.#slots.request(entry),
      onStart: ({ key }) => this.#look(key),
      onSnapshot: (entry, snapshot) => this.#moved(entry, snapshot),
      onLost: (entry) => this.#lost(entry),
    });
    this.#blockers = new DrainBlockers(environment, {
      review: (key) => this.#blockersOf(key),
      record: (key, blocked) => {
        const node = this.#registry.entry(key)?.node;
        if (node !== undefined) options.events.blocked(node, blocked);
      },
    });
    this.#pods = new PodsByNode(options.pods.facts, (node) => this.#changed(node));
    this.#subscription.add(options.nodes.facts.subscribe((fact) => this.#onNodes(fact)));
    this.#subscription.add(options.evictions.changes.subscribe((node) => this.#changed(node)));
  }

  get events(): Observable<DrainEvent> {
    return this.#events;
  }

  /** The owner wants this node drained; joins its drain that is under way. */
  readonly order = (node: DrainedNode, order: DrainOrder): void => {
    if (this.#isLeading) this.#place(node, order);
  };

  /** The instruction releases evictions of the node, as soon as it is cordoned. */
  readonly release = (node: string, owner: DrainOwner, id: string): void => {
    const entry = this.#entryOf(node, owner);
    if (entry === undefined) return;
    entry.releasedIds.add(id);
    if (!entry.ids.has(id)) return;
    entry.isReleased = true;
    this.#registry.get(entry.key)?.send({ type: 'evictions.released' });
  };

  /** The owner leaves: its annotation goes; the last owner that leaves uncordons (DR-04). */
  readonly withdraw = (node: string, owner: Exclude<DrainOwner, 'reclaim'>): void => {
    const key = drainKey(node, owner);
    const entry = this.#registry.entry(key);
    const present = this.#options.nodes.get(objectKey(node));
    this.#withdrawn.add(key);
    if (entry !== undefined) {
      entry.isWithdrawn = true;
      this.#registry.get(key)?.send({ type: 'drain.withdrawn' });
    } else if (this.#isLeading && present !== undefined) this.#observeOwner(present, owner);
  };

  readonly onLeading = (): void => {
    if (this.#isLeading) return;
    this.#isLeading = true;
    for (const node of [...this.#options.nodes.values()]) this.#nodeSeen(node);
  };

  readonly onLeadershipLost = (): void => {
    this.#isLeading = false;
    for (const entry of [...this.#registry.entries()]) {
      this.#forget(entry);
      this.#options.evictions.release(entry.node.name, entry.owner);
    }
    this.#ends.clear();
    this.#withdrawn.clear();
  };

  readonly actors = (): Iterable<NodeDrainActor> => [...this.#registry.actors()];

  readonly get = (node: string, owner: DrainOwner = 'reclaim'): NodeDrainActor | undefined =>
    this.#registry.get(drainKey(node, owner));

  /** True while a drain of the node goes on or restarts. */
  readonly has = (node: string, owner: DrainOwner): boolean =>
    this.#registry.has(drainKey(node, owner));

  /** Drains by state. */
  readonly counts = (): Readonly<Record<string, number>> => this.#registry.counts();

  /** Begins nothing new; resolves when Node patches under way have their answers. */
  readonly stop = async (): Promise<void> => {
    this.#isLeading = false;
    this.#isStopped = true;
    this.#subscription.unsubscribe();
    this.#pods.stop();
    this.#slots.stop();
    await this.#blockers.stop();
    await this.#registry.stop();
  };

  /** While its actor restarted, the Node went, or shows the end of the drain. */
  #lost(entry: DrainEntry): void {
    const { name, uid } = entry.node;
    const present = this.#options.nodes.get(objectKey(name));
    const annotation = present?.uid === uid ? annotationOf(present, entry.owner) : undefined;
    this.#forget(entry);
    for (const id of entry.ids) {
      const counted = present?.uid !== uid ||
        (annotation?.ids.includes(id) === true && annotation.ended !== 'Cancelled');
      this.#send(entry, id, { phase: 'Ended', counted });
    }
    if (present !== undefined) this.#observe(present);
  }

  #entryOf(node: string, owner: DrainOwner): DrainEntry | undefined {
    return this.#registry.entry(drainKey(node, owner));
  }

  #send({ node, owner }: DrainEntry, id: string, event: Pick<DrainEvent, 'phase' | 'counted'>) {
    this.#events.next({ node: node.name, owner, id, ...event });
  }

  #forget(entry: DrainEntry): void {
    if (this.#registry.entry(entry.key) === entry) this.#registry.remove(entry.key);
    this.#blockers.forget(entry.key);
    this.#byNode.remove(entry);
  }

  #moved(entry: DrainEntry, snapshot: DrainSnapshot): void {
    for (const id of entry.awaited) {
      if (!hasLanded(snapshot.context, id)) continue;
      entry.awaited.delete(id);
      this.#bringForward(entry, entry.deadlines.get(id));
      this.#send(entry, id, { phase: 'Cordoned', counted: true });
    }
    if (snapshot.hasTag('settled')) this.#finish(entry, snapshot.context);
    else this.#blockers.changed(entry.key);
  }

  /** The earlier deadline wins once it stands on the Node, so that a restart knows it, too. */
  #bringForward(entry: DrainEntry, deadline: DrainDeadline | undefined): void {
    if (deadline === undefined || !isEarlier(deadline, entry.deadline)) return;
    entry.deadline = deadline;
    const time = drainTime(this.#environment.time, deadline, this.#options.tierWaitMs);
    this.#registry.get(entry.key)?.send({ type: 'deadline.moved', ...time });
  }

  #finish(entry: DrainEntry, context: NodeDrainContext): void {
    const { key, owner, node: { name } } = entry;
    this.#forget(entry);
    if (context.node === null) this.#ends.delete(key);
    else this.#ends.set(key, context.node.revision);
    if (context.withdrawn) this.#withdrawn.delete(key);
    const present = this.#options.nodes.get(objectKey(name));
    const nowMs = this.#environment.time.now();
    const again = present === undefined ? [] : ordersLeft(entry, context, nowMs);
    const shown = context.node === null ? undefined : annotationOf(context.node, owner);
    const isCounted = (id: string): boolean =>
      context.node === null || hasLanded(context, id) ||
      (shown?.ids.includes(id) === true && shown.ended !== 'Cancelled');
    for (const id of [...entry.ids, ...entry.queued.map((order) => order.id)]) {
      if (again.some((order) => order.id === id)) continue;
      this.#send(entry, id, { phase: 'Ended', counted: isCounted(id) });
    }
    if (present === undefined) return;
    for (const order of again) {
      this.#place(present, order);
      if (entry.releasedIds.has(order.id)) this.release(name, owner, order.id);
    }
    this.#observe(present);
  }

  #begin(node: DrainedNode, beginning: DrainBeginning): void {
    const entry = drainEntry(
      node,
      beginning,
      drainPods({
        on: () => this.#pods.on(node.name),
        statusOf: this.#options.evictions.statusOf,
        progressOf: this.#options.evictions.progress,
        own: this.#options.own,
        now: this.#environment.time.now,
      }),
    );
    this.#byNode.add(entry);
    this.#registry.consider(entry);
  }

  /** True while a further instruction can join. */
  #canJoin({ key }: DrainEntry): boolean {
    const snapshot = this.#registry.get(key)?.getSnapshot();
    // A drain that restarts joins what came meanwhile.
    if (snapshot === undefined) return true;
    return snapshot.status === 'active' && snapshot.context.node !== null &&
      !snapshot.hasTag('ending') && !snapshot.hasTag('settled');
  }

  #join(entry: DrainEntry, order: DrainOrder): void {
    const { id, machineId } = order;
    entry.ids.add(id);
    entry.orders.set(id, order);
    entry.deadlines.set(id, deadlineOf(this.#environment.time, order));
    if (entry.machineId === '') entry.machineId = machineId;
    const actor = this.#registry.get(entry.key);
    if (actor !== undefined && hasLanded(actor.getSnapshot().context, id)) {
      return this.#send(entry, id, { phase: 'Cordoned', counted: true });
    }
    entry.awaited.add(id);
    actor?.send({ type: 'order.joined', order: cordonOrderOf(order) });
  }

  #place(node: DrainedNode, order: DrainOrder): void {
    const { owner } = order;
    const entry = this.#entryOf(node.name, owner);
    if (entry !== undefined && entry.node.uid === node.uid && this.#canJoin(entry)) {
      return this.#join(entry, order);
    }
    if (entry !== undefined) return void entry.queued.push(order);
    this.#withdrawn.delete(drainKey(node.name, owner));
    this.#begin(node, orderedDrain(this.#environment.time, order));
  }

  /** Begins from the annotation that the Node shows. */
  #resume(node: DrainedNode, owner: DrainOwner): void {
    const key = drainKey(node.name, owner);
    const annotation = annotationOf(node, owner);
    const isWithdrawn = this.#withdrawn.has(key);
    if (annotation === undefined) return void this.#withdrawn.delete(key);
    if (annotation.ended !== null && !isWithdrawn) return;
    const end = this.#ends.get(key);
    if (end !== undefined && isOlder(node.revision, end)) return;
    this.#begin(node, resumedDrain(this.#environment.time, annotation, { owner, isWithdrawn }));
  }

  #observe(node: DrainedNode): void {
    const owners = new Set<DrainOwner>(Object.keys(node.cordons).filter(isDrainOwner));
    for (const { owner } of this.#byNode.of(node.name)) owners.add(owner);
    for (const owner of owners) this.#observeOwner(node, owner);
  }

  #observeOwner(node: DrainedNode, owner: DrainOwner): void {
    const entry = this.#entryOf(node.name, owner);
    if (entry === undefined) return this.#resume(node, owner);
    const isSame = entry.node.uid === node.uid;
    this.#registry.get(entry.key)?.send(
      isSame ? { type: 'node.observed', node } : { type: 'node.vanished' },
    );
  }

  /** Sends the statechart how its pods are, when that is new. */
  #look(key: string): void {
    const entry = this.#registry.entry(key);
    const actor = this.#registry.get(key);
    if (entry === undefined || actor === undefined || this.#isStopped) return;
    this.#blockers.changed(key);
    const observed = entry.pods.look(actor.getSnapshot().context.startedTo);
    const text = JSON.stringify(observed.podCounts) + observed.refusal;
    if (text === entry.observed && !observed.moved) return;
    entry.observed = text;
    actor.send({ type: 'pods.observed', ...observed });
  }

  #blockersOf(key: string) {
    const entry = this.#registry.entry(key);
    if (entry === undefined) return undefined;
    const snapshot = this.#registry.get(key)?.getSnapshot();
    if (snapshot?.matches({ work: { underway: 'draining' } }) !== true) {
      return { blocked: [], nextOverdueMs: null };
    }
    const node = nodeNow(entry, snapshot.context, this.#options.paused);
    return { blocked: entry.pods.blocked(node), nextOverdueMs: entry.pods.nextOverdueMs() };
  }

  /** Pods of the node changed; without a node, any pods. */
  #changed(node?: string): void {
    const drains = node === undefined ? this.#registry.entries() : this.#byNode.of(node);
    for (const { key } of drains) this.#lookSoon(key);
  }

  #nodeSeen(node: DrainedNode): void {
    if (!this.#isLeading) return;
    this.#unrecognized.observe(node);
    this.#observe(node);
  }

  #nodeGone(name: string): void {
    this.#unrecognized.forget(name);
    for (const { key } of this.#byNode.of(name)) {
      this.#ends.delete(key);
      this.#registry.get(key)?.send({ type: 'node.vanished' });
    }
  }

  #onNodes(fact: Fact<DrainedNode>): void {
    if (fact._tag === 'Present') return this.#nodeSeen(fact.object);
    if (fact._tag === 'Absent') return this.#nodeGone(fact.key);
    for (const node of fact.objects) this.#nodeSeen(node);
    for (const name of this.#byNode.nodes()) {
      if (this.#options.nodes.get(objectKey(name)) === undefined) this.#nodeGone(name);
    }
  }
}
