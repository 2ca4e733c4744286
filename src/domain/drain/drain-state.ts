/**
 * The state of one drain: what it knows of its node, and what follows from that.
 *
 * Promises: facts in, verdicts out, without a clock; plain data, fit for the context of the
 * `nodeDrain` statechart, which is drawn over it. What a restart must know stands in the
 * annotation of its owner on the Node; everything else is learned again from the caches.
 */
import type { Revision } from '../ids.ts';
import { isOlder } from '../revisions.ts';
import {
  cancelSeen,
  type CordonDecision,
  type CordonOrder,
  decideCordon,
  endedPatch,
  releasePatch,
} from './cordon-patch.ts';
import {
  annotationOf,
  type CordonAnnotation,
  type CordonEnd,
  cordonOf,
  type DrainOwner,
} from './cordon.ts';
import { timerStepMs } from './deadline.ts';
import { type PodCounts, startedTo } from './pod-counts.ts';
import type { DrainedNode } from './drained-node.ts';
import type { NodeWriteOutcome } from './node-write.ts';
import type { TierKey } from './plan.ts';

/** The time that a drain has, as of one moment. */
export interface DrainTime {
  /** Null without a deadline. */
  readonly leftMs: number | null;
  /** How much is left when the last quarter of the grace begins. */
  readonly quarterMs: number;
  readonly tierWaitMs: number;
}

/** What a drain begins with. */
export interface DrainStateInput extends DrainTime {
  readonly node: DrainedNode;
  /** For whom the node is drained: the key of its annotation. */
  readonly owner: DrainOwner;
  /** The owner has left: its annotation is to go. */
  readonly withdrawn: boolean;
  /** What is to be written on the Node; none when it shows all of it and the drain goes on. */
  readonly orders: readonly CordonOrder[];
  /** Evictions are paused everywhere. */
  readonly pausedAll: boolean;
}

/** What a drain knows. */
export interface DrainState extends DrainTime {
  readonly name: string;
  readonly owner: DrainOwner;
  readonly withdrawn: boolean;
  /** The newest that is known of the Node; null when it is gone. */
  readonly node: DrainedNode | null;
  readonly orders: readonly CordonOrder[];
  readonly pausedAll: boolean;
  /** What stands on the Node for us, as we wrote it or found it. */
  readonly annotation: CordonAnnotation | null;
  /** The revision that our patch made; null when another process made it. */
  readonly landedAt: Revision | null;
  /** The cache has shown the key. */
  readonly shown: boolean;
  /** The instruction lets evictions begin. */
  readonly released: boolean;
  readonly podCounts: PodCounts | null;
  readonly startedTo: TierKey | null;
  /** The right that we lack to evict; empty while nothing is known to be missing. */
  readonly refusal: string;
  readonly end: CordonEnd | null;
}

/** A drain that begins: with orders, or from the key that its Node shows. */
export const initialDrainState = (
  { node, owner, withdrawn, orders, leftMs, quarterMs, tierWaitMs, pausedAll }: DrainStateInput,
): DrainState => {
  const found = orders.length === 0 ? annotationOf(node, owner) ?? null : null;
  return {
    name: node.name,
    owner,
    withdrawn,
    node,
    orders,
    leftMs,
    quarterMs,
    tierWaitMs,
    pausedAll,
    annotation: found,
    landedAt: null,
    shown: found !== null,
    released: false,
    podCounts: null,
    startedTo: null,
    refusal: '',
    end: null,
  };
};

/** What is to be done about the next order; `undefined` when there is none, or no Node. */
export const nextDecision = (
  { node, owner, orders: [order] }: Pick<DrainState, 'node' | 'owner' | 'orders'>,
): CordonDecision | undefined =>
  node === null || order === undefined ? undefined : decideCordon(node, owner, order);

/** What the next order wants written; empty when it wants nothing. */
export const cordonBody = (state: DrainState): object => {
  const decision = nextDecision(state);
  return decision?._tag === 'Patch' ? decision.body : {};
};

/** The next order is one that the Node shows, or that was carried out before. */
export const withNextOrder = (state: DrainState): Partial<DrainState> => {
  const decision = nextDecision(state);
  const orders = state.orders.slice(1);
  return decision?._tag === 'Landed'
    ? { orders, annotation: decision.annotation, shown: true }
    : { orders };
};

const isOver = (leftMs: number | null): boolean => leftMs !== null && leftMs <= 0;

/** What ends the drain, by what is known now; null while it goes on. */
export const endOf = (state: DrainState): CordonEnd | null => {
  const { node, owner, annotation, released, podCounts, refusal, leftMs } = state;
  if (node === null) return 'Drained';
  if (state.withdrawn) return 'Cancelled';
  if (annotation !== null && cancelSeen(node, owner, state)) return 'Cancelled';
  if (annotation !== null && released && podCounts?.left === 0) return 'Drained';
  return refusal !== '' || isOver(leftMs) ? 'Failed' : null;
};

/**
 * The patch that writes the end on the Node; `undefined` when no write is pending. The annotation
 * of an owner that has left goes, and the node becomes schedulable with the last of them.
 */
export const endBody = (
  { node, owner, withdrawn, annotation, end }: Pick<
    DrainState,
    'node' | 'owner' | 'withdrawn' | 'annotation' | 'end'
  >,
): object | undefined => {
  if (node === null || end === null) return undefined;
  if (withdrawn) return releasePatch(node, owner);
  return annotation === null ? undefined : endedPatch(node, owner, { end, remembered: annotation });
};

/** False for what is older than what is known, and for a Node that is gone; an echo is newer. */
export const isNewer = ({ node }: Pick<DrainState, 'node'>, next: DrainedNode): boolean =>
  node !== null && !isOlder(next.revision, node.revision);

/** With the Node as a watch shows it. */
export const withNode = (state: DrainState, node: DrainedNode): Partial<DrainState> =>
  !isNewer(state, node) ? {} : {
    node,
    shown: state.shown || (state.annotation !== null && cordonOf(node, state.owner) !== undefined),
  };

/** What an answer to a patch of ours tells; a newer fact that came before it stays. */
export const withAnswer = (
  state: DrainState,
  outcome: NodeWriteOutcome,
): Partial<DrainState> => {
  if (outcome._tag === 'Gone') return { node: null };
  if (outcome._tag !== 'Written') return {};
  const { node } = outcome;
  const known = isNewer(state, node) ? { node } : {};
  if (state.end !== null) return known;
  return {
    ...known,
    annotation: annotationOf(node, state.owner) ?? state.annotation,
    landedAt: node.revision,
  };
};

/** What is seen of the pods; once the end is decided, it decides nothing any more. */
export const withPods = (
  { end }: DrainState,
  { podCounts, refusal }: { readonly podCounts: PodCounts; readonly refusal: string },
): Partial<DrainState> => (end === null ? { podCounts, refusal } : {});

/** The time alone, of whatever carries it. */
export const timeOf = ({ leftMs, quarterMs, tierWaitMs }: DrainTime): DrainTime => ({
  leftMs,
  quarterMs,
  tierWaitMs,
});

/** How long the next timer of the clock is. */
export const clockStepMs = ({ leftMs, quarterMs }: DrainTime): number =>
  leftMs === null ? 0 : timerStepMs(leftMs > quarterMs ? leftMs - quarterMs : leftMs);

/** True from the last quarter of the grace on. */
export const inLastQuarter = ({ leftMs, quarterMs }: DrainTime): boolean =>
  leftMs !== null && leftMs <= quarterMs;

/** The tier up to which all have started; `tierWaitOver` when the tier wait is over. */
export const tiersStarted = (state: DrainState, tierWaitOver: boolean): TierKey | null =>
  state.podCounts === null ? state.startedTo : startedTo(state.startedTo, state.podCounts, {
    tierWaitOver,
    lastQuarter: inLastQuarter(state),
  });
