/**
 * The drains of this process: begun by an instruction or by the annotation on a Node, joined by
 * further instructions, and removed when the end is written to the Node.
 *
 * Promises: one drain per node and owner; while this process leads, every annotation without an end
 * has a drain, whichever process wrote it (DR-13); 32 Nodes are cordoned at once (DR-11); an
 * instruction that finds a drain ending begins another; a crashed drain restarts from the Node.
 */
import { audit, EMPTY, from, merge, type Observable, Subject, Subscription } from 'rxjs';
import type { Actor, SnapshotFrom } from 'xstate';
import { annotationOf, type DrainOwner } from '../../domain/drain/cordon.ts';
import type { DrainedNode } from '../../domain/drain/drained-node.ts';
import { nodePods } from '../../domain/drain/node-pods.ts';
import type { Fact } from '../../domain/facts.ts';
import { objectKey } from '../../domain/ids.ts';
import { sameJson } from '../../domain/json-equality.ts';
import { isOlder } from '../../domain/resource-versions.ts';
import type { Cordons } from '../../effects/cordons.ts';
import type { nodeDrain } from '../../machines/node-drain.ts';
import type { NodeDrainEvent } from '../../machines/node-drain-context.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { type Defer, deferredSends } from '../actor-logic.ts';
import { type ConcurrencyLimit, startConcurrencyLimit } from '../concurrency-limit.ts';
import { blockersOfDrains, type DrainBlockers, showMissedEnd } from './drain-blockers.ts';
import { UnrecognizedCordons } from './drain-events.ts';
import {
  addOrder,
  canJoin,
  cordonOrderOf,
  CORDONS_AT_ONCE,
  countedAtEnd,
  type DrainBeginning,
  type DrainDeadline,
  type DrainEntry,
  drainEntry,
  type DrainEvent,
  drainKey,
  type DrainOrder,
  drainOwnersOf,
  DrainsByNode,
  drainTime,
  hasLanded,
  hasLeft,
  isEarlier,
  isNamedIn,
  orderedDrain,
  ordersLeft,
  resumedDrain,
  takesInstruction,
} from './drain-index.ts';
import { DrainPods } from './drain-pods.ts';
import type { DrainsOptions } from './drains-options.ts';
import { LateDrains } from './late-drains.ts';
import { drainScope } from './maintained-nodes.ts';
import { type NodeDrainActors, nodeDrainActors } from './node-drain-actor.ts';
import { PastDrains } from './past-drains.ts';

/** All drains of a process; not leading at first. */
export class DrainRegistry {
  readonly #environment: ActorEnvironment<Cordons>;
  readonly #options: DrainsOptions;
  readonly #registry: NodeDrainActors;
  readonly #byNode = new DrainsByNode();
  readonly #pods = nodePods();
  readonly #unrecognized: UnrecognizedCordons;
  readonly #blockers: DrainBlockers;
  readonly #late: LateDrains;
  readonly #slots: ConcurrencyLimit<DrainEntry>;
  readonly #past = new PastDrains();
  readonly #events = new Subject<DrainEvent>();
  readonly events: Observable<DrainEvent> = this.#events;
  /** The drains that a term found on Nodes go on. */
  readonly resumed = new Subject<void>();
  readonly #subscription = new Subscription();
  #resuming = new Subscription();
  /** Drains whose pods changed; all that change at this moment are looked at together. */
  readonly #changed = new Set<string>();
  readonly #changes = new Subject<void>();
  readonly #defer: Defer;
  #isLeading = false;
  #isStopped = false;

  constructor(environment: ActorEnvironment<Cordons>, options: DrainsOptions) {
    this.#environment = environment;
    this.#options = options;
    this.#defer = deferredSends(environment.telemetry);
    this.#unrecognized = new UnrecognizedCordons(options.events.leftAlone);
    this.#late = new LateDrains(environment.telemetry);
    this.#slots = startConcurrencyLimit<DrainEntry>({
      atOnce: CORDONS_AT_ONCE,
      keyOf: ({ key }) => key,
      activate: ({ key }) => (this.#isStopped ? undefined : this.#registry.get(key)),
    });
    this.#registry = nodeDrainActors(environment, {
      ...options,
      isStopped: () => this.#isStopped,
      requestSlot: this.#slots.request,
      countPods: ({ node }) => this.#onPods(node.name),
      onSnapshot: (entry, snapshot) => this.#moved(entry, snapshot),
      onLost: (entry) => this.#lost(entry),
    });
    this.#blockers = blockersOfDrains(environment, this.#registry, options);
    // A drain that looks at old pods takes the node for empty, or gone pods for left (DR-13).
    this.#changes.pipe(audit(options.whenPodsCurrent)).subscribe(() => this.#lookAtChanged());
    const { pods, nodes, evictions, localData } = options;
    this.#subscription.add(pods.facts.subscribe((fact) => this.#onPods(this.#pods.observe(fact))));
    this.#subscription.add(nodes.facts.subscribe((fact) => this.#onNodes(fact)));
    const changes = merge(evictions.progressed, localData?.changes ?? EMPTY);
    this.#subscription.add(changes.subscribe((node) => this.#onPods(node)));
    this.#subscription.add(evictions.changes.subscribe((node) => this.#onStatus(node)));
  }

  /** The owner drains this node; joins its active drain. */
  readonly order = (node: DrainedNode, order: DrainOrder): void => {
    if (this.#isLeading) this.#place(node, order);
  };

  /** The instruction releases evictions of the node, as soon as it is cordoned. */
  readonly release = (node: string, owner: DrainOwner, id: string): void => {
    const entry = this.#entryOf(node, owner);
    entry?.releasedIds.add(id);
    if (entry?.ids.has(id) !== true) return;
    entry.isReleased = true;
    this.#send(entry.key, { type: 'evictions.released' });
  };

  /** The owner leaves: its annotation is removed; the last owner that leaves uncordons (DR-04). */
  readonly withdraw = (node: string, owner: Exclude<DrainOwner, 'reclaim'>): void => {
    const entry = this.#entryOf(node, owner);
    this.#past.withdraw(node, owner);
    if (entry === undefined) return this.#observeNow(node, owner);
    entry.isWithdrawn = true;
    this.#send(entry.key, { type: 'drain.withdrawn' });
  };

  /** What the owner drains there has changed. */
  readonly reconsider = (node: string, owner: DrainOwner): void => {
    if (!this.has(node, owner)) this.#observeNow(node, owner);
    const entry = this.#entryOf(node, owner);
    if (entry === undefined) return;
    entry.observed = null;
    this.#changed.add(entry.key);
    this.#changes.next();
  };

  /** The pods that stay; undefined without a drain. */
  readonly staying = (node: string, owner: DrainOwner): readonly string[] | undefined =>
    this.#entryOf(node, owner)?.pods.staying();

  readonly onLeading = (): void => {
    if (this.#isLeading) return;
    this.#isLeading = true;
    // By old Nodes, a process that was cut off would resume drains that are over.
    this.#resuming = from(this.#options.whenNodesCurrent()).subscribe(() => {
      for (const node of [...this.#options.nodes.values()]) {
        this.#nodeSeen(node);
        if (!this.#byNode.has(node.name)) showMissedEnd(node, this.#options);
      }
      this.resumed.next();
    });
  };

  readonly onLeadershipLost = (): void => {
    this.#isLeading = false;
    this.#resuming.unsubscribe();
    for (const entry of [...this.#registry.entries()]) {
      this.#forget(entry);
      this.#options.evictions.release(entry.node.name, entry.owner);
    }
    this.#past.clear();
  };

  readonly actors = (): Iterable<Actor<typeof nodeDrain>> => [...this.#registry.actors()];

  readonly get = (node: string, owner: DrainOwner = 'reclaim') =>
    this.#registry.get(drainKey(node, owner));

  /** True while a drain of the node is active or restarting. */
  readonly has = (node: string, owner: DrainOwner): boolean =>
    this.#registry.has(drainKey(node, owner));

  /** False for an instruction beyond those that the drain of the node may join. */
  readonly takes = (node: string, id: string) =>
    takesInstruction(this.#entryOf(node, 'reclaim'), id);

  /** Drains by state. */
  readonly counts = (): Readonly<Record<string, number>> => this.#registry.counts();

  /** Nodes that drain, whoever drains them; not those that a maintenance only cordons. */
  readonly draining = (): ReadonlySet<string> => this.#byNode.draining();

  /** Begins nothing new; resolves when Node patches in flight have their answers. */
  readonly stop = (): Promise<void> => {
    this.#isLeading = false;
    this.#isStopped = true;
    this.#resuming.unsubscribe();
    this.#subscription.unsubscribe();
    this.#slots.stop();
    return this.#blockers.stop().then(() => this.#registry.stop());
  };

  /** While its actor restarted, the Node was deleted, or got the end of the drain. */
  #lost(entry: DrainEntry): void {
    const { name, uid } = entry.node;
    const present = this.#options.nodes.get(objectKey(name));
    const annotation = present?.uid === uid ? annotationOf(present, entry.owner) : undefined;
    this.#forget(entry);
    for (const id of entry.ids) {
      const counted = present?.uid !== uid || isNamedIn(annotation, id);
      this.#publish(entry, id, { phase: 'Ended', counted });
    }
    if (present !== undefined) this.#observe(present);
  }

  #entryOf(node: string, owner: DrainOwner): DrainEntry | undefined {
    return this.#registry.entry(drainKey(node, owner));
  }

  #send(key: string, event: NodeDrainEvent): void {
    this.#registry.get(key)?.send(event);
  }

  #publish({ node, owner }: DrainEntry, id: string, event: Pick<DrainEvent, 'phase' | 'counted'>) {
    this.#events.next({ node: node.name, owner, id, ...event });
  }

  #forget(entry: DrainEntry): void {
    if (this.#registry.entry(entry.key) === entry) this.#registry.remove(entry.key);
    this.#blockers.forget(entry.key);
    this.#late.forget(entry.key);
    this.#byNode.remove(entry);
  }

  #moved(entry: DrainEntry, snapshot: SnapshotFrom<typeof nodeDrain>): void {
    this.#late.observe(entry.key, snapshot);
    for (const id of entry.awaited) {
      if (!hasLanded(snapshot.context, id)) continue;
      entry.awaited.delete(id);
      this.#bringForward(entry, entry.deadlines.get(id));
      this.#publish(entry, id, { phase: 'Cordoned', counted: true });
    }
    // An inspector receives this snapshot after its observers, and before the next drain begins.
    if (snapshot.hasTag('settled')) this.#defer(() => this.#finish(entry));
    else this.#blockers.changed(entry.key);
  }

  /** The earlier deadline applies once it is written to the Node, so that a restart has it, too. */
  #bringForward(entry: DrainEntry, deadline: DrainDeadline | undefined): void {
    if (deadline === undefined || !isEarlier(deadline, entry.deadline)) return;
    entry.deadline = deadline;
    this.#options.evictions.bringForward(entry.node.name, entry.owner, deadline.atMs);
    const time = drainTime(this.#environment.time, deadline, this.#options.tierWaitMs);
    this.#send(entry.key, { type: 'deadline.moved', ...time });
  }

  #finish(entry: DrainEntry): void {
    const { key, owner, node: { name } } = entry;
    const context = this.#registry.get(key)?.getSnapshot().context;
    if (context === undefined || this.#registry.entry(key) !== entry) return;
    this.#forget(entry);
    this.#past.setEnd(name, owner, context.node?.resourceVersion);
    if (hasLeft(context)) this.#past.forgetWithdrawal(name, owner);
    const present = this.#options.nodes.get(objectKey(name));
    const again = present === undefined ? [] : ordersLeft(entry, context, this.#environment.time);
    const isCounted = countedAtEnd(context, owner);
    for (const id of [...entry.ids, ...entry.queued.map((order) => order.id)]) {
      if (again.some((order) => order.id === id)) continue;
      this.#publish(entry, id, { phase: 'Ended', counted: isCounted(id) });
    }
    if (present === undefined) return;
    for (const order of again) {
      this.#place(present, order);
      if (entry.releasedIds.has(order.id)) this.release(name, owner, order.id);
    }
    this.#observe(present);
  }

  #begin(node: DrainedNode, beginning: DrainBeginning): void {
    const on = () => this.#pods.on(node.name);
    const pods = new DrainPods({
      ...this.#options,
      ...drainScope(this.#options, { node: node.name, owner: beginning.owner, on }),
      resumedSinceMs: beginning.resumedSinceMs,
      now: this.#environment.time.now,
    });
    const entry = drainEntry(node, beginning, pods);
    this.#byNode.add(entry);
    this.#registry.consider(entry);
  }

  #join(entry: DrainEntry, order: DrainOrder): void {
    addOrder(this.#environment.time, entry, order);
    const actor = this.#registry.get(entry.key);
    if (actor !== undefined && hasLanded(actor.getSnapshot().context, order.id)) {
      return this.#publish(entry, order.id, { phase: 'Cordoned', counted: true });
    }
    entry.awaited.add(order.id);
    this.#send(entry.key, { type: 'order.joined', order: cordonOrderOf(order) });
  }

  #place(node: DrainedNode, order: DrainOrder): void {
    const { owner } = order;
    const entry = this.#entryOf(node.name, owner);
    const snapshot = entry && this.#registry.get(entry.key)?.getSnapshot();
    const joins = entry?.node.uid === node.uid && canJoin(snapshot);
    if (entry !== undefined && joins) return this.#join(entry, order);
    if (entry !== undefined) return void entry.queued.push(order);
    this.#past.forgetWithdrawal(node.name, owner);
    this.#begin(node, orderedDrain(this.#environment.time, order));
  }

  /** Begins from the annotation on the Node. */
  #resume(node: DrainedNode, owner: DrainOwner): void {
    const annotation = annotationOf(node, owner);
    const isWithdrawn = this.#past.isWithdrawn(node, owner);
    const end = this.#past.endOf(node.name, owner);
    if (end !== undefined && isOlder(node.resourceVersion, end)) return;
    this.#past.setEnd(node.name, owner, undefined);
    if (annotation === undefined) return this.#past.forgetWithdrawal(node.name, owner);
    if (annotation.ended !== null && !isWithdrawn) return;
    const { maintained } = this.#options;
    if (!isWithdrawn && maintained?.resumes(node.name, owner) === false) return;
    const isReleased = maintained?.of(node.name, owner).isReleased ?? true;
    this.#begin(
      node,
      resumedDrain(this.#environment.time, annotation, { owner, isWithdrawn, isReleased }),
    );
  }

  #observe(node: DrainedNode): void {
    const owners = drainOwnersOf(node, this.#options.leavesTo);
    for (const { owner } of this.#byNode.of(node.name)) owners.add(owner);
    // Without its key, too: what is remembered of it is of a key that is gone.
    for (const owner of this.#past.owners(node.name)) owners.add(owner);
    for (const owner of owners) this.#observeOwner(node, owner);
  }

  #observeNow(name: string, owner: DrainOwner): void {
    const present = this.#options.nodes.get(objectKey(name));
    if (this.#isLeading && present !== undefined) this.#observeOwner(present, owner);
  }

  #observeOwner(node: DrainedNode, owner: DrainOwner): void {
    const entry = this.#entryOf(node.name, owner);
    if (entry === undefined) return this.#resume(node, owner);
    const isSame = entry.node.uid === node.uid;
    this.#send(entry.key, isSame ? { type: 'node.observed', node } : { type: 'node.vanished' });
  }

  /** Sends the pod counts to the statechart when they changed. */
  #look(key: string): void {
    const entry = this.#registry.entry(key);
    const actor = this.#registry.get(key);
    if (entry === undefined || actor === undefined || this.#isStopped) return;
    this.#blockers.changed(key);
    const observed = entry.pods.look(actor.getSnapshot().context.startedTo);
    if (!observed.moved && sameJson(observed, entry.observed)) return;
    entry.observed = { ...observed, moved: false };
    this.#send(key, { type: 'pods.observed', ...observed });
  }

  /** Pods of the node changed; without a node, any pods. */
  #onPods(node: string | undefined): void {
    const drains = node === undefined ? this.#registry.entries() : this.#byNode.of(node);
    for (const { key } of drains) this.#changed.add(key);
    if (this.#changed.size > 0) this.#changes.next();
  }

  /** What blocks pods of the node changed, and perhaps nothing else. */
  #onStatus(node: string): void {
    for (const { key } of this.#byNode.of(node)) this.#blockers.changed(key);
  }

  #lookAtChanged(): void {
    const keys = [...this.#changed];
    this.#changed.clear();
    keys.forEach((key) => this.#look(key));
  }

  #nodeSeen(node: DrainedNode): void {
    if (!this.#isLeading) return;
    this.#unrecognized.observe(node);
    this.#observe(node);
  }

  #nodeGone(name: string): void {
    this.#unrecognized.forget(name);
    this.#past.forget(name);
    for (const { key } of this.#byNode.of(name)) this.#send(key, { type: 'node.vanished' });
  }

  #onNodes(fact: Fact<DrainedNode>): void {
    if (fact._tag === 'Present') return this.#nodeSeen(fact.object);
    if (fact._tag === 'Absent') return this.#nodeGone(fact.key);
    fact.objects.forEach((node) => this.#nodeSeen(node));
    for (const name of this.#byNode.nodes()) {
      if (this.#options.nodes.get(objectKey(name)) === undefined) this.#nodeGone(name);
    }
  }
}
