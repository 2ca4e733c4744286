/**
 * The machine and the Node that an entry of a reclaim instruction names.
 *
 * Promises: asks for the facts each time and keeps none; a machine whose Node was observed once is
 * never taken for one that had none (DR-10).
 */
import type { NodeProjection } from '../cluster-node.ts';
import type { UpcomingNodeProjection } from '../upcoming-node.ts';
import type { ReclaimEntry } from './reclaim-entry.ts';

/** What is known of machines and Nodes now. */
export interface KnownMachines {
  readonly upcomingNode: (machine: string) => UpcomingNodeProjection | undefined;
  readonly node: (name: string) => NodeProjection | undefined;
  /** The Node of a machine, also when the text is the name of the Node. */
  readonly nodeOf: (machine: string) => Pick<NodeProjection, 'name'> | undefined;
  /** The machine of a Node, also of one that is gone. */
  readonly machineOf: (node: Pick<NodeProjection, 'name'>) => string | undefined;
}

/** Finds what the entries of instructions name. */
export class ReclaimTargets {
  readonly #known: KnownMachines;

  constructor(known: KnownMachines) {
    this.#known = known;
  }

  /** The entry with the Node of its machine, as far as ever observed (DR-10). */
  readonly found = (entry: ReclaimEntry): ReclaimEntry => {
    const { nodeOf, upcomingNode, node } = this.#known;
    const match = nodeOf(entry.machine);
    if (match !== undefined) return { ...entry, node: match.name, phase: 'Cordoning' };
    const current = upcomingNode(entry.machine);
    if (current === undefined || current.nodeName === '') return entry;
    const known = node(current.nodeName);
    if (known?.uid === current.nodeUid) return { ...entry, node: known.name, phase: 'Cordoning' };
    return { ...entry, node: current.nodeName, phase: 'Ended', counted: true };
  };

  /** Like `found`; the entry may also name a Node that is gone, instead of its machine. */
  readonly foundOrGone = (named: ReclaimEntry): ReclaimEntry => {
    const { upcomingNode, machineOf } = this.#known;
    const entry = this.found(named);
    if (entry.phase !== 'Unseen' || upcomingNode(entry.machine) !== undefined) return entry;
    const owner = machineOf({ name: entry.machine }) ?? entry.machine;
    return owner !== entry.machine
      ? { ...entry, node: entry.machine, phase: 'Ended', counted: true }
      : entry;
  };

  /** The machine that shows the drain: of an entry that names the Node, the Node's. */
  readonly reportedMachineOf = ({ machine, node }: ReclaimEntry): string => {
    const { upcomingNode, machineOf } = this.#known;
    if (machine !== node || upcomingNode(machine) !== undefined) return machine;
    return machineOf({ name: node }) ?? machine;
  };
}
