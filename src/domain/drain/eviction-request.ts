/**
 * The requesters of a pod's eviction, and their combined terms.
 *
 * Promises: a pod leaves while one request remains; the most urgent class, the earliest deadline
 * and the oldest drain among its requests count. Times are monotonic milliseconds.
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
  readonly podsLeft: () => number;
}

/** The combined terms of all requests for one pod. */
export interface EvictionTerms {
  readonly drainClass: DrainClass;
  /** `Infinity` when no owner sets one. */
  readonly deadlineMs: number;
  readonly drainSinceMs: number;
  readonly podsLeft: () => number;
}

/** The urgency of an owner's drains. */
const drainClassOf = (owner: EvictionOwner): DrainClass => {
  if (owner === 'disabled') return 'emergency';
  return owner === 'reclaim' ? 'reclaim' : 'maintenance';
};

const termsOf = ({ owner, deadlineMonotonicMs, ...request }: EvictionRequest): EvictionTerms => ({
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
  for (const other of others) {
    const one = termsOf(other);
    all = {
      drainClass: moreUrgent(all.drainClass, one.drainClass),
      deadlineMs: Math.min(all.deadlineMs, one.deadlineMs),
      drainSinceMs: Math.min(all.drainSinceMs, one.drainSinceMs),
      podsLeft: all.podsLeft,
    };
  }
  return all;
};
