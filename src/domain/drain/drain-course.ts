/**
 * The course of one drain: what it knows of its node, and what follows from that.
 *
 * Promises: facts in, verdicts out, without a clock; plain data, fit for the context of the
 * `nodeDrain` statechart, which is drawn over it. What a restart must know stands in the `reclaim`
 * key of the Node; everything else is learned again from the caches.
 */
import type { Revision } from '../ids.ts';
import { isOlder } from '../revisions.ts';
import {
  cancelSeen,
  type CordonDecision,
  type CordonOrder,
  decideCordon,
  endedPatch,
} from './cordon-patch.ts';
import { type CordonEnd, type CordonMark, cordonOf, markOf } from './cordon.ts';
import { timerStepMs } from './deadline.ts';
import { type DrainTally, startedTo } from './drain-tally.ts';
import type { DrainedNode } from './drained-node.ts';
import type { NodeWriteOutcome } from './node-write.ts';
import type { TierKey } from './plan.ts';

const OWNER = 'reclaim';

/** The time that a drain has, as of one moment. */
export interface DrainTime {
  readonly leftMs: number;
  /** How much is left when the last quarter of the grace begins. */
  readonly quarterMs: number;
  readonly tierWaitMs: number;
}

/** What a drain begins with. */
export interface DrainBeginning extends DrainTime {
  readonly node: DrainedNode;
  /** What is to be written on the Node; none when it shows all of it and the drain goes on. */
  readonly orders: readonly CordonOrder[];
  /** Evictions are paused everywhere. */
  readonly pausedAll: boolean;
}

/** What a drain knows. */
export interface DrainCourse extends DrainTime {
  readonly name: string;
  /** The newest that is known of the Node; null when it is gone. */
  readonly node: DrainedNode | null;
  readonly orders: readonly CordonOrder[];
  readonly pausedAll: boolean;
  /** What stands on the Node for us, as we wrote it or found it. */
  readonly mark: CordonMark | null;
  /** The revision that our patch made; null when another process made it. */
  readonly landedAt: Revision | null;
  /** The cache has shown the key. */
  readonly shown: boolean;
  /** The instruction lets evictions begin. */
  readonly released: boolean;
  readonly tally: DrainTally | null;
  readonly startedTo: TierKey | null;
  /** The right that we lack to evict; empty while nothing is known to be missing. */
  readonly refusal: string;
  readonly end: CordonEnd | null;
}

/** A drain that begins: with orders, or from the key that its Node shows. */
export const beginCourse = (
  { node, orders, leftMs, quarterMs, tierWaitMs, pausedAll }: DrainBeginning,
): DrainCourse => {
  const found = orders.length === 0 ? markOf(node, OWNER) ?? null : null;
  return {
    name: node.name,
    node,
    orders,
    leftMs,
    quarterMs,
    tierWaitMs,
    pausedAll,
    mark: found,
    landedAt: null,
    shown: found !== null,
    released: false,
    tally: null,
    startedTo: null,
    refusal: '',
    end: null,
  };
};

/** What is to be done about the next order; `undefined` when there is none, or no Node. */
export const nextDecision = (
  { node, orders: [order] }: Pick<DrainCourse, 'node' | 'orders'>,
): CordonDecision | undefined =>
  node === null || order === undefined ? undefined : decideCordon(node, OWNER, order);

/** What the next order wants written; empty when it wants nothing. */
export const cordonBody = (course: DrainCourse): object => {
  const decision = nextDecision(course);
  return decision?._tag === 'Patch' ? decision.body : {};
};

/** The next order is one that the Node shows, or that was carried out before. */
export const takeNextOrder = (course: DrainCourse): Partial<DrainCourse> => {
  const decision = nextDecision(course);
  const orders = course.orders.slice(1);
  return decision?._tag === 'Landed' ? { orders, mark: decision.mark, shown: true } : { orders };
};

/** What ends the drain, by what is known now; null while it goes on. */
export const endOf = (course: DrainCourse): CordonEnd | null => {
  const { node, mark, released, tally, refusal, leftMs } = course;
  if (node === null) return 'Drained';
  if (mark !== null && cancelSeen(node, OWNER, course)) return 'Cancelled';
  if (mark !== null && released && tally?.left === 0) return 'Drained';
  return refusal !== '' || leftMs <= 0 ? 'Failed' : null;
};

/** The patch that writes the end on the Node; `undefined` when nothing is owed. */
export const endBody = (
  { node, mark, end }: Pick<DrainCourse, 'node' | 'mark' | 'end'>,
): object | undefined =>
  node === null || mark === null || end === null
    ? undefined
    : endedPatch(node, OWNER, { end, remembered: mark });

/** False for what is older than what is known, and for a Node that is gone; an echo is news. */
export const isNews = ({ node }: Pick<DrainCourse, 'node'>, next: DrainedNode): boolean =>
  node !== null && !isOlder(next.revision, node.revision);

/** The Node as a watch shows it. */
export const takeSight = (course: DrainCourse, node: DrainedNode): Partial<DrainCourse> =>
  !isNews(course, node) ? {} : {
    node,
    shown: course.shown || (course.mark !== null && cordonOf(node, OWNER) !== undefined),
  };

/** What an answer to a patch of ours tells; a newer fact that came before it stays. */
export const takeAnswer = (
  course: DrainCourse,
  outcome: NodeWriteOutcome,
): Partial<DrainCourse> => {
  if (outcome._tag === 'Gone') return { node: null };
  if (outcome._tag !== 'Written') return {};
  const { node } = outcome;
  const known = isNews(course, node) ? { node } : {};
  if (course.end !== null) return known;
  return { ...known, mark: markOf(node, OWNER) ?? course.mark, landedAt: node.revision };
};

/** What is seen of the pods; once the end is decided, it decides nothing any more. */
export const takePods = (
  { end }: DrainCourse,
  { tally, refusal }: { readonly tally: DrainTally; readonly refusal: string },
): Partial<DrainCourse> => (end === null ? { tally, refusal } : {});

/** The time alone, of whatever carries it. */
export const takeTime = ({ leftMs, quarterMs, tierWaitMs }: DrainTime): DrainTime => ({
  leftMs,
  quarterMs,
  tierWaitMs,
});

/** How long the next timer of the clock is. */
export const clockStepMs = ({ leftMs, quarterMs }: DrainTime): number =>
  timerStepMs(leftMs > quarterMs ? leftMs - quarterMs : leftMs);

/** The tier up to which all have started; `quiet` when the tier wait is over. */
export const tiersStarted = (course: DrainCourse, quiet: boolean): TierKey | null =>
  course.tally === null ? course.startedTo : startedTo(course.startedTo, course.tally, {
    quiet,
    lastQuarter: course.leftMs <= course.quarterMs,
  });
