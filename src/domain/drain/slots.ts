/**
 * The slots of a budget: who needs one (DR-31), how many are free (DR-32), and how long one that
 * was handed out is counted.
 *
 * Promises: everything is a value; a slot is never counted free that an eviction of ours may still
 * have taken, and one that is certainly settled is not held. Times are monotonic milliseconds.
 */
import type { ResourceVersion, Uid } from '../ids.ts';
import { isOlder } from '../resource-versions.ts';
import { type Budget, isProcessed } from './budget.ts';
import type { DrainPod } from './pod.ts';

/** What an eviction of a pod costs. */
export type SlotNeed =
  | { readonly _tag: 'None' }
  | { readonly _tag: 'One'; readonly budget: Budget }
  /** Asking would be refused whatever the budgets' counts say. */
  | { readonly _tag: 'Blocked'; readonly reason: SlotBlocker; readonly budgets: readonly Budget[] };

/** Why no slot can ever be had as things are. */
export type SlotBlocker = 'TwoBudgets' | 'BudgetNeverAllows' | 'BudgetBroken';

/** Evictions that a budget's status may list unconfirmed (Kubernetes: `MaxDisruptedPodSize`). */
const DISRUPTED_PODS_MAX = 2000;

/** An unready pod is disrupted already; it may go when that hurts nobody else. */
const mayGoUnready = (budget: Budget): boolean =>
  budget.unhealthyPods === 'AlwaysAllow' ||
  (budget.currentHealthy >= budget.desiredHealthy && budget.desiredHealthy > 0);

/** True when the budget counts controllers and no pod that it covers has one. */
const neverAllows = (budget: Budget): boolean =>
  budget.countsControllers && isProcessed(budget) && budget.syncProblem === '' &&
  budget.expectedPods === 0;

const isBroken = (budget: Budget): boolean =>
  isProcessed(budget) && (budget.disruptionsAllowed < 0 ||
    Object.keys(budget.disruptedPods).length > DISRUPTED_PODS_MAX);

/** What evicting the pod costs, from the budgets that cover it. */
export const slotNeed = (pod: DrainPod, budgets: readonly Budget[]): SlotNeed => {
  const [budget, ...others] = budgets;
  if (budget === undefined || pod.phase === 'Pending' || pod.finished || pod.terminating) {
    return { _tag: 'None' };
  }
  if (others.length > 0) return { _tag: 'Blocked', reason: 'TwoBudgets', budgets };
  if (!pod.ready && mayGoUnready(budget)) return { _tag: 'None' };
  if (isBroken(budget)) return { _tag: 'Blocked', reason: 'BudgetBroken', budgets };
  if (neverAllows(budget)) return { _tag: 'Blocked', reason: 'BudgetNeverAllows', budgets };
  return { _tag: 'One', budget };
};

/** A slot that was handed out and is not yet seen in the budget's own counts. */
export interface Reservation {
  readonly pod: Uid;
  readonly podName: string;
  /** The budget's revision and the pod's entry in `disruptedPods` when the slot was handed out. */
  readonly begunAt: ResourceVersion;
  readonly listedBefore: number | null;
  readonly answer: 'Awaited' | 'Accepted' | 'Unknown';
  readonly answeredMs: number | null;
  /** Where and when the pod was first seen terminating or gone. */
  readonly departedAt: ResourceVersion | null;
  readonly departedMs: number | null;
}

/** How long a reservation outlives both the departure of its pod and its answer. */
const RESERVATION_OVERTIME_MS = 2000;
/** Kubernetes takes a slot back when the eviction did not happen within this time. */
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
 * The slot is handed out, before the write budget is asked. A pod whose last call has an unknown
 * outcome keeps the reservation that it has.
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
 * The pod was seen terminating or gone at a revision of the cluster; the first observation counts.
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

/** Nothing is counted for the pod any more: the call was refused, or was never sent. */
export const endReservation = (
  reservations: readonly Reservation[],
  pod: Uid,
): readonly Reservation[] =>
  reservations.some((reservation) => reservation.pod === pod)
    ? reservations.filter((reservation) => reservation.pod !== pod)
    : reservations;

/** What the budget's own watch shows, and the time. */
export interface SlotView {
  readonly budget: Budget;
  /** How far the watch has come, bookmarks included. */
  readonly watched: ResourceVersion;
  readonly nowMs: number;
}

/** When a reservation ends whatever the watches say; `null` while that is not known. */
const overtimeEndMs = ({ answer, answeredMs, departedMs }: Reservation): number | null => {
  if (answeredMs === null) return null;
  if (departedMs !== null) return Math.max(answeredMs, departedMs) + RESERVATION_OVERTIME_MS;
  return answer === 'Unknown' ? answeredMs + UNCONFIRMED_MS : null;
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

/** When the next reservation ends by time alone; `null` when none does. */
export const nextReservationEndMs = (reservations: readonly Reservation[]): number | null => {
  const ends = reservations.map(overtimeEndMs).filter((endMs) => endMs !== null);
  return ends.length === 0 ? null : Math.min(...ends);
};

/**
 * How many evictions may be asked for now. `refusedAt` is the revision of the budget on which the
 * last call was refused: nothing is free until a newer one.
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
