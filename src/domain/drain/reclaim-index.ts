/**
 * The active reclaim instructions and their annotations on Nodes. Data only.
 */
import type { NodeProjection } from '../cluster-node.ts';
import { CORDON_LIMITS } from './cordon-limits.ts';
import { annotationOf, type CordonAnnotation } from './cordon.ts';
import { graceOf } from './deadline.ts';
import { type ReclaimEntry, waitingEntries, withEntry } from './reclaim-entry.ts';
import { SHARD_LIMITS } from '../shard-limits.ts';

/** The id under which lost reclaims are recovered (DR-14). */
export const RECOVERED_PREFIX = 'recovered-';
/** The grace of a recovered reclaim (DR-14). */
export const RECOVERED_GRACE_SECONDS = 600;

/** The time of an instruction. */
export interface ReclaimTerms {
  readonly deadlineMs: number;
  readonly graceSeconds: number;
  readonly sinceMs: number;
}

/** One instruction. */
export interface InstructionEntry {
  readonly id: string;
  readonly terms: ReclaimTerms;
  /** The requested grace, before it was clamped. */
  readonly askedSeconds: number;
  /** The last known machines. */
  machines: readonly ReclaimEntry[];
  ackPending: boolean;
  /** Evictions were released. */
  isReleased: boolean;
  /** Its actor crashed before. */
  hasCrashed: boolean;
}

/** An instruction from the shard's message. */
export const newInstruction = (
  { id, graceSeconds, sinceMs, machines, ackPending }: {
    readonly id: string;
    readonly graceSeconds: number;
    /** When it came, on the wall clock. */
    readonly sinceMs: number;
    readonly machines: readonly ReclaimEntry[];
    readonly ackPending: boolean;
  },
): InstructionEntry => {
  const { seconds } = graceOf(graceSeconds);
  return {
    id,
    terms: { deadlineMs: sinceMs + seconds * 1000, graceSeconds: seconds, sinceMs },
    askedSeconds: graceSeconds,
    machines,
    ackPending,
    isReleased: false,
    hasCrashed: false,
  };
};

/** The machine of a Node's annotation. */
const entryFromNode = (
  node: NodeProjection,
  annotation: CordonAnnotation,
  machine: string,
): ReclaimEntry => {
  const isOver = annotation.ended !== null;
  return {
    machine,
    node: node.name,
    phase: isOver ? 'Ended' : 'Cordoned',
    counted: isOver ? annotation.ended !== 'Cancelled' : node.unschedulable,
  };
};

interface AnnotatedNode {
  readonly node: NodeProjection;
  readonly annotation: CordonAnnotation;
}

/** The instructions without an end, one of each Node before the second of any. */
const pendingOn = (annotated: readonly AnnotatedNode[]) => {
  const pending = new Map<string, CordonAnnotation>();
  const leftOut = new Set<NodeProjection>();
  const unfinished = annotated.filter(({ annotation }) => annotation.ended === null);
  for (let at = 0; at < CORDON_LIMITS.ids; at += 1) {
    for (const { node, annotation } of unfinished) {
      const id = annotation.ids[at];
      if (id === undefined) continue;
      const hasRoom = pending.size < CORDON_LIMITS.resumedInstructions || pending.has(id);
      if (hasRoom) pending.set(id, annotation);
      else leftOut.add(node);
    }
  }
  return { pending, leftOut: [...leftOut] };
};

/** The instructions that a new term finds on Nodes. */
export interface InstructionsOnNodes {
  readonly instructions: readonly Omit<InstructionEntry, 'ackPending'>[];
  /** Nodes with further instructions, beyond the bound. */
  readonly leftOut: readonly NodeProjection[];
}

/** Instructions without an end on some Node, with all Nodes that name them. */
export const instructionsOnNodes = (
  nodes: Iterable<NodeProjection>,
  machineOf: (node: NodeProjection) => string | undefined,
): InstructionsOnNodes => {
  const annotated = [...nodes].flatMap((node) => {
    const annotation = annotationOf(node, 'reclaim');
    return annotation === undefined ? [] : [{ node, annotation }];
  });
  const { pending, leftOut } = pendingOn(annotated);
  const named = new Map([...pending.keys()].map((id): [string, ReclaimEntry[]] => [id, []]));
  for (const { node, annotation } of annotated) {
    const ids = annotation.ids.filter((id) => named.has(id));
    if (ids.length === 0) continue;
    const machine = entryFromNode(node, annotation, machineOf(node) ?? node.name);
    for (const id of ids) named.get(id)?.push(machine);
  }
  const instructions = [...pending].map(([id, { deadlineMs, graceSeconds, sinceMs }]) => ({
    id,
    terms: { deadlineMs: deadlineMs ?? sinceMs, graceSeconds, sinceMs },
    askedSeconds: 0,
    machines: named.get(id) ?? [],
    isReleased: false,
    hasCrashed: false,
  }));
  return { instructions, leftOut };
};

/** The machines of a restarting instruction, with the current state of their Nodes. */
export const machinesNow = (
  { id, machines }: InstructionEntry,
  nodeOf: (name: string) => NodeProjection | undefined,
): readonly ReclaimEntry[] =>
  machines.reduce((known, entry) => {
    const node = nodeOf(entry.node);
    const annotation = node === undefined ? undefined : annotationOf(node, 'reclaim');
    return node !== undefined && annotation?.ids.includes(id) === true
      ? withEntry(known, entryFromNode(node, annotation, entry.machine))
      : known;
  }, machines);

/** True when a drain of the Node for the instruction goes on, or is to be resumed. */
export const hasUnfinished = (node: NodeProjection | undefined, id: string): boolean => {
  const annotation = node === undefined ? undefined : annotationOf(node, 'reclaim');
  return annotation?.ended === null && annotation.ids.includes(id);
};

/** An entry whose drain has not begun. */
export interface AwaitedEntry {
  readonly instruction: InstructionEntry;
  readonly entry: ReclaimEntry;
}

/** The entries whose drains have not begun, by deadline. */
export const awaitedEntries = (
  instructions: Iterable<InstructionEntry>,
): readonly AwaitedEntry[] =>
  [...instructions]
    .toSorted((left, right) => left.terms.deadlineMs - right.terms.deadlineMs)
    .flatMap((instruction) =>
      waitingEntries(instruction.machines).map((entry) => ({ instruction, entry }))
    );

/** True when all active instructions together may name these machines as well. */
export const hasRoomFor = (
  machines: readonly string[],
  instructions: Iterable<{ readonly machines: readonly unknown[] }>,
): boolean => {
  let named = machines.length;
  for (const instruction of instructions) named += Math.max(1, instruction.machines.length);
  return named <= SHARD_LIMITS.reclaim_machines.max;
};

/** The number of remembered acks of earlier terms; the oldest is evicted. */
const ACKED_MAX = 1000;

/** Instructions that this process has acked, as far as remembered. */
export class AckedInstructions {
  readonly #ids = new Set<string>();
  #resumed = 0;

  /**
   * True when an instruction that was found on Nodes is acked: once by each process (DR-12), and
   * only so many, because the text of a Node does not prove that a shard ever gave it (DR-07).
   */
  readonly resume = (id: string): boolean => {
    if (id.startsWith(RECOVERED_PREFIX) || this.#ids.has(id)) return false;
    this.#resumed += 1;
    return this.#resumed <= CORDON_LIMITS.resumedAcks;
  };

  readonly add = (id: string): void => {
    this.#ids.add(id);
    const [oldest] = this.#ids;
    if (this.#ids.size > ACKED_MAX && oldest !== undefined) this.#ids.delete(oldest);
  };
}
