/**
 * The machines of one reclaim instruction and their progress.
 *
 * Promises: plain data; an entry never regresses; a node is counted once, however many names the
 * instruction has for it (DR-10, DR-11).
 */

/** The progress of a machine, in order; `Queued` has a Node and waits for `--max-draining`. */
export const ENTRY_PHASES = ['Unseen', 'Queued', 'Cordoning', 'Cordoned', 'Ended'] as const;
export type EntryPhase = (typeof ENTRY_PHASES)[number];

/** One machine of an instruction. */
export interface ReclaimEntry {
  readonly machine: string;
  /** Its Node; empty until one is matched. */
  readonly node: string;
  readonly phase: EntryPhase;
  /** Its node is cordoned for this instruction, or gone: the ack counts it. */
  readonly counted: boolean;
}

/** The entries of an instruction that names these machines, deduplicated. */
export const entriesOf = (machines: readonly string[]): readonly ReclaimEntry[] =>
  [...new Set(machines)].map((machine) => ({ machine, node: '', phase: 'Unseen', counted: false }));

/** The machines that these entries have neither as a machine nor as its Node. */
export const othersThan = (
  entries: readonly ReclaimEntry[],
  machines: readonly string[],
): readonly string[] =>
  machines.filter((name) =>
    !entries.some(({ machine, node }) => machine === name || node === name)
  );

const rank = ({ phase }: ReclaimEntry): number => ENTRY_PHASES.indexOf(phase);

/** The entries with an update of one. */
export const withEntry = (
  entries: readonly ReclaimEntry[],
  next: ReclaimEntry,
): readonly ReclaimEntry[] =>
  entries.map((entry) =>
    entry.machine !== next.machine || rank(next) < rank(entry)
      ? entry
      : { ...next, counted: entry.counted || next.counted }
  );

/** Started nodes, each counted once. */
export const nodesStarted = (entries: readonly ReclaimEntry[]): number =>
  new Set(entries.filter(({ counted }) => counted).map(({ node }) => node)).size;

/** True when some entry is in this phase. */
export const anyAt = (entries: readonly ReclaimEntry[], phase: EntryPhase): boolean =>
  entries.some((entry) => entry.phase === phase);

/** True while the drain of the entry's Node has not begun. */
export const isWaiting = ({ phase }: ReclaimEntry): boolean =>
  phase === 'Unseen' || phase === 'Queued';

/** The entries whose drains have not begun. */
export const waitingEntries = (entries: readonly ReclaimEntry[]): readonly ReclaimEntry[] =>
  entries.filter(isWaiting);

/** Ends the machines whose drains have not begun: their time is over. */
export const giveUpWaiting = (entries: readonly ReclaimEntry[]): readonly ReclaimEntry[] =>
  entries.map((entry) => (isWaiting(entry) ? { ...entry, phase: 'Ended' } : entry));
