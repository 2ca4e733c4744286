/**
 * Who gets a free slot of a budget (DR-34): nodes empty one after another, not all at the end.
 *
 * Promises: a total order, so the same facts always give the same pod; plain values only.
 */
import type { Uid } from '../ids.ts';
import { compareText } from '../requirements.ts';
import type { Budget } from './budget.ts';
import type { DrainPod } from './pod.ts';

/** For what a node is given back, most urgent first. */
export const DRAIN_CLASSES = ['emergency', 'reclaim', 'maintenance'] as const;
export type DrainClass = (typeof DRAIN_CLASSES)[number];

/** A pod that waits for a slot of one budget. Times are monotonic milliseconds. */
export interface Petition {
  readonly pod: Uid;
  readonly podName: string;
  readonly priority: number;
  readonly node: string;
  readonly drainClass: DrainClass;
  readonly deadlineMs: number;
  readonly drainSinceMs: number;
  /** The place of its node in line (`nodeLine`). */
  readonly place: number;
  /** Pods that must still leave the node. */
  readonly podsLeft: number;
}

/** A deadline nearer than this comes before everything but the class. */
const PRESSING_MS = 60_000;
/** Kubernetes forgets an eviction that it counted and that did not happen after this time. */
const INTERRUPTED_EVICTION_MS = 120_000;

/** What the order looks at besides the petitions. */
export interface QueueView {
  readonly budget: Pick<Budget, 'disruptedPods'>;
  readonly nowMs: number;
}

const isCharged = (budget: QueueView['budget'], podName: string): boolean =>
  Object.hasOwn(budget.disruptedPods, podName);

/** The keys of the order; the first that differs decides, smaller first. */
const rank = (petition: Petition, { budget, nowMs }: QueueView): readonly number[] => [
  isCharged(budget, petition.podName) ? 0 : 1,
  DRAIN_CLASSES.indexOf(petition.drainClass),
  petition.deadlineMs - nowMs < PRESSING_MS ? 0 : 1,
  petition.place,
  petition.podsLeft,
  petition.drainSinceMs,
];

interface Ranked {
  readonly petition: Petition;
  readonly ranks: readonly number[];
}

const ranked = (petition: Petition, view: QueueView): Ranked => ({
  petition,
  ranks: rank(petition, view),
});

/** Ends with node, priority and name, so that nothing is even. */
const compareRanked = (left: Ranked, right: Ranked): number => {
  for (const [at, value] of left.ranks.entries()) {
    const difference = value - (right.ranks[at] ?? 0);
    if (difference !== 0) return difference;
  }
  const [one, other] = [left.petition, right.petition];
  return compareText(one.node, other.node) || one.priority - other.priority ||
    compareText(one.podName, other.podName) || compareText(one.pod, other.pod);
};

/** Negative when `left` comes first. */
export const comparePetitions = (left: Petition, right: Petition, view: QueueView): number =>
  compareRanked(ranked(left, view), ranked(right, view));

/** The petition that gets the next slot; `undefined` when nobody waits. */
export const nextInLine = (
  petitions: Iterable<Petition>,
  view: QueueView,
): Petition | undefined => {
  let first: Ranked | undefined;
  for (const petition of petitions) {
    const candidate = ranked(petition, view);
    if (first === undefined || compareRanked(candidate, first) < 0) first = candidate;
  }
  return first?.petition;
};

/** An eviction that the budget has counted and that did not happen. Wall-clock milliseconds. */
export interface InterruptedEviction {
  readonly podName: string;
  readonly untilMs: number;
}

/**
 * The pods that `disruptedPods` lists and that are there and not terminating: their evictions were
 * cut short, and each holds a slot until its time is over.
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
