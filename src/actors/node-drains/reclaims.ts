/**
 * Reclaim instructions: from the shard or from annotations on Nodes, until the ack was sent and
 * every drain has ended.
 *
 * Promises: an instruction never starts twice, and is acked again when it is repeated, with a
 * Warning for machines that it did not name at first (DR-03); instructions found on Nodes resume
 * before anything new, and are acked once more by each process, up to a bound (DR-07, DR-12,
 * DR-13); what has no Node, or may not drain yet, is recorded and not counted, and is awaited only
 * while bound; an entry that names a Node is shown on the machine of that Node (DR-10).
 */
import { Subscription } from 'rxjs';
import { MachineLives } from '../../domain/drain/machine-lives.ts';
import { nodesAllowed } from '../../domain/drain/draining-limit.ts';
import { othersThan, type ReclaimEntry, withEntry } from '../../domain/drain/reclaim-entry.ts';
import type { ReclaimInstruction, ShardEvent } from '../../domain/frames.ts';
import { instructionId, machineId, objectKey } from '../../domain/ids.ts';
import { upcomingNodeName } from '../../domain/names.ts';
import type { UpcomingNodeProjection } from '../../domain/upcoming-node.ts';
import type { ReclaimAck, ReclaimInstructionContext } from '../../machines/reclaim-instruction.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import { InstructionEvents } from './drain-events.ts';
import type { DrainEvent } from './drain-index.ts';
import {
  AckedInstructions,
  awaitedEntries,
  hasRoomFor,
  hasUnfinished,
  type InstructionEntry,
  type InstructionsOnNodes,
  instructionsOnNodes,
  machinesNow,
  newInstruction,
  RECOVERED_GRACE_SECONDS,
  RECOVERED_PREFIX,
} from '../../domain/drain/reclaim-index.ts';
import { type DrainRoom, ReclaimTargets } from '../../domain/drain/reclaim-targets.ts';
import { type HeldInstruction, HeldInstructions } from './held-instructions.ts';
import { type ReclaimActor, type ReclaimActors, reclaimActors } from './reclaim-actor.ts';
import { ReclaimRecovery } from './reclaim-recovery.ts';
import type { ReclaimsOptions } from './reclaims-options.ts';

/** All active instructions; none, and not leading, at first. */
export class ReclaimRegistry {
  readonly #environment: Pick<ActorEnvironment<never>, 'time' | 'telemetry'>;
  readonly #options: ReclaimsOptions;
  readonly #registry: ReclaimActors;
  readonly #recovery: ReclaimRecovery;
  readonly #lives = new MachineLives();
  readonly #targets: ReclaimTargets;
  readonly #events: InstructionEvents;
  readonly #acked = new AckedInstructions();
  readonly #subscription = new Subscription();
  readonly #awaited = () => awaitedEntries(this.#registry.entries());
  #isLeading = false;
  /** The drains that this term found on Nodes go on; instructions are held before. */
  #isResumed = false;
  readonly #held = new HeldInstructions();
  #isSearching = false;

  constructor(environment: ActorEnvironment<never>, options: ReclaimsOptions) {
    this.#environment = environment;
    this.#options = options;
    this.#targets = new ReclaimTargets({
      ...options,
      upcomingNode: (machine) => this.#currentOf(machine),
      node: (name) => options.nodes.get(objectKey(name)),
      nodeOf: (machine) => options.machines.nodeOf(machine, machine)?.node,
      wasConfigured: options.machines.wasConfigured,
    });
    this.#events = new InstructionEvents(environment.telemetry, {
      ...options,
      targets: this.#targets,
      upcomingNode: (machine) => this.#currentOf(machine),
    });
    this.#registry = reclaimActors(environment, {
      queueAck: (ack) => Promise.resolve(this.#queueAck(ack)),
      releaseEvictions: (context) => this.#releaseEvictions(context),
      ...this.#events.actions,
      machinesNow: (entry) => machinesNow(entry, (node) => options.nodes.get(objectKey(node))),
      onRestart: (entry) => this.#orderDrains(entry),
      onSettled: () => this.#searchSoon(),
    });
    this.#recovery = new ReclaimRecovery(environment, (machines) => this.#recover(machines));
    this.#subscription.add(options.drains.events.subscribe((event) => this.#onDrain(event)));
    this.#subscription.add(options.drains.resumed.subscribe(() => this.#onResumed()));
    this.#subscription.add(options.shardEvents.subscribe((event) => this.#onShardEvent(event)));
    this.#subscription.add(options.nodes.facts.subscribe(() => this.#searchSoon()));
  }

  /** Resumes the instructions found on Nodes. */
  readonly onLeading = (): void => {
    if (this.#isLeading) return;
    this.#isLeading = true;
    this.#resume();
  };

  readonly onLeadershipLost = (): void => {
    this.#isLeading = false;
    this.#isResumed = false;
    // As for those whose drains have not begun, a replay has what is left of them (DR-14).
    this.#held.take();
    for (const { id } of [...this.#registry.entries()]) this.#registry.remove(id);
    this.#searchSoon();
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

  /** Goes on with the instructions on Nodes; gives the Nodes of those beyond the bound. */
  #resume(): InstructionsOnNodes['leftOut'] {
    const { nodes, machineOf } = this.#options;
    const { instructions, leftOut } = instructionsOnNodes(nodes.values(), machineOf);
    for (const instruction of instructions) {
      const { id } = instruction;
      if (this.#registry.has(id)) continue;
      this.#registry.consider({ ...instruction, ackPending: this.#acked.resume(id) });
    }
    return leftOut;
  }

  /** New instructions know by now which Nodes drain, and for whom (DR-03, DR-13, DR-19). */
  #onResumed(): void {
    this.#isResumed = true;
    // Those that the Nodes did not show when this process began to lead.
    this.#options.events.notResumed(this.#resume());
    this.#endResumed();
    for (const one of this.#held.take()) this.#onInstruction(one, one.sinceMs);
    this.#recovery.again();
  }

  /**
   * Ends what another leader ended while this process was cut off: by its old Nodes it resumed an
   * instruction whose drains do not begin (DR-13).
   */
  #endResumed(): void {
    const { nodes, drains } = this.#options;
    for (const instruction of [...this.#registry.entries()]) {
      for (const entry of instruction.machines) {
        if (entry.phase !== 'Cordoned' || drains.has(entry.node, 'reclaim')) continue;
        if (hasUnfinished(nodes.get(objectKey(entry.node)), instruction.id)) continue;
        this.#setEntry(instruction, { ...entry, phase: 'Ended' });
      }
    }
  }

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

  #currentOf(machine: string): UpcomingNodeProjection | undefined {
    return this.#options.upcomingNodes.get(objectKey(upcomingNodeName(machineId(machine))));
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
    if (!drains.takes(entry.node, id)) {
      this.#events.refused(present, { id, refusal: 'TooManyInstructions' });
      return this.#setEntry(instruction, { ...entry, phase: 'Ended' });
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
    if (entry.phase === 'Ended') this.#end(instruction, entry);
  }

  /** The Node is gone, or the selector excludes it. */
  #end({ id }: InstructionEntry, entry: ReclaimEntry): void {
    const node = entry.counted ? undefined : this.#options.nodes.get(objectKey(entry.node));
    if (node === undefined) this.#showGone(entry);
    else this.#events.refused(node, { id, refusal: 'NotSelected' });
  }

  #room(): DrainRoom {
    const { drains, nodes, maxDraining } = this.#options;
    const draining = drains.draining();
    return {
      free: nodesAllowed(maxDraining, nodes.size) - draining.size,
      isDraining: (node) => draining.has(node),
    };
  }

  /** An order that is repeated after a crash joins what goes on. */
  #orderDrains(instruction: InstructionEntry): void {
    for (const entry of instruction.machines) {
      if (entry.phase === 'Cordoning') this.#orderDrain(instruction, entry);
    }
    this.#searchSoon();
  }

  /** Finds the Nodes of machines that had none, and lets queued ones begin. */
  #search(): void {
    this.#isSearching = false;
    const awaited = this.#awaited();
    const next = this.#targets.next(awaited, this.#room());
    awaited.forEach(({ instruction, entry }, at) => {
      const now = next[at] ?? entry;
      if (now.phase !== entry.phase) this.#advance(instruction, now);
    });
    this.#events.queueLength(next.filter(({ phase }) => phase === 'Queued').length);
  }

  #advance(instruction: InstructionEntry, entry: ReclaimEntry): void {
    const isNeedless = instruction.id.startsWith(RECOVERED_PREFIX) && this.#hasKey(entry);
    this.#setEntry(instruction, isNeedless ? { ...entry, phase: 'Ended' } : entry);
    if (!isNeedless) this.#act(instruction, entry);
  }

  /** After all subscribers have received this fact. */
  #searchSoon(): void {
    const [first] = this.#registry.entries();
    if (first === undefined) return this.#events.queueLength(0);
    if (this.#isSearching) return;
    this.#isSearching = true;
    queueMicrotask(() => this.#search());
  }

  #begin(id: string, machines: readonly string[], terms: {
    readonly graceSeconds: number;
    readonly sinceMs: number;
    readonly ackPending: boolean;
  }): void {
    const found = this.#targets.first(machines, this.#room(), id);
    const instruction = newInstruction({ id, machines: found, ...terms });
    this.#registry.consider(instruction);
    this.#orderDrains(instruction);
    for (const entry of found) if (entry.phase === 'Ended') this.#end(instruction, entry);
  }

  #onInstruction(instruction: ReclaimInstruction, sinceMs: number): void {
    if (!this.#isLeading) return;
    const { instructionId: id, machines } = instruction;
    const known = this.#registry.entry(id);
    if (known === undefined) return this.#onNewInstruction({ ...instruction, sinceMs });
    for (const other of othersThan(known.machines, machines)) this.#events.changed(id, other);
    known.ackPending = true;
    this.#registry.get(id)?.send({ type: 'instruction.repeated' });
  }

  #onNewInstruction(instruction: HeldInstruction): void {
    const { instructionId: id, machines, graceSeconds, sinceMs } = instruction;
    if (!hasRoomFor(machines, [...this.#registry.entries(), ...this.#held.others(id)])) {
      this.#events.instructionRefused(id, machines.length);
      return void this.#queueAck({ id, nodesStarted: 0 });
    }
    if (this.#isResumed) {
      return this.#begin(id, machines, { graceSeconds, sinceMs, ackPending: true });
    }
    const held = 'Instruction begins when the list of Nodes is current';
    this.#environment.telemetry.log('warn', held, { instruction: id });
    this.#held.add(instruction);
  }

  #onShardEvent(event: ShardEvent): void {
    this.#recovery.observe(event);
    this.#endStays(event);
    if (event._tag === 'ReclaimInstructed') {
      this.#onInstruction(event.instruction, this.#environment.time.now());
    }
    if (event._tag === 'MachineObserved') this.#searchSoon();
    if (event._tag !== 'StreamOpened') return;
    for (const actor of [...this.#registry.actors()]) actor.send({ type: 'stream.opened' });
  }

  /** A machine that left undrained is not drained in its next life for this one (DR-10). */
  #endStays(event: ShardEvent): void {
    const hasLeft = this.#lives.observe(event);
    if (hasLeft === undefined) return;
    for (const { instruction, entry } of this.#awaited()) {
      const machine = this.#targets.reportedMachineOf(entry);
      if (!hasLeft(machine)) continue;
      this.#events.left(instruction.id, machine);
      this.#setEntry(instruction, { ...entry, phase: 'Ended' });
    }
    this.#held.leave((name) => hasLeft(this.#targets.machineNamed(name)), this.#events.left);
  }

  #onDrain({ id, node, owner, phase, counted }: DrainEvent): void {
    if (phase === 'Ended') this.#searchSoon();
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
  #hasKey({ node }: ReclaimEntry): boolean {
    const present = this.#options.nodes.get(objectKey(node));
    return (present !== undefined && Object.hasOwn(present.cordons, 'reclaim')) ||
      this.#options.drains.has(node, 'reclaim');
  }

  /** Begins the instructions of draining machines that no instruction names (DR-14). */
  #recover(draining: readonly string[]): void {
    if (!this.#isLeading || !this.#isResumed) return;
    const sinceMs = this.#environment.time.now();
    const awaited = new Set(this.#awaited().map(({ entry }) => entry.machine));
    for (const found of this.#targets.first(draining, this.#room())) {
      const { machine, node, phase } = found;
      if (phase === 'Ended' || awaited.has(machine) || this.#hasKey(found)) continue;
      this.#environment.telemetry.log('warn', 'Recovered a lost reclaim', { machine, node });
      const terms = { graceSeconds: RECOVERED_GRACE_SECONDS, sinceMs, ackPending: false };
      this.#begin(`${RECOVERED_PREFIX}${machine}`, [machine], terms);
    }
  }
}
