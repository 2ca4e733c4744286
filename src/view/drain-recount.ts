/**
 * Recomputes a drain from cluster objects alone, without the operator's memory: which pods remain,
 * and why each does (DR-43).
 *
 * Promises: uses the operator's decision functions; a terminating pod counts as evicted; facts that
 * only the answer to an eviction contains (a policy, missing rights) come from the newest Event
 * that names the pod.
 */
import type { EvictionOutcome } from '../domain/drain/answer.ts';
import {
  type Blocker,
  blockerOf,
  type BlockerReason,
  isBlocking,
} from '../domain/drain/blocker.ts';
import { type Budget, budgetCovers } from '../domain/drain/budget.ts';
import type { CordonAnnotation } from '../domain/drain/cordon.ts';
import { lastQuarterMs, tierWaitMs } from '../domain/drain/deadline.ts';
import {
  type DrainPlan,
  type DrainProgress,
  drainProgress,
  planOf,
  returnedOwners,
  type TierKey,
} from '../domain/drain/plan.ts';
import { type DrainPod, terminatingSinceMs } from '../domain/drain/pod.ts';
import { freshTiers, hasStarted, nextStartMs, startTiers } from '../domain/drain/tiers.ts';
import type { NodeFacts } from './drain-facts.ts';
import { waitAtBudget } from './moving-budgets.ts';
import { machineReports, reportedBlocker } from './reported-blockers.ts';

/** A pod that must leave and still exists. */
export interface PendingPod {
  readonly pod: DrainPod;
  readonly tier: TierKey;
  readonly reason: BlockerReason;
  readonly text: string;
  /** The exact change; undefined when only that of the reason is known. */
  readonly change: string | undefined;
  /** Identifies the blocker: pods with the same reason and subject form one group. */
  readonly subject: string;
  readonly blocks: boolean;
}

/** The current state of the drain. */
export interface Recount {
  readonly plan: DrainPlan;
  /** In the order of the plan. */
  readonly pending: readonly PendingPod[];
  readonly progress: DrainProgress;
  /** Every tier up to this one may go; null before the first. */
  readonly startedTo: TierKey | null;
}

/** The last moment of a termination: the kubelet has stopped the containers (DR-42). */
const OVERDUE_AFTER_MS = 10_000;

const NAMESPACE_GOES: EvictionOutcome = { _tag: 'NamespaceTerminating' };

/** Replays the starts of the tiers from the beginning of the drain to now. */
const startedTiers = (
  plan: DrainPlan,
  annotation: CordonAnnotation | undefined,
  nowMs: number,
): TierKey | null => {
  const pods = plan.tiers.flatMap((tier) => tier.pods);
  const sinceMs = annotation?.sinceMs ?? nowMs;
  const graceSeconds = annotation?.graceSeconds ?? 0;
  const movedMs = Math.max(sinceMs, ...pods.map((pod) => terminatingSinceMs(pod) ?? 0));
  const going = plan.tiers.filter((tier) => tier.pods.some((pod) => pod.terminating));
  const tiers = plan.tiers.map(({ key, pods: { length } }) => ({ key, left: length }));
  const waitMs = tierWaitMs(graceSeconds);
  const quarterMs = annotation?.deadlineMs === null || annotation === undefined
    ? Number.POSITIVE_INFINITY
    : lastQuarterMs(annotation.deadlineMs, graceSeconds);
  const viewAt = (atMs: number) => ({ nowMs: atMs, waitMs, lastQuarterMs: quarterMs });
  const first = { ...freshTiers(movedMs), startedTo: going.at(-1)?.key ?? null };
  let state = startTiers(first, tiers, viewAt(movedMs));
  for (const _ of tiers) {
    const nextMs = nextStartMs(state, tiers, viewAt(movedMs));
    if (nextMs === null || nextMs > nowMs) break;
    state = startTiers(state, tiers, viewAt(Math.max(nextMs, state.lastMovedAtMs)));
  }
  return state.startedTo;
};

const coveringBudgets = (pod: DrainPod, budgets: readonly Budget[]): readonly Budget[] =>
  budgets.filter((budget) => budgetCovers(budget, pod));

/** The drain of a node, counted anew from its facts; `annotation` has its begin and deadline. */
export const recountDrain = (
  facts: NodeFacts,
  annotation: CordonAnnotation | undefined,
): Recount => {
  const { node, budgets, nowMs, own } = facts;
  const sinceMs = annotation?.sinceMs ?? Number.POSITIVE_INFINITY;
  const plan = planOf(facts.pods, { own, evictedOwners: returnedOwners(facts.pods, sinceMs) });
  const startedTo = startedTiers(plan, annotation, nowMs);
  const blockerNow = (pod: DrainPod, tier: TierKey): Blocker => {
    const covering = coveringBudgets(pod, budgets);
    return blockerOf({
      pod,
      budgets: covering,
      interrupted: covering.flatMap(({ key }) => facts.interrupted.get(key) ?? []),
      outcome: facts.terminatingNamespaces.has(pod.namespace) ? NAMESPACE_GOES : null,
      tierStarted: hasStarted({ startedTo, lastMovedAtMs: nowMs }, tier),
      paused: node.paused,
      kubeletSilent: node.kubeletSilent,
      interception: facts.interceptions.get(pod.uid),
      nowMs,
      overdueAfterMs: OVERDUE_AFTER_MS,
    });
  };
  const reports = [...facts.events, ...machineReports(facts)];
  const pending = plan.tiers.flatMap(({ key: tier, pods }) =>
    pods.map((pod): PendingPod => {
      const now = blockerNow(pod, tier);
      const { reason, text, subject, change } = annotation === undefined
        ? now
        : waitAtBudget(now, pod, { facts, sinceMs, overdueAfterMs: OVERDUE_AFTER_MS });
      const reported = now.reason === 'WaitingForTurn'
        ? reportedBlocker(pod, reports, annotation?.sinceMs ?? 0)
        : undefined;
      return reported === undefined
        ? { pod, tier, reason, text, subject, change, blocks: isBlocking(reason) }
        : { pod, tier, ...reported, change: undefined, blocks: isBlocking(reported.reason) };
    })
  );
  const blocked = new Set(pending.filter(({ blocks }) => blocks).map(({ pod }) => pod.uid));
  return {
    plan,
    pending,
    progress: drainProgress(plan, (pod) => blocked.has(pod.uid)),
    startedTo,
  };
};
