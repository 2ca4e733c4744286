/**
 * The state of one drain and the decisions that follow from it.
 *
 * Promises: pure, without a clock; plain data for the context of the `nodeDrain` statechart. What a
 * restart needs is stored in the owner's annotation on the Node; everything else is rebuilt from
 * the caches.
 */
import type { ResourceVersion } from '../ids.ts';
import { isOlder } from '../resource-versions.ts';
import {
  cancelSeen,
  type CordonDecision,
  type CordonOrder,
  decideCordon,
  endedPatch,
  isOfNextDrain,
  releasePatch,
} from './cordon-patch.ts';
import {
  annotationOf,
  type CordonAnnotation,
  type CordonEnd,
  cordonOf,
  type DrainOwner,
  printCordon,
} from './cordon.ts';
import { timerStepMs } from './deadline.ts';
import { type PodCounts, startedTo } from './pod-counts.ts';
import type { DrainedNode } from './drained-node.ts';
import { ineffective, type NodeWriteOutcome } from './node-write.ts';
import type { TierKey } from './plan.ts';

/** The remaining time of a drain at one moment. */
export interface DrainTime {
  /** Null without a deadline. */
  readonly leftMs: number | null;
  /** The time left when the last quarter of the grace begins. */
  readonly quarterMs: number;
  readonly tierWaitMs: number;
}

/** The input of a drain. */
export interface DrainStateInput extends DrainTime {
  readonly node: DrainedNode;
  /** The owner of the drain: the key of its annotation. */
  readonly owner: DrainOwner;
  /** The owner has left: its annotation is to be removed. */
  readonly withdrawn: boolean;
  /** The pending instructions; empty when the Node has them all and the drain goes on. */
  readonly orders: readonly CordonOrder[];
  /** Evictions are paused everywhere. */
  readonly pausedAll: boolean;
}

/** The context of a drain. */
export interface DrainState extends DrainTime {
  readonly name: string;
  readonly owner: DrainOwner;
  readonly withdrawn: boolean;
  /** The newest known Node; null when it is gone. */
  readonly node: DrainedNode | null;
  readonly orders: readonly CordonOrder[];
  readonly pausedAll: boolean;
  /** Our annotation on the Node, as written or found. */
  readonly annotation: CordonAnnotation | null;
  /** The resourceVersion of our patch; null when another process wrote it. */
  readonly landedAt: ResourceVersion | null;
  /** The cache has shown the key. */
  readonly cordonObserved: boolean;
  /** The instruction allows evictions to begin. */
  readonly released: boolean;
  readonly podCounts: PodCounts | null;
  readonly startedTo: TierKey | null;
  /** Pods that were bound before the scheduler observed the cordon have had time to appear. */
  readonly settled: boolean;
  /** The missing permission for evictions; empty when none is known. */
  readonly refusal: string;
  readonly end: CordonEnd | null;
}

/** A new drain: from instructions, or from the key on its Node. */
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
    cordonObserved: found !== null,
    released: false,
    podCounts: null,
    startedTo: null,
    settled: false,
    refusal: '',
    end: null,
  };
};

/** The decision about the next instruction; `undefined` without one, or without a Node. */
export const nextDecision = (
  { node, owner, orders: [order] }: Pick<DrainState, 'node' | 'owner' | 'orders'>,
): CordonDecision | undefined =>
  node === null || order === undefined ? undefined : decideCordon(node, owner, order);

/**
 * True when the next instruction needs no patch: the Node has it, it was completed before, or it
 * cannot join a drain that goes on, because the key became unreadable or has no room (DR-07).
 */
export const isOrderDone = (
  state: Pick<DrainState, 'node' | 'owner' | 'orders' | 'annotation'>,
): boolean => {
  const decision = nextDecision(state);
  return decision?._tag === 'Ended' || decision?._tag === 'Landed' ||
    (decision?._tag === 'Unrecognized' && state.annotation !== null);
};

/** The patch for the next instruction; empty when it needs none. */
export const cordonBody = (state: DrainState): object => {
  const decision = nextDecision(state);
  return decision?._tag === 'Patch' ? decision.body : {};
};

/** The next instruction is on the Node already, or was completed before. */
export const withNextOrder = (state: DrainState): Partial<DrainState> => {
  const decision = nextDecision(state);
  const orders = state.orders.slice(1);
  return decision?._tag === 'Landed'
    ? { orders, annotation: decision.annotation, cordonObserved: true }
    : { orders };
};

const isOver = (leftMs: number | null): boolean => leftMs !== null && leftMs <= 0;

/** True while a pod that must leave may still appear on an empty node, bound before its cordon. */
export const isUnsettled = (
  { settled, podCounts }: Pick<DrainState, 'settled' | 'podCounts'>,
): boolean => !settled && podCounts?.left === 0;

/**
 * What ends the drain, by current knowledge; null while it goes on. The pods are looked at before
 * a passed deadline ends it (DR-13).
 */
export const endOf = (state: DrainState): CordonEnd | null => {
  const { node, owner, annotation, released, podCounts, refusal, leftMs } = state;
  if (node === null) return 'Drained';
  if (state.withdrawn) return 'Cancelled';
  if (annotation !== null && cancelSeen(node, owner, state)) return 'Cancelled';
  const timeUp = isOver(leftMs);
  const isEmpty = podCounts?.left === 0 && (timeUp || (released && !isUnsettled(state)));
  if (annotation !== null && isEmpty) return 'Drained';
  return refusal !== '' || (timeUp && podCounts !== null) ? 'Failed' : null;
};

/**
 * The end that people see. A drain is complete, not cancelled, when its owner leaves after the last
 * pod.
 */
export const visibleEnd = (
  { withdrawn, released, annotation, podCounts, end }: Pick<
    DrainState,
    'withdrawn' | 'released' | 'annotation' | 'podCounts' | 'end'
  >,
): CordonEnd | null =>
  withdrawn && released && annotation !== null && podCounts?.left === 0 ? 'Drained' : end;

/**
 * The patch that writes the end on the Node; `undefined` when no write is pending. The annotation
 * of a departed owner is removed, and the node becomes schedulable with the last one. That of the
 * owner's next drain is left alone.
 */
export const endBody = (
  { node, owner, withdrawn, annotation, end }: Pick<
    DrainState,
    'node' | 'owner' | 'withdrawn' | 'annotation' | 'end'
  >,
): object | undefined => {
  if (node === null || end === null) return undefined;
  if (isOfNextDrain(node, owner, annotation)) return undefined;
  if (withdrawn) return releasePatch(node, owner);
  return annotation === null ? undefined : endedPatch(node, owner, { end, remembered: annotation });
};

/** What the next patch of the Node is to achieve, as text to compare; null without a patch. */
export const pendingPatch = (state: DrainState): string | null => {
  if (state.end !== null) {
    if (endBody(state) === undefined) return null;
    return state.withdrawn ? 'released' : `ended ${state.end}`;
  }
  const decision = nextDecision(state);
  return decision?._tag === 'Patch' ? `cordoned ${printCordon(decision.annotation)}` : null;
};

/**
 * What a patch came to. One that is due again on the Node of its own answer had no effect, and
 * would be sent again at once, for ever. The version does not show it: an admission webhook may
 * take a patch back and change something else.
 */
export const effectOf = (
  state: DrainState & { readonly sent: string | null },
  outcome: NodeWriteOutcome,
): NodeWriteOutcome => {
  if (outcome._tag !== 'Written' || state.sent === null) return outcome;
  const pending = pendingPatch({ ...state, node: outcome.node });
  return pending === state.sent ? ineffective : outcome;
};

/**
 * False for an older fact and for a Node that is gone; our own write echoed back counts as newer.
 */
export const isNewer = ({ node }: Pick<DrainState, 'node'>, next: DrainedNode): boolean =>
  node !== null && !isOlder(next.resourceVersion, node.resourceVersion);

/** Applies the Node as watched. */
export const withNode = (state: DrainState, node: DrainedNode): Partial<DrainState> =>
  !isNewer(state, node) ? {} : {
    node,
    cordonObserved: state.cordonObserved ||
      (state.annotation !== null && cordonOf(node, state.owner) !== undefined),
  };

/** Applies the answer to our own patch; a newer fact that arrived before it stays. */
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
    landedAt: node.resourceVersion,
  };
};

/** Applies pod observations; after the end is decided they change nothing. */
export const withPods = (
  { end }: DrainState,
  { podCounts, refusal }: { readonly podCounts: PodCounts; readonly refusal: string },
): Partial<DrainState> => (end === null ? { podCounts, refusal } : {});

/** The remaining time, reduced to its fields. */
export const timeOf = ({ leftMs, quarterMs, tierWaitMs }: DrainTime): DrainTime => ({
  leftMs,
  quarterMs,
  tierWaitMs,
});

/** The duration of the next timer. */
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
