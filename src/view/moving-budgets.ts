/**
 * Tells a budget that is full now and moves from one that blocks a drain (DR-42, DR-43).
 *
 * Promises: while the UpcomingNode shows the drain, the operator's report on it decides; without
 * one a budget moves while pods of it leave in time, and in the first 30 s of a drain. Pure.
 */
import { type Blocker, isOverdue } from '../domain/drain/blocker.ts';
import { type Budget, budgetCovers } from '../domain/drain/budget.ts';
import type { DrainPod } from '../domain/drain/pod.ts';
import type { NodeFacts } from './drain-facts.ts';
import { machineReports, reportedBlocker } from './reported-blockers.ts';

/** A budget that has given no slot for this long is an Event (DR-42). */
const NO_SLOT_MS = 30_000;

const isReported = (pod: DrainPod, facts: NodeFacts, sinceMs: number): boolean => {
  const reports = facts.machine?.phase === 'Draining'
    ? machineReports(facts)
    : [...facts.events, ...machineReports(facts)];
  return reportedBlocker(pod, reports, sinceMs)?.reason === 'BlockedByBudget';
};

/** The facts of the drain, its begin on the wall clock, and when a pod that leaves is overdue. */
export interface DrainMoment {
  readonly facts: NodeFacts;
  readonly sinceMs: number;
  readonly overdueAfterMs: number;
}

/** Pods that it covers are leaving in time: it frees slots. */
const frees = (budget: Budget, { facts, overdueAfterMs }: DrainMoment): boolean => {
  const { nowMs, pods } = facts;
  return Object.keys(budget.disruptedPods).length > 0 ||
    pods.some((pod) =>
      pod.terminating && !isOverdue(pod, { nowMs, overdueAfterMs }) && budgetCovers(budget, pod)
    );
};

/** The blocker of a pod, as a wait where its budget is only full for now. */
export const waitAtBudget = (blocker: Blocker, pod: DrainPod, moment: DrainMoment): Blocker => {
  const { facts, sinceMs } = moment;
  const budget = facts.budgets.find(({ key }) => key === blocker.subject);
  if (blocker.reason !== 'BlockedByBudget' || budget === undefined) return blocker;
  if (budget.syncProblem !== '' || isReported(pod, facts, sinceMs)) return blocker;
  const isMoving = facts.machine?.phase === 'Draining' || frees(budget, moment) ||
    facts.nowMs - sinceMs < NO_SLOT_MS;
  if (!isMoving) return blocker;
  const { key, currentHealthy, desiredHealthy } = budget;
  return {
    reason: 'WaitingForTurn',
    text: `budget ${key} is full now: ${currentHealthy} healthy, ${desiredHealthy} required`,
    subject: key,
  };
};
