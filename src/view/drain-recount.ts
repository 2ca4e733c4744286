/**
 * Recomputes a drain from cluster objects alone, without the operator's memory: which pods remain,
 * and why each does (DR-43).
 *
 * Promises: uses the operator's decision functions; a terminating pod counts as evicted; facts that
 * only the answer to an eviction contains (a policy, missing rights) come from the newest Event
 * that names the pod; of a known NodeMaintenance only the pods that it names count.
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
import { keptBlocker, keptData } from '../domain/drain/kept-pods.ts';
import {
  type DrainPlan,
  type DrainProgress,
  drainProgress,
  keptPods,
  planOf,
  podsBefore,
  returnedOwners,
  type TierKey,
} from '../domain/drain/plan.ts';
import { type DrainPod, terminatingSinceMs } from '../domain/drain/pod.ts';
import { freshTiers, hasStarted, nextStartMs, startTiers } from '../domain/drain/tiers.ts';
import { drainStartMs } from '../domain/node-maintenance/node-status.ts';
import type { NodeEvent, NodeFacts } from './drain-facts.ts';
import { keptOnNode, type OwnedDrain, scopeOf } from './drain-owner.ts';
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

/** A pod that stays for its data. */
export interface AcknowledgedPod {
  readonly pod: DrainPod;
  readonly data: readonly string[];
}

/** The current state of the drain. */
export interface Recount {
  readonly plan: DrainPlan;
  /** In the order of the plan. */
  readonly pending: readonly PendingPod[];
  readonly progress: DrainProgress;
  /** Pods that stay for their data, because a person acknowledged it, and that data. */
  readonly acknowledged: readonly AcknowledgedPod[];
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

/**
 * The operator's report on a pod that could be evicted next, by current facts; a pod with volumes
 * may be kept for them, whatever its budget.
 */
const reportedAs = (
  { reason }: Blocker,
  pod: DrainPod,
  { reports, sinceMs }: { readonly reports: readonly NodeEvent[]; readonly sinceMs: number },
) => {
  const isNext = reason === 'WaitingForTurn';
  if (!isNext && pod.storage === undefined) return undefined;
  const reported = reportedBlocker(pod, reports, sinceMs);
  return isNext || reported?.reason === 'StatefulLocalVolume' ? reported : undefined;
};

/** The pods of a plan that leave. */
const leavingIn = ({ tiers }: DrainPlan): readonly { pod: DrainPod; tier: TierKey }[] =>
  tiers.flatMap(({ key: tier, pods }) => pods.map((pod) => ({ pod, tier })));

/** A pod that its maintenance lets leave after others; `isAlone` when no other pod is due here. */
const heldBack = (
  { pod, tier }: Pick<PendingPod, 'pod' | 'tier'>,
  { name, isAlone }: { readonly name: string; readonly isAlone: boolean },
): PendingPod => ({
  pod,
  tier,
  reason: isAlone ? 'WaitingForTurn' : 'WaitingForTier',
  text: `the plan of NodeMaintenance "${name}" has not reached it`,
  change: undefined,
  subject: name,
  blocks: false,
});

/** The drain of a node, counted anew from its facts; its annotation has its begin and deadline. */
export const recountDrain = (facts: NodeFacts, drain: OwnedDrain | undefined): Recount => {
  const { node, budgets, nowMs, own } = facts;
  const annotation = drain?.annotation;
  const sinceMs = annotation?.sinceMs ?? Number.POSITIVE_INFINITY;
  const kept = keptOnNode(facts);
  const dataOf = (pod: DrainPod): readonly string[] => keptData(pod, facts.lookup);
  const { maintenance, isPlanned, isTargeted } = scopeOf(drain, facts);
  const present = facts.pods.filter(isPlanned);
  const begunMs = maintenance === undefined
    ? sinceMs
    : Math.max(sinceMs, drainStartMs(maintenance));
  const terms = {
    own,
    evictedOwners: returnedOwners(present, begunMs),
    earlier: podsBefore(present, begunMs),
    keeps: kept.keeps,
    daemonSetsLeave: maintenance !== undefined,
  };
  const plan = planOf(present, terms);
  const due = maintenance === undefined ? plan : planOf(present.filter(isTargeted), terms);
  const startedTo = startedTiers(due, annotation, nowMs);
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
  const leaving = leavingIn(plan).map(({ pod, tier }): PendingPod => {
    if (maintenance !== undefined && !pod.terminating && !isTargeted(pod)) {
      const { name } = maintenance;
      return heldBack({ pod, tier }, { name, isAlone: due.tiers.length === 0 });
    }
    const now = blockerNow(pod, tier);
    const { reason, text, subject, change } = annotation === undefined
      ? now
      : waitAtBudget(now, pod, { facts, sinceMs, overdueAfterMs: OVERDUE_AFTER_MS });
    const reported = reportedAs(now, pod, { reports, sinceMs: annotation?.sinceMs ?? 0 });
    return reported === undefined
      ? { pod, tier, reason, text, subject, change, blocks: isBlocking(reason) }
      : { pod, tier, ...reported, change: undefined, blocks: isBlocking(reported.reason) };
  });
  const stays = keptPods(plan);
  const waiting = stays.filter(({ uid }) => !kept.acknowledged.has(uid)).map((pod): PendingPod => {
    const { reason, text, change } = keptBlocker(dataOf(pod));
    return { pod, tier: pod.priority, reason, text, subject: pod.key, change, blocks: true };
  });
  const pending = [...leaving, ...waiting];
  const blocked = new Set(pending.filter(({ blocks }) => blocks).map(({ pod }) => pod.uid));
  const progressOf = (some: DrainPlan) => drainProgress(some, (pod) => blocked.has(pod.uid));
  const progress = progressOf(plan);
  return {
    plan,
    pending,
    progress: {
      ...progress,
      tiers: progressOf(due).tiers,
      left: progress.left + waiting.length,
      blocked: progress.blocked + waiting.length,
    },
    acknowledged: stays.filter(({ uid }) => kept.acknowledged.has(uid))
      .map((pod) => ({ pod, data: dataOf(pod) })),
    startedTo,
  };
};
