/**
 * The slots of a budget: who needs one (DR-31), how many are free (DR-32), and how long a reserved
 * one counts.
 *
 * Promises: pure values; a slot that one of our evictions may still have taken never counts as
 * free, and a settled one is not held. Times are monotonic milliseconds.
 */
import type { ResourceVersion, Uid } from '../ids.ts';
import { isOlder } from '../resource-versions.ts';
import { type Budget, isProcessed } from './budget.ts';
import { expectsNoPods } from './closed-budget.ts';
import type { DrainPod } from './pod.ts';

/** The slots that evicting a pod takes. */
export type SlotNeed =
  | { readonly _tag: 'None' }
  | { readonly _tag: 'One'; readonly budget: Budget }
  /** An eviction would be refused regardless of the budgets' counts. */
  | { readonly _tag: 'Blocked'; readonly reason: SlotBlocker; readonly budgets: readonly Budget[] };

/** Why no slot is possible with the current budgets. */
export type SlotBlocker = 'TwoBudgets' | 'BudgetNeverAllows' | 'BudgetBroken';

/**
 * The maximum of unconfirmed evictions in a budget's status (Kubernetes: `MaxDisruptedPodSize`).
 */
const DISRUPTED_PODS_MAX = 2000;

/** An unready pod is disrupted already; it may go when no healthy pod suffers. */
const mayGoUnready = (budget: Budget): boolean =>
  budget.unhealthyPods === 'AlwaysAllow' ||
  (budget.currentHealthy >= budget.desiredHealthy && budget.desiredHealthy > 0);

const isBroken = (budget: Budget): boolean =>
  isProcessed(budget) && (budget.disruptionsAllowed < 0 ||
    Object.keys(budget.disruptedPods).length > DISRUPTED_PODS_MAX);

/** The slots that evicting the pod takes, from the budgets that cover it. */
export const slotNeed = (pod: DrainPod, budgets: readonly Budget[]): SlotNeed => {
  const [budget, ...others] = budgets;
  if (budget === undefined || pod.phase === 'Pending' || pod.finished || pod.terminating) {
    return { _tag: 'None' };
  }
  if (others.length > 0) return { _tag: 'Blocked', reason: 'TwoBudgets', budgets };
  if (!pod.ready && mayGoUnready(budget)) return { _tag: 'None' };
  if (isBroken(budget)) return { _tag: 'Blocked', reason: 'BudgetBroken', budgets };
  if (expectsNoPods(budget)) return { _tag: 'Blocked', reason: 'BudgetNeverAllows', budgets };
  return { _tag: 'One', budget };
};

/** A reserved slot that the budget's own counts do not include yet. */
export interface Reservation {
  readonly pod: Uid;
  readonly podName: string;
  /** The budget's resourceVersion and the pod's entry in `disruptedPods` at reservation. */
  readonly begunAt: ResourceVersion;
  readonly listedBefore: number | null;
  readonly answer: 'Awaited' | 'Accepted' | 'Unknown';
  readonly answeredMs: number | null;
  /** Where and when the pod was first seen terminating or gone. */
  readonly departedAt: ResourceVersion | null;
  readonly departedMs: number | null;
  /** When nobody wanted the pod to leave any more. */
  readonly releasedMs: number | null;
}

/** How long a reservation outlives both its answer and the departure of its pod. */
const RESERVATION_OVERTIME_MS = 2000;
/** Kubernetes releases a slot when the eviction did not happen within this time. */
const UNCONFIRMED_MS = 120_000;

const listedTime = (budget: Budget, podName: string): number | null =>
  Object.hasOwn(budget.disruptedPods, podName) ? budget.disruptedPods[podName] ?? null : null;

const replaced = (
  reservations: readonly Reservation[],
  pod: Uid,
  change: (reservation: Reservation) => Reservation,
): readonly Reservation[] =>
  reservations.map((reservation) => reservation.pod === pod ? change(reservation) : reservation);

/**
 * Reserves a slot, before the write budget is acquired. A pod whose last call has an unknown
 * outcome keeps its reservation.
 */
export const beginReservation = (
  reservations: readonly Reservation[],
  pod: Pick<DrainPod, 'uid' | 'name'>,
  budget: Budget,
): readonly Reservation[] => {
  if (reservations.some((reservation) => reservation.pod === pod.uid)) {
    return replaced(reservations, pod.uid, (reservation) => ({
      ...reservation,
      answer: 'Awaited',
      answeredMs: null,
    }));
  }
  return [...reservations, {
    pod: pod.uid,
    podName: pod.name,
    begunAt: budget.resourceVersion,
    listedBefore: listedTime(budget, pod.name),
    answer: 'Awaited',
    answeredMs: null,
    departedAt: null,
    departedMs: null,
    releasedMs: null,
  }];
};

/** The call was answered, or its answer was lost. */
export const answerReservation = (
  reservations: readonly Reservation[],
  pod: Uid,
  answer: { readonly outcome: 'Accepted' | 'Refused' | 'Unknown'; readonly nowMs: number },
): readonly Reservation[] => {
  const { outcome, nowMs } = answer;
  if (outcome === 'Refused') return endReservation(reservations, pod);
  return replaced(
    reservations,
    pod,
    (known) => ({ ...known, answer: outcome, answeredMs: nowMs }),
  );
};

/**
 * The pod was seen terminating or gone at a resourceVersion; the first observation counts.
 */
export const departReservation = (
  reservations: readonly Reservation[],
  pod: Uid,
  departure: { readonly resourceVersion: ResourceVersion; readonly nowMs: number },
): readonly Reservation[] =>
  replaced(
    reservations,
    pod,
    (known) =>
      known.departedAt === null
        ? { ...known, departedAt: departure.resourceVersion, departedMs: departure.nowMs }
        : known,
  );

/** The pod may stay: no retry follows for a lost answer. */
export const releaseReservation = (
  reservations: readonly Reservation[],
  pod: Uid,
  nowMs: number,
): readonly Reservation[] =>
  replaced(reservations, pod, (known) => ({ ...known, releasedMs: nowMs }));

/** A released pod must leave after all: its reservation is held for the retry. */
export const retainReservation = (
  reservations: readonly Reservation[],
  pod: Uid,
): readonly Reservation[] =>
  replaced(reservations, pod, (known) => ({ ...known, releasedMs: null }));

/** Ends the pod's reservation: the call was refused, or never sent. */
export const endReservation = (
  reservations: readonly Reservation[],
  pod: Uid,
): readonly Reservation[] =>
  reservations.some((reservation) => reservation.pod === pod)
    ? reservations.filter((reservation) => reservation.pod !== pod)
    : reservations;

/** The budget as watched, and the time. */
export interface SlotView {
  readonly budget: Budget;
  /** How far the watch has progressed, bookmarks included. */
  readonly watched: ResourceVersion;
  readonly nowMs: number;
}

/** When a reservation expires regardless of the watches; `null` while unknown. */
const overtimeEndMs = (
  { answer, answeredMs, departedMs, releasedMs }: Reservation,
): number | null => {
  if (answeredMs === null) return null;
  if (departedMs !== null) return Math.max(answeredMs, departedMs) + RESERVATION_OVERTIME_MS;
  // An accepted eviction shows the departure of its pod, also after its release.
  if (answer !== 'Unknown') return null;
  return releasedMs === null
    ? answeredMs + UNCONFIRMED_MS
    : Math.max(answeredMs, releasedMs) + RESERVATION_OVERTIME_MS;
};

const hasReached = (watched: ResourceVersion, resourceVersion: ResourceVersion): boolean =>
  watched === resourceVersion || isOlder(resourceVersion, watched);

const isSettled = (reservation: Reservation, { budget, watched, nowMs }: SlotView): boolean => {
  const listed = listedTime(budget, reservation.podName);
  if (
    listed !== null && listed !== reservation.listedBefore &&
    isOlder(reservation.begunAt, budget.resourceVersion)
  ) return true;
  if (reservation.departedAt !== null && hasReached(watched, reservation.departedAt)) return true;
  const endMs = overtimeEndMs(reservation);
  return endMs !== null && nowMs >= endMs;
};

/** The reservations that still count; the same list when all do. */
export const openReservations = (
  reservations: readonly Reservation[],
  view: SlotView,
): readonly Reservation[] =>
  reservations.some((reservation) => isSettled(reservation, view))
    ? reservations.filter((reservation) => !isSettled(reservation, view))
    : reservations;

/** When the next reservation expires; `null` without one. */
export const nextReservationEndMs = (reservations: readonly Reservation[]): number | null => {
  const ends = reservations.map(overtimeEndMs).filter((endMs) => endMs !== null);
  return ends.length === 0 ? null : Math.min(...ends);
};

/**
 * The number of free slots. `refusedAt` is the budget's resourceVersion at the last refusal:
 * nothing is free until a newer one.
 */
export const freeSlots = (
  budget: Budget,
  reservations: readonly Reservation[],
  refusedAt: ResourceVersion | null,
): number => {
  if (!isProcessed(budget)) return 0;
  if (
    refusedAt !== null &&
    (refusedAt === budget.resourceVersion || isOlder(budget.resourceVersion, refusedAt))
  ) {
    return 0;
  }
  return Math.max(0, budget.disruptionsAllowed - reservations.length);
};
