/**
 * Reclaim instructions: from the shard or from annotations on Nodes, until the ack was sent and
 * every drain has ended.
 *
 * Promises: an instruction never starts twice, and is acked again when it is repeated, with a
 * Warning for machines that it did not name at first (DR-03); instructions found on Nodes resume
 * before anything new, and are acked once more by each process, up to a bound (DR-07, DR-12,
 * DR-13); a machine without a Node is recorded and not counted, and is awaited only while it is
 * bound to this cluster; an entry that names a Node is shown on the machine of that Node (DR-10).
 */
import { type Observable, Subscription } from 'rxjs';
import { type ActorRefFrom, fromPromise } from 'xstate';
import type { NodeProjection } from '../../domain/cluster-node.ts';
import { MachineLives } from '../../domain/drain/machine-lives.ts';
import {
  entriesOf,
  othersThan,
  type ReclaimEntry,
  unseen,
  withEntry,
} from '../../domain/drain/reclaim-entry.ts';
import type { ReclaimOrder, ShardEvent } from '../../domain/frames.ts';
import { instructionId, machineId, objectKey } from '../../domain/ids.ts';
import { upcomingNodeName } from '../../domain/names.ts';
import type { Reply } from '../../domain/session.ts';
import type { UpcomingNodeProjection } from '../../domain/upcoming-node.ts';
import {
  type ReclaimAck,
  reclaimInstruction,
  type ReclaimInstructionContext,
} from '../../machines/reclaim-instruction.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { type ActorRegistry, actorRegistry, innermostState } from '../actor-registry.ts';
import type { Informer } from '../informers/informer.ts';
import type { UpcomingNodeRegistry } from '../upcoming-nodes/upcoming-nodes.ts';
import type { DrainEvents, MachineSubject } from './drain-events.ts';
import type { DrainEvent } from './drain-index.ts';
import type { DrainRegistry } from './drains.ts';
import {
  AckedInstructions,
  awaitedEntries,
  type InstructionEntry,
  instructionsOnNodes,
  machinesNow,
  orderedInstruction,
  RECOVERED_GRACE_SECONDS,
  RECOVERED_PREFIX,
} from '../../domain/drain/reclaim-index.ts';
import { ReclaimTargets } from '../../domain/drain/reclaim-targets.ts';
import { ReclaimRecovery } from './reclaim-recovery.ts';

export type ReclaimActor = ActorRefFrom<typeof reclaimInstruction>;

/** What reclaims follow and act on. */
export interface ReclaimsOptions {
  readonly shardEvents: Observable<ShardEvent>;
  /** False without room or a stream. */
  readonly reply: (reply: Reply) => boolean;
  readonly machines: Pick<UpcomingNodeRegistry, 'nodeOf' | 'drain'>;
  readonly nodes: Pick<Informer<NodeProjection>, 'facts' | 'get' | 'values'>;
  readonly upcomingNodes: Pick<Informer<UpcomingNodeProjection>, 'get'>;
  /** The machine of a Node, also of one that is gone. */
  readonly machineOf: (node: Pick<NodeProjection, 'name'>) => string | undefined;
  readonly drains: Pick<DrainRegistry, 'order' | 'release' | 'events' | 'has'>;
  readonly events: Pick<
    DrainEvents,
    'clamped' | 'notResumed' | 'withoutNode' | 'instructionChanged'
  >;
}

/** All active instructions; none, and not leading, at first. */
export class ReclaimRegistry {
  readonly #environment: Pick<ActorEnvironment<never>, 'time' | 'telemetry'>;
  readonly #options: ReclaimsOptions;
  readonly #registry: ReclaimActors;
  readonly #recovery: ReclaimRecovery;
  readonly #lives = new MachineLives();
  readonly #targets: ReclaimTargets;
  readonly #acked = new AckedInstructions();
  readonly #subscription = new Subscription();
  readonly #awaited = () => awaitedEntries(this.#registry.entries());
  #isLeading = false;
  #isSearching = false;

  constructor(environment: ActorEnvironment<never>, options: ReclaimsOptions) {
    this.#environment = environment;
    this.#options = options;
    this.#targets = new ReclaimTargets({
      upcomingNode: (machine) => this.#currentOf(machine),
      node: (name) => options.nodes.get(objectKey(name)),
      nodeOf: (machine) => options.machines.nodeOf(machine, machine)?.node,
      machineOf: options.machineOf,
    });
    this.#registry = reclaimActors(environment, {
      queueAck: (ack) => Promise.resolve(this.#queueAck(ack)),
      releaseEvictions: (context) => this.#releaseEvictions(context),
      recordUnseen: (context) => this.#recordUnseen(context),
      recordNeverSeen: (context) => this.#recordNeverSeen(context),
      machinesNow: (entry) => machinesNow(entry, (node) => options.nodes.get(objectKey(node))),
      onRestart: (entry) => this.#orderDrains(entry),
    });
    this.#recovery = new ReclaimRecovery(environment, (machines) => this.#recover(machines));
    this.#subscription.add(options.drains.events.subscribe((event) => this.#onDrain(event)));
    this.#subscription.add(options.shardEvents.subscribe((event) => this.#onShardEvent(event)));
    this.#subscription.add(options.nodes.facts.subscribe(() => this.#searchSoon()));
  }

  /** Resumes the instructions found on Nodes. */
  readonly onLeading = (): void => {
    if (this.#isLeading) return;
    this.#isLeading = true;
    const { nodes, machineOf, events } = this.#options;
    const { instructions, leftOut } = instructionsOnNodes(nodes.values(), machineOf);
    for (const instruction of instructions) {
      this.#registry.consider({ ...instruction, ackPending: this.#acked.resume(instruction.id) });
    }
    events.notResumed(leftOut);
  };

  readonly onLeadershipLost = (): void => {
    this.#isLeading = false;
    for (const { id } of [...this.#registry.entries()]) this.#registry.remove(id);
  };

  readonly actors = (): Iterable<ReclaimActor> => [...this.#registry.actors()];

  readonly get = (id: string): ReclaimActor | undefined => this.#registry.get(id);

  /** Instructions by state. */
  readonly counts = (): Readonly<Record<string, number>> => this.#registry.counts();

  readonly stop = async (): Promise<void> => {
    this.#isLeading = false;
    this.#subscription.unsubscribe();
    await Promise.all([this.#registry.stop(), this.#recovery.stop()]);
  };

  #queueAck({ id, nodesStarted }: ReclaimAck): boolean {
    const isTaken = this.#options.reply({
      _tag: 'ReclaimAcknowledged',
      instructionId: instructionId(id),
      nodesStarted,
    });
    if (isTaken) this.#acked.add(id);
    return isTaken;
  }

  #releaseEvictions({ id, entries }: ReclaimInstructionContext): void {
    const entry = this.#registry.entry(id);
    if (entry !== undefined) entry.isReleased = true;
    for (const { node } of entries) {
      if (node !== '') this.#options.drains.release(node, 'reclaim', id);
    }
  }

  #recordUnseen({ id, entries }: ReclaimInstructionContext): void {
    for (const { machine } of unseen(entries)) {
      const note = `Cannot reclaim "${machine}" for "${id}" yet: it has no Node`;
      this.#recordWithoutNode(machine, note);
    }
  }

  #recordNeverSeen({ id, entries }: ReclaimInstructionContext): void {
    for (const { machine } of unseen(entries)) {
      const lastError = `the machine had no Node until the deadline of "${id}"`;
      this.#recordWithoutNode(machine, `Cannot reclaim "${machine}": ${lastError}`);
      void this.#options.machines.drain(machine, { _tag: 'Failed', lastError });
    }
  }

  #subjectOf(machine: string): MachineSubject {
    return { machine, uid: this.#currentOf(machine)?.uid ?? '' };
  }

  #recordWithoutNode(machine: string, note: string): void {
    this.#options.events.withoutNode(this.#subjectOf(machine), note);
  }

  #currentOf(machine: string): UpcomingNodeProjection | undefined {
    return this.#options.upcomingNodes.get(objectKey(upcomingNodeName(machineId(machine))));
  }

  #findAll(machines: readonly string[]): readonly ReclaimEntry[] {
    return entriesOf(machines).map(this.#targets.foundOrGone);
  }

  #showGone(entry: ReclaimEntry): void {
    void this.#options.machines.drain(this.#targets.reportedMachineOf(entry), { _tag: 'Drained' });
  }

  #orderDrain(instruction: InstructionEntry, entry: ReclaimEntry): void {
    const { nodes, drains, events } = this.#options;
    const { id, terms, askedSeconds } = instruction;
    const present = nodes.get(objectKey(entry.node));
    if (present === undefined) {
      const gone: ReclaimEntry = { ...entry, phase: 'Ended', counted: true };
      this.#registry.get(id)?.send({ type: 'machine.observed', entry: gone });
      return this.#showGone(gone);
    }
    if (askedSeconds > terms.graceSeconds) {
      events.clamped(present, askedSeconds, terms.graceSeconds);
    }
    drains.order(present, {
      ...terms,
      id,
      owner: 'reclaim',
      machineId: this.#targets.reportedMachineOf(entry),
    });
    if (instruction.isReleased) drains.release(entry.node, 'reclaim', id);
  }

  #act(instruction: InstructionEntry, entry: ReclaimEntry): void {
    if (entry.phase === 'Cordoning') this.#orderDrain(instruction, entry);
    if (entry.phase === 'Ended') this.#showGone(entry);
  }

  /** An order that is repeated after a crash joins what goes on. */
  #orderDrains(instruction: InstructionEntry): void {
    for (const entry of instruction.machines) {
      if (entry.phase === 'Cordoning') this.#orderDrain(instruction, entry);
    }
    this.#searchSoon();
  }

  /** Finds the Nodes of machines that had none. */
  #search(): void {
    this.#isSearching = false;
    for (const { instruction, entry } of this.#awaited()) {
      const found = this.#targets.found(entry);
      if (found.phase === 'Unseen') continue;
      const isNeedless = instruction.id.startsWith(RECOVERED_PREFIX) && this.#isClaimed(found);
      this.#setEntry(instruction, isNeedless ? { ...found, phase: 'Ended' } : found);
      if (!isNeedless) this.#act(instruction, found);
    }
  }

  /** After all subscribers have received this fact. */
  #searchSoon(): void {
    const [first] = this.#registry.entries();
    if (this.#isSearching || first === undefined) return;
    this.#isSearching = true;
    queueMicrotask(() => this.#search());
  }

  #begin(id: string, machines: readonly string[], terms: {
    readonly graceSeconds: number;
    readonly ackPending: boolean;
  }): void {
    const found = this.#findAll(machines);
    const { time } = this.#environment;
    const instruction = orderedInstruction(time, { id, machines: found, ...terms });
    this.#registry.consider(instruction);
    this.#orderDrains(instruction);
    for (const entry of found) if (entry.phase === 'Ended') this.#showGone(entry);
  }

  #onOrder(order: ReclaimOrder): void {
    if (!this.#isLeading) return;
    const { instructionId: id, machines, graceSeconds } = order;
    const known = this.#registry.entry(id);
    if (known === undefined) return this.#begin(id, machines, { graceSeconds, ackPending: true });
    for (const machine of othersThan(known.machines, machines)) {
      this.#options.events.instructionChanged(this.#subjectOf(machine), id);
    }
    known.ackPending = true;
    this.#registry.get(id)?.send({ type: 'instruction.repeated' });
  }

  #onShardEvent(event: ShardEvent): void {
    this.#recovery.observe(event);
    this.#endStays(event);
    if (event._tag === 'ReclaimOrdered') this.#onOrder(event.order);
    if (event._tag === 'MachineObserved') this.#searchSoon();
    if (event._tag !== 'StreamOpened') return;
    for (const actor of [...this.#registry.actors()]) actor.send({ type: 'stream.opened' });
  }

  /** A machine that left without a Node is not drained in its next life for this one (DR-10). */
  #endStays(event: ShardEvent): void {
    const hasLeft = this.#lives.observe(event);
    if (hasLeft === undefined) return;
    for (const { instruction, entry } of this.#awaited()) {
      const { machine } = entry;
      if (!hasLeft(machine)) continue;
      const fields = { instruction: instruction.id, machine };
      this.#environment.telemetry.log('info', 'Machine left before its Node joined', fields);
      this.#setEntry(instruction, { ...entry, phase: 'Ended' });
    }
  }

  #onDrain({ id, node, owner, phase, counted }: DrainEvent): void {
    const instruction = owner === 'reclaim' ? this.#registry.entry(id) : undefined;
    if (instruction === undefined) return;
    for (const machine of instruction.machines) {
      if (machine.node === node) this.#setEntry(instruction, { ...machine, phase, counted });
    }
  }

  #setEntry(instruction: InstructionEntry, entry: ReclaimEntry): void {
    const actor = this.#registry.get(instruction.id);
    if (actor !== undefined) actor.send({ type: 'machine.observed', entry });
    // The input of a restarting instruction.
    else instruction.machines = withEntry(instruction.machines, entry);
  }

  /** The Node has the key of an instruction, ended or not, or is about to get it. */
  #isClaimed({ node }: ReclaimEntry): boolean {
    const present = this.#options.nodes.get(objectKey(node));
    return (present !== undefined && Object.hasOwn(present.cordons, 'reclaim')) ||
      this.#options.drains.has(node, 'reclaim');
  }

  /** Begins the instructions of draining machines that no instruction names (DR-14). */
  #recover(draining: readonly string[]): void {
    if (!this.#isLeading) return;
    const awaited = new Set(this.#awaited().map(({ entry }) => entry.machine));
    for (const found of this.#findAll(draining)) {
      const { machine, node, phase } = found;
      if (phase === 'Ended' || awaited.has(machine) || this.#isClaimed(found)) continue;
      this.#environment.telemetry.log('warn', 'Recovered a lost reclaim', { machine, node });
      const terms = { graceSeconds: RECOVERED_GRACE_SECONDS, ackPending: false };
      this.#begin(`${RECOVERED_PREFIX}${machine}`, [machine], terms);
    }
  }
}

/** The side effects of an instruction's statechart. */
export interface ReclaimActions {
  /** True when the outbox accepted it. */
  readonly queueAck: (ack: ReclaimAck) => Promise<boolean>;
  readonly releaseEvictions: (context: ReclaimInstructionContext) => void;
  readonly recordUnseen: (context: ReclaimInstructionContext) => void;
  readonly recordNeverSeen: (context: ReclaimInstructionContext) => void;
}

/** The statechart with its implementations. */
export const provideReclaim = (actions: ReclaimActions): typeof reclaimInstruction =>
  reclaimInstruction.provide({
    actors: { queueAck: fromPromise<boolean, ReclaimAck>(({ input }) => actions.queueAck(input)) },
    actions: {
      releaseEvictions: ({ context }) => actions.releaseEvictions(context),
      recordUnseen: ({ context }) => actions.recordUnseen(context),
      recordNeverSeen: ({ context }) => actions.recordNeverSeen(context),
    },
  });

export type ReclaimActors = ActorRegistry<typeof reclaimInstruction, InstructionEntry>;

/** The dependencies of instruction actors. */
export interface ReclaimActorOptions extends ReclaimActions {
  /** The machines of the instruction with the current state of their Nodes. */
  readonly machinesNow: (entry: InstructionEntry) => readonly ReclaimEntry[];
  /** The actor runs again after a crash. */
  readonly onRestart: (entry: InstructionEntry) => void;
}

/** The actors of all instructions. */
const reclaimActors = <Services>(
  environment: ActorEnvironment<Services>,
  options: ReclaimActorOptions,
): ReclaimActors => {
  const registry: ReclaimActors = actorRegistry(environment, {
    name: 'reclaimInstruction',
    logic: provideReclaim(options),
    keyOf: ({ id }: InstructionEntry) => id,
    input: (entry) => ({
      id: entry.id,
      entries: options.machinesNow(entry),
      ackPending: entry.ackPending,
      leftMs: entry.terms.deadlineMs - environment.time.now(),
    }),
    onStart: (entry) => {
      if (entry.hasCrashed) options.onRestart(entry);
    },
    onSnapshot: (entry, { context, value }) => {
      entry.machines = context.entries;
      entry.ackPending = context.ackPending;
      if (innermostState(value) === 'settled') registry.remove(entry.id);
    },
    onCrash: (entry) => {
      entry.hasCrashed = true;
    },
    onCount: (state, count) => environment.telemetry.gauge('tidegate_reclaims', count, { state }),
    logFields: ({ id }) => ({ instruction: id }),
  });
  return registry;
};
