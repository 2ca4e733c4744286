/**
 * Reclaim instructions: from the shard's order, or from the annotations that Nodes show, until the
 * ack was sent and every drain has ended.
 *
 * Promises: an instruction never starts twice, and is acked again when it is repeated (DR-03); what
 * Nodes show goes on before anything new, and is acked once more by each process (DR-12, DR-13); a
 * machine without a Node is recorded and not counted (DR-10).
 */
import { Effect, type ManagedRuntime } from 'effect';
import { type Observable, Subscription } from 'rxjs';
import type { ActorRefFrom } from 'xstate';
import type { RecordEvent } from '../../api/event-note.ts';
import type { NodeProjection } from '../../domain/cluster-node.ts';
import { entriesOf, type ReclaimEntry, withEntry } from '../../domain/drain/reclaim-entry.ts';
import type { ReclaimOrder, SessionNews } from '../../domain/frames.ts';
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
import { fromEffect } from '../actor-logic.ts';
import { type ActorRegistry, actorRegistry, innermostState } from '../actor-registry.ts';
import type { Informer } from '../informers/informer.ts';
import type { UpcomingNodeRegistry } from '../upcoming-nodes/upcoming-nodes.ts';
import type { DrainEvents } from './drain-events.ts';
import type { DrainEvent, DrainRegistry } from './drains.ts';
import {
  type InstructionEntry,
  machinesNow,
  orderedInstruction,
  RECOVERED_PREFIX,
  shownInstructions,
} from '../../domain/drain/reclaim-index.ts';
import { ReclaimRecovery } from './reclaim-recovery.ts';

/** How long a reclaim that was lost with a process gets (DR-14). */
const RECOVERED_GRACE_SECONDS = 600;
/** Instructions of former terms whose ack is remembered; the oldest is forgotten. */
const ACKED_MAX = 1000;

export type ReclaimActor = ActorRefFrom<typeof reclaimInstruction>;

/** What reclaims follow and act on. */
export interface ReclaimsOptions {
  readonly news: Observable<SessionNews>;
  /** False when there is no room or no stream. */
  readonly reply: (reply: Reply) => boolean;
  readonly machines: Pick<UpcomingNodeRegistry, 'nodeOf' | 'drain'>;
  readonly nodes: Pick<Informer<NodeProjection>, 'facts' | 'get' | 'values'>;
  readonly upcomingNodes: Pick<Informer<UpcomingNodeProjection>, 'get'>;
  readonly machineOf: (node: NodeProjection) => string | undefined;
  readonly drains: Pick<DrainRegistry, 'order' | 'release' | 'events' | 'has'>;
  readonly record: RecordEvent;
  readonly events: Pick<DrainEvents, 'clamped'>;
}

const unseen = (machines: readonly ReclaimEntry[]): readonly ReclaimEntry[] =>
  machines.filter(({ phase }) => phase === 'Unseen');

/** All instructions that are not over; not leading at first. */
export class ReclaimRegistry {
  readonly #environment: Pick<ActorEnvironment<never>, 'time' | 'telemetry'>;
  readonly #options: ReclaimsOptions;
  readonly #registry: ReclaimActors;
  readonly #recovery: ReclaimRecovery;
  /** Instructions that this process has acked. */
  readonly #acked = new Set<string>();
  readonly #subscription = new Subscription();
  #isLeading = false;
  #isSearching = false;

  constructor(environment: ActorEnvironment<never>, options: ReclaimsOptions) {
    this.#environment = environment;
    this.#options = options;
    this.#registry = reclaimActors(environment, {
      queueAck: (ack) => Promise.resolve(this.#queueAck(ack)),
      releaseEvictions: (context) => this.#releaseEvictions(context),
      recordUnseen: (context) => this.#recordUnseen(context),
      recordNeverSeen: (context) => this.#recordNeverSeen(context),
      machinesNow: (entry) => machinesNow(entry, (node) => options.nodes.get(objectKey(node))),
      onStart: (entry) => this.#started(entry),
    });
    this.#recovery = new ReclaimRecovery(environment, (machines) => this.#recover(machines));
    this.#subscription.add(options.drains.events.subscribe((event) => this.#onDrain(event)));
    this.#subscription.add(options.news.subscribe((item) => this.#onSession(item)));
    this.#subscription.add(options.nodes.facts.subscribe(() => this.#searchSoon()));
  }

  /** Goes on with what Nodes show. */
  readonly onLeading = (): void => {
    if (this.#isLeading) return;
    this.#isLeading = true;
    const { nodes, machineOf } = this.#options;
    for (const shown of shownInstructions(nodes.values(), machineOf)) {
      const { id } = shown;
      const ackPending = !id.startsWith(RECOVERED_PREFIX) && !this.#acked.has(id);
      this.#registry.consider({ ...shown, ackPending });
    }
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
    if (!isTaken) return false;
    this.#acked.add(id);
    const [oldest] = this.#acked;
    if (this.#acked.size > ACKED_MAX && oldest !== undefined) this.#acked.delete(oldest);
    return true;
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
      const note = `Cannot give back "${machine}" for "${id}" yet: no Node is its own`;
      this.#recordWithoutNode(machine, note);
    }
  }

  #recordNeverSeen({ id, entries }: ReclaimInstructionContext): void {
    for (const { machine } of unseen(entries)) {
      const lastError = `no Node of the machine was seen until the deadline of "${id}"`;
      this.#recordWithoutNode(machine, `Cannot give back "${machine}": ${lastError}`);
      void this.#options.machines.drain(machine, { _tag: 'Failed', lastError });
    }
  }

  #recordWithoutNode(machine: string, note: string): void {
    const { telemetry } = this.#environment;
    telemetry.count('tidegate_machines_without_node_total', 1);
    telemetry.log('warn', 'Machine has no Node', { machine, problem: note });
    this.#options.record({
      regarding: {
        apiVersion: 'bigfleet.lucy.sh/v1alpha1',
        kind: 'UpcomingNode',
        name: upcomingNodeName(machineId(machine)),
        uid: this.#currentOf(machine)?.uid ?? '',
      },
      reason: 'MachineWithoutNode',
      note,
    });
  }

  #currentOf(machine: string): UpcomingNodeProjection | undefined {
    return this.#options.upcomingNodes.get(objectKey(upcomingNodeName(machineId(machine))));
  }

  /** The machine with its Node, as far as it was ever observed (DR-10). */
  #found(entry: ReclaimEntry): ReclaimEntry {
    const { machines, nodes } = this.#options;
    const match = machines.nodeOf(entry.machine, entry.machine);
    if (match !== undefined) return { ...entry, node: match.node.name, phase: 'Cordoning' };
    const current = this.#currentOf(entry.machine);
    if (current === undefined || current.nodeName === '') return entry;
    const known = nodes.get(objectKey(current.nodeName));
    if (known?.uid === current.nodeUid) return { ...entry, node: known.name, phase: 'Cordoning' };
    return { ...entry, node: current.nodeName, phase: 'Ended', counted: true };
  }

  #showGone({ machine }: ReclaimEntry): void {
    void this.#options.machines.drain(machine, { _tag: 'Drained' });
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
    drains.order(present, { ...terms, id, owner: 'reclaim', machineId: entry.machine });
    if (instruction.isReleased) drains.release(entry.node, 'reclaim', id);
  }

  #act(instruction: InstructionEntry, entry: ReclaimEntry): void {
    if (entry.phase === 'Cordoning') this.#orderDrain(instruction, entry);
    if (entry.phase === 'Ended') this.#showGone(entry);
  }

  /** After a crash the drains of its nodes are ordered again: that joins what goes on. */
  #started(instruction: InstructionEntry): void {
    for (const entry of instruction.machines) {
      if (entry.phase === 'Cordoning') this.#orderDrain(instruction, entry);
    }
    this.#searchSoon();
  }

  /** Finds the Nodes of machines that had none. */
  #search(): void {
    this.#isSearching = false;
    for (const instruction of [...this.#registry.entries()]) {
      for (const entry of unseen(instruction.machines)) {
        const found = this.#found(entry);
        if (found.phase === 'Unseen') continue;
        this.#registry.get(instruction.id)?.send({ type: 'machine.observed', entry: found });
        this.#act(instruction, found);
      }
    }
  }

  /** After all subscribers have the fact that leads here. */
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
    const found = entriesOf(machines).map((entry) => this.#found(entry));
    const { time } = this.#environment;
    const instruction = orderedInstruction(time, { id, machines: found, ...terms });
    this.#registry.consider(instruction);
    for (const entry of found) if (entry.phase === 'Ended') this.#showGone(entry);
  }

  #onOrder(order: ReclaimOrder): void {
    if (!this.#isLeading) return;
    const { instructionId: id, machines, graceSeconds } = order;
    const known = this.#registry.entry(id);
    if (known === undefined) return this.#begin(id, machines, { graceSeconds, ackPending: true });
    known.ackPending = true;
    this.#registry.get(id)?.send({ type: 'instruction.repeated' });
  }

  #onSession(item: SessionNews): void {
    this.#recovery.observe(item);
    if (item._tag === 'ReclaimOrdered') this.#onOrder(item.order);
    if (item._tag === 'MachineObserved') this.#searchSoon();
    if (item._tag !== 'StreamOpened') return;
    for (const actor of [...this.#registry.actors()]) actor.send({ type: 'stream.opened' });
  }

  #onDrain({ id, node, owner, phase, counted }: DrainEvent): void {
    const instruction = owner === 'reclaim' ? this.#registry.entry(id) : undefined;
    if (instruction === undefined) return;
    for (const machine of instruction.machines) {
      if (machine.node !== node) continue;
      const entry = { ...machine, phase, counted };
      const actor = this.#registry.get(id);
      if (actor !== undefined) actor.send({ type: 'machine.observed', entry });
      // An instruction that restarts begins with it.
      else instruction.machines = withEntry(instruction.machines, entry);
    }
  }

  #recover(machines: readonly string[]): void {
    if (!this.#isLeading) return;
    for (const machine of machines) {
      const node = this.#options.machines.nodeOf(machine)?.node;
      if (node === undefined || Object.hasOwn(node.cordons, 'reclaim')) continue;
      if (this.#options.drains.has(node.name, 'reclaim')) continue;
      this.#environment.telemetry.log('warn', 'Reclaim was lost and is carried out', {
        machine,
        node: node.name,
      });
      this.#begin(`${RECOVERED_PREFIX}${machine}`, [machine], {
        graceSeconds: RECOVERED_GRACE_SECONDS,
        ackPending: false,
      });
    }
  }
}

/** Starts with no instruction, not leading. */
export const startReclaims = (
  environment: ActorEnvironment<never>,
  options: ReclaimsOptions,
): ReclaimRegistry => new ReclaimRegistry(environment, options);

/** What the statechart of an instruction does outside of itself. */
export interface ReclaimActions {
  /** True when the outbox took it. */
  readonly queueAck: (ack: ReclaimAck) => Promise<boolean>;
  readonly releaseEvictions: (context: ReclaimInstructionContext) => void;
  readonly recordUnseen: (context: ReclaimInstructionContext) => void;
  readonly recordNeverSeen: (context: ReclaimInstructionContext) => void;
}

/** The statechart with its implementations. */
export const provideReclaim = <Services>(
  runtime: ManagedRuntime.ManagedRuntime<Services, never>,
  actions: ReclaimActions,
): typeof reclaimInstruction =>
  reclaimInstruction.provide({
    actors: {
      queueAck: fromEffect(runtime, (ack) => Effect.promise(() => actions.queueAck(ack))),
    },
    actions: {
      releaseEvictions: ({ context }) => actions.releaseEvictions(context),
      recordUnseen: ({ context }) => actions.recordUnseen(context),
      recordNeverSeen: ({ context }) => actions.recordNeverSeen(context),
    },
  });

export type ReclaimActors = ActorRegistry<typeof reclaimInstruction, InstructionEntry>;

/** What the actors of instructions work with. */
export interface ReclaimActorOptions extends ReclaimActions {
  /** The machines of the instruction with what their Nodes show. */
  readonly machinesNow: (entry: InstructionEntry) => readonly ReclaimEntry[];
  readonly onStart: (entry: InstructionEntry) => void;
}

/** The actors of all instructions. */
export const reclaimActors = <Services>(
  environment: ActorEnvironment<Services>,
  options: ReclaimActorOptions,
): ReclaimActors => {
  const registry: ReclaimActors = actorRegistry(environment, {
    name: 'reclaimInstruction',
    logic: provideReclaim(environment.runtime, options),
    keyOf: ({ id }: InstructionEntry) => id,
    input: (entry) => ({
      id: entry.id,
      entries: options.machinesNow(entry),
      ackPending: entry.ackPending,
      leftMs: entry.terms.deadlineMs - environment.time.now(),
    }),
    onStart: options.onStart,
    onSnapshot: (entry, { context, value }) => {
      entry.machines = context.entries;
      entry.ackPending = context.ackPending;
      if (innermostState(value) === 'settled') registry.remove(entry.id);
    },
    onCount: (state, count) => environment.telemetry.gauge('tidegate_reclaims', count, { state }),
    logFields: ({ id }) => ({ instruction: id }),
  });
  return registry;
};
