/**
 * Who wants a pod to leave, and what follows from several requesters together.
 *
 * Promises: a pod is to leave while one request remains; the most urgent class, the earliest
 * deadline and the oldest drain of all its requests count. Times are monotonic milliseconds.
 */
import type { DrainOwner } from './cordon.ts';
import { DRAIN_CLASSES, type DrainClass } from './eviction-rank.ts';

/** One owner's request that a pod leaves its node. */
export interface EvictionRequest {
  readonly node: string;
  readonly owner: DrainOwner;
  /** Null when the owner sets none. */
  readonly deadlineMonotonicMs: number | null;
  readonly drainSinceMs: number;
  readonly podsLeft: () => number;
}

/** What all requests for one pod come to. */
export interface EvictionTerms {
  readonly drainClass: DrainClass;
  /** `Infinity` when no owner sets one. */
  readonly deadlineMs: number;
  readonly drainSinceMs: number;
  readonly podsLeft: () => number;
}

/** How urgent the drains of an owner are. */
const drainClassOf = (owner: DrainOwner): DrainClass =>
  owner === 'reclaim' ? 'reclaim' : 'maintenance';

const termsOf = ({ owner, deadlineMonotonicMs, ...request }: EvictionRequest): EvictionTerms => ({
  drainClass: drainClassOf(owner),
  deadlineMs: deadlineMonotonicMs ?? Number.POSITIVE_INFINITY,
  drainSinceMs: request.drainSinceMs,
  podsLeft: request.podsLeft,
});

const moreUrgent = (left: DrainClass, right: DrainClass): DrainClass =>
  DRAIN_CLASSES.indexOf(left) <= DRAIN_CLASSES.indexOf(right) ? left : right;

/** The terms of all requests together: of `request` and of those beside it. */
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
