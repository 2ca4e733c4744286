/**
 * The machines of one reclaim instruction, and how far each has come.
 *
 * Promises: plain data; an entry never goes back; a node is counted once, however many names the
 * instruction has for it (DR-10, DR-11).
 */

/** How far a machine has come, in this order. */
export const ENTRY_PHASES = ['Unseen', 'Cordoning', 'Cordoned', 'Ended'] as const;
export type EntryPhase = (typeof ENTRY_PHASES)[number];

/** One machine of an instruction. */
export interface ReclaimEntry {
  readonly machine: string;
  /** Its Node; empty while nobody has seen one. */
  readonly node: string;
  readonly phase: EntryPhase;
  /** Its node is cordoned for this instruction, or gone: the ack counts it. */
  readonly counted: boolean;
}

/** The entries of an instruction that names these machines; none twice. */
export const entriesOf = (machines: readonly string[]): readonly ReclaimEntry[] =>
  [...new Set(machines)].map((machine) => ({ machine, node: '', phase: 'Unseen', counted: false }));

const rank = ({ phase }: ReclaimEntry): number => ENTRY_PHASES.indexOf(phase);

/** The entries with what is now known of one of them. */
export const withEntry = (
  entries: readonly ReclaimEntry[],
  next: ReclaimEntry,
): readonly ReclaimEntry[] =>
  entries.map((entry) =>
    entry.machine !== next.machine || rank(next) < rank(entry)
      ? entry
      : { ...next, counted: entry.counted || next.counted }
  );

/** Nodes that have started, each counted once. */
export const nodesStarted = (entries: readonly ReclaimEntry[]): number =>
  new Set(entries.filter(({ counted }) => counted).map(({ node }) => node)).size;

/** True when some entry is in this phase. */
export const anyAt = (entries: readonly ReclaimEntry[], phase: EntryPhase): boolean =>
  entries.some((entry) => entry.phase === phase);

/** Machines without a Node are given up: their time is over. */
export const giveUpUnseen = (entries: readonly ReclaimEntry[]): readonly ReclaimEntry[] =>
  entries.map((entry) => (entry.phase === 'Unseen' ? { ...entry, phase: 'Ended' } : entry));
