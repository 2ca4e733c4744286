/**
 * Which Nodes the entries of reclaim instructions name, and which of them may drain now.
 *
 * Promises: asks for the facts each time and keeps none; a machine whose Node was observed once is
 * never taken for one that had none, nor a Node for gone while the Nodes cannot be read (DR-10); a
 * Node drains only for a machine that the shard showed CONFIGURED or that has an UpcomingNode
 * (DR-17), only when the selector has it (DR-18), and never above the limit (DR-19).
 */
import type { NodeProjection } from '../cluster-node.ts';
import type { UpcomingNodeProjection } from '../upcoming-node.ts';
import { isOrderOver } from './cordon-patch.ts';
import { entriesOf, type ReclaimEntry } from './reclaim-entry.ts';
import type { AwaitedEntry } from './reclaim-index.ts';

/** What is known of machines and Nodes now. */
export interface KnownMachines {
  readonly upcomingNode: (machine: string) => UpcomingNodeProjection | undefined;
  readonly node: (name: string) => NodeProjection | undefined;
  /** The Node of a machine, also when the text is the name of the Node. */
  readonly nodeOf: (machine: string) => Pick<NodeProjection, 'name'> | undefined;
  /** The machine of a Node, also of one that is gone. */
  readonly machineOf: (node: Pick<NodeProjection, 'name'>) => string | undefined;
  /** The shard showed the machine CONFIGURED, and it has not left since. */
  readonly wasConfigured: (machine: string) => boolean;
  /** A Node that is not known may exist: the Nodes could not be read lately. */
  readonly areNodesBehind: () => boolean;
  /** `--reclaimable-node-selector` selects the Node. */
  readonly isReclaimable: (node: string) => boolean;
}

/** Finds what the entries of instructions name. */
export class ReclaimTargets {
  readonly #known: KnownMachines;

  constructor(known: KnownMachines) {
    this.#known = known;
  }

  /**
   * The entry with the Node of its machine, as far as ever observed (DR-10): `Queued` when the Node
   * may drain, ended and not counted when the selector excludes it, unchanged when it has no
   * machine (DR-17, DR-18).
   */
  readonly found = (entry: ReclaimEntry): ReclaimEntry => {
    const { nodeOf, upcomingNode, node } = this.#known;
    const match = nodeOf(entry.machine);
    if (match !== undefined) return this.#withNode(entry, match.name);
    const current = upcomingNode(entry.machine);
    if (current === undefined || current.nodeName === '') return entry;
    const known = node(current.nodeName);
    if (known?.uid === current.nodeUid) return this.#withNode(entry, known.name);
    if (this.#known.areNodesBehind()) return entry;
    return { ...entry, node: current.nodeName, phase: 'Ended', counted: true };
  };

  /** Like `found`; the entry may also name a Node that is gone, instead of its machine. */
  readonly foundOrGone = (named: ReclaimEntry): ReclaimEntry => {
    const { upcomingNode, machineOf, node } = this.#known;
    const entry = this.found(named);
    if (entry.phase !== 'Unseen' || upcomingNode(entry.machine) !== undefined) return entry;
    if (node(entry.machine) !== undefined || this.#known.areNodesBehind()) return entry;
    const owner = machineOf({ name: entry.machine }) ?? entry.machine;
    return owner !== entry.machine
      ? { ...entry, node: entry.machine, phase: 'Ended', counted: true }
      : entry;
  };

  /** The entries of an instruction that names these machines, as far as there is room. */
  readonly first = (
    machines: readonly string[],
    room: DrainRoom,
    id = '',
  ): readonly ReclaimEntry[] =>
    admitted(
      entriesOf(machines).map((entry) => this.#begun(this.foundOrGone(entry), id)),
      room,
    );

  /** Awaited entries as they are now, in the same order. */
  readonly next = (awaited: readonly AwaitedEntry[], room: DrainRoom): readonly ReclaimEntry[] => {
    const isFull = room.free <= 0;
    const now = awaited.map(({ instruction, entry }) =>
      isFull && entry.phase === 'Queued' ? entry : this.#begun(this.found(entry), instruction.id)
    );
    return admitted(now, room);
  };

  /** The Node of an entry that no machine of the shard has (DR-17). */
  readonly withoutMachine = ({ machine }: ReclaimEntry): NodeProjection | undefined => {
    const name = this.#known.nodeOf(machine)?.name;
    return name === undefined || this.#isOfMachine(machine, name)
      ? undefined
      : this.#known.node(name);
  };

  /** The machine that shows the drain: of an entry that names the Node, the Node's. */
  readonly reportedMachineOf = ({ machine, node }: ReclaimEntry): string =>
    machine === node ? this.machineNamed(node) : machine;

  /** The machine of a text that may also be the name of its Node. */
  readonly machineNamed = (text: string): string => {
    const { upcomingNode, machineOf } = this.#known;
    return upcomingNode(text) !== undefined ? text : machineOf({ name: text }) ?? text;
  };

  #withNode(entry: ReclaimEntry, node: string): ReclaimEntry {
    if (!this.#known.isReclaimable(node)) return { ...entry, node, phase: 'Ended', counted: false };
    return this.#isOfMachine(entry.machine, node) ? { ...entry, node, phase: 'Queued' } : entry;
  }

  /** An instruction that is over on the Node starts nothing there: it waits for no room (DR-03). */
  #begun(entry: ReclaimEntry, id: string): ReclaimEntry {
    const node = entry.phase === 'Queued' ? this.#known.node(entry.node) : undefined;
    const isOver = node !== undefined && isOrderOver(node, 'reclaim', id);
    return isOver ? { ...entry, phase: 'Cordoning' } : entry;
  }

  /** The text may be a machine or the name of the Node. */
  #isOfMachine(text: string, node: string): boolean {
    if (this.#has(text, node)) return true;
    const owner = this.#known.machineOf({ name: node });
    return owner !== undefined && owner !== text && this.#has(owner, node);
  }

  #has(machine: string, node: string): boolean {
    const { wasConfigured, upcomingNode, nodeOf } = this.#known;
    const object = upcomingNode(machine);
    if (object === undefined && !wasConfigured(machine)) return false;
    return object?.nodeName === node || nodeOf(machine)?.name === node;
  }
}

/** The drains that may still begin. */
export interface DrainRoom {
  readonly free: number;
  /** The Node drains already, so that it needs no room. */
  readonly isDraining: (node: string) => boolean;
}

/** Lets queued entries begin, in this order, while there is room (DR-19). */
const admitted = (
  entries: readonly ReclaimEntry[],
  { free, isDraining }: DrainRoom,
): readonly ReclaimEntry[] => {
  const begun = new Set<string>();
  return entries.map((entry): ReclaimEntry => {
    if (entry.phase !== 'Queued') return entry;
    const needsRoom = !begun.has(entry.node) && !isDraining(entry.node);
    if (needsRoom && begun.size >= free) return entry;
    if (needsRoom) begun.add(entry.node);
    return { ...entry, phase: 'Cordoning' };
  });
};
