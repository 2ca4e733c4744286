/**
 * The requesters of a pod's eviction, and their combined terms.
 *
 * Promises: a pod leaves while one request remains; the most urgent class, the earliest deadline,
 * the oldest drain and the longest grace among its requests count. Times are monotonic
 * milliseconds.
 */
import type { DrainOwner } from './cordon.ts';
import { DRAIN_CLASSES, type DrainClass } from './eviction-rank.ts';

/** Who requests evictions: the owner of a drain, or the EvictionRequest of the pod. */
export type EvictionOwner = DrainOwner | 'eviction-request';

/** One owner's request that a pod leaves its node. */
export interface EvictionRequest {
  readonly node: string;
  readonly owner: EvictionOwner;
  /** Null when the owner sets none. */
  readonly deadlineMonotonicMs: number | null;
  readonly drainSinceMs: number;
  /** What the pod gets to stop, in seconds; null, or nothing: its own grace. */
  readonly graceSeconds?: number | null;
  readonly podsLeft: () => number;
}

/** The combined terms of all requests for one pod. */
export interface EvictionTerms {
  readonly drainClass: DrainClass;
  /** `Infinity` when no owner sets one. */
  readonly deadlineMs: number;
  readonly drainSinceMs: number;
  /** What is sent with the eviction; null: nothing, and the pod has its own grace. */
  readonly graceSeconds: number | null;
  readonly podsLeft: () => number;
}

/** The urgency of an owner's drains. */
const drainClassOf = (owner: EvictionOwner): DrainClass => {
  if (owner === 'disabled') return 'emergency';
  return owner === 'reclaim' ? 'reclaim' : 'maintenance';
};

/** A drain without a grace wants the pod's own. An EvictionRequest can name none. */
const graceOf = (requests: readonly EvictionRequest[]): number | null => {
  const graces = requests.flatMap(({ owner, graceSeconds = null }) =>
    owner === 'eviction-request' ? [] : [graceSeconds]
  );
  return graces.reduce(
    (longest, one) => longest === null || one === null ? null : Math.max(longest, one),
    graces[0] ?? null,
  );
};

/** The terms of one request; the grace is that of all together. */
const termsOf = (
  { owner, deadlineMonotonicMs, ...request }: EvictionRequest,
): Omit<EvictionTerms, 'graceSeconds'> => ({
  drainClass: drainClassOf(owner),
  deadlineMs: deadlineMonotonicMs ?? Number.POSITIVE_INFINITY,
  drainSinceMs: request.drainSinceMs,
  podsLeft: request.podsLeft,
});

const moreUrgent = (left: DrainClass, right: DrainClass): DrainClass =>
  DRAIN_CLASSES.indexOf(left) <= DRAIN_CLASSES.indexOf(right) ? left : right;

/** The combined terms of `request` and the others. */
export const combinedTerms = (
  request: EvictionRequest,
  others: Iterable<EvictionRequest>,
): EvictionTerms => {
  let all = termsOf(request);
  const rest = [...others];
  for (const other of rest) {
    const one = termsOf(other);
    all = {
      ...all,
      drainClass: moreUrgent(all.drainClass, one.drainClass),
      deadlineMs: Math.min(all.deadlineMs, one.deadlineMs),
      drainSinceMs: Math.min(all.drainSinceMs, one.drainSinceMs),
    };
  }
  return { ...all, graceSeconds: graceOf([request, ...rest]) };
};
