/**
 * The rank of pods that wait for eviction (DR-34): nodes empty one after another, not all at the
 * end.
 *
 * Promises: a total order, so that equal facts select the same pod; plain values only.
 */
import type { Uid } from '../ids.ts';
import { compareText } from '../requirements.ts';
import type { Budget } from './budget.ts';
import type { DrainPod } from './pod.ts';

/** The purposes of a drain, most urgent first. */
export const DRAIN_CLASSES = ['emergency', 'reclaim', 'maintenance'] as const;
export type DrainClass = (typeof DRAIN_CLASSES)[number];

/** A pod that waits for eviction. Times are monotonic milliseconds. */
export interface EvictionCandidate {
  readonly pod: Uid;
  readonly podName: string;
  readonly priority: number;
  readonly node: string;
  readonly drainClass: DrainClass;
  /** `Infinity` when no owner sets a deadline. */
  readonly deadlineMs: number;
  readonly drainSinceMs: number;
  /** The priority of its node (`nodePriorities`), smaller first. */
  readonly nodePriority: number;
  /** Pods that must still leave the node. */
  readonly podsLeft: number;
  /** A younger revision of its workload is being rolled out (RS-15). */
  readonly isOutdated: boolean;
}

/** A deadline closer than this outranks everything but the class. */
const PRESSING_MS = 60_000;
/** Kubernetes forgets a counted eviction that did not happen after this time. */
const INTERRUPTED_EVICTION_MS = 120_000;

/** What the rank depends on besides the candidates. */
export interface RankView {
  readonly budget: Pick<Budget, 'disruptedPods'>;
  readonly nowMs: number;
}

const isCharged = (budget: RankView['budget'], podName: string): boolean =>
  Object.hasOwn(budget.disruptedPods, podName);

/** The keys of the rank; the first that differs decides, smaller first. */
const rank = (candidate: EvictionCandidate, { budget, nowMs }: RankView): readonly number[] => [
  isCharged(budget, candidate.podName) ? 0 : 1,
  DRAIN_CLASSES.indexOf(candidate.drainClass),
  candidate.deadlineMs - nowMs < PRESSING_MS ? 0 : 1,
  candidate.nodePriority,
  candidate.podsLeft,
  candidate.drainSinceMs,
  candidate.isOutdated ? 0 : 1,
];

interface Ranked {
  readonly candidate: EvictionCandidate;
  readonly ranks: readonly number[];
}

const ranked = (candidate: EvictionCandidate, view: RankView): Ranked => ({
  candidate,
  ranks: rank(candidate, view),
});

/** Ends with node, priority and name, so that there are no ties. */
const compareRanked = (left: Ranked, right: Ranked): number => {
  for (const [at, value] of left.ranks.entries()) {
    const difference = value - (right.ranks[at] ?? 0);
    if (difference !== 0) return difference;
  }
  const [one, other] = [left.candidate, right.candidate];
  return compareText(one.node, other.node) || one.priority - other.priority ||
    compareText(one.podName, other.podName) || compareText(one.pod, other.pod);
};

/** Negative when `left` comes first. */
export const compareCandidates = (
  left: EvictionCandidate,
  right: EvictionCandidate,
  view: RankView,
): number => compareRanked(ranked(left, view), ranked(right, view));

/** The candidate to evict next; `undefined` without any. */
export const firstCandidate = (
  candidates: Iterable<EvictionCandidate>,
  view: RankView,
): EvictionCandidate | undefined => {
  let first: Ranked | undefined;
  for (const candidate of candidates) {
    const next = ranked(candidate, view);
    if (first === undefined || compareRanked(next, first) < 0) first = next;
  }
  return first?.candidate;
};

/** An eviction that the budget counted and that did not happen. Wall-clock milliseconds. */
export interface InterruptedEviction {
  readonly podName: string;
  readonly untilMs: number;
}

/**
 * The pods in `disruptedPods` that exist and are not terminating: their evictions were interrupted,
 * and each holds a slot until it expires.
 */
export const interruptedEvictions = (
  budget: Pick<Budget, 'disruptedPods'>,
  pods: Iterable<Pick<DrainPod, 'name' | 'terminating'>>,
  nowMs: number,
): readonly InterruptedEviction[] => {
  const found: InterruptedEviction[] = [];
  for (const { name, terminating } of pods) {
    if (terminating || !isCharged(budget, name)) continue;
    const untilMs = (budget.disruptedPods[name] ?? 0) + INTERRUPTED_EVICTION_MS;
    if (untilMs > nowMs) found.push({ podName: name, untilMs });
  }
  return found.toSorted((left, right) =>
    left.untilMs - right.untilMs || compareText(left.podName, right.podName)
  );
};
