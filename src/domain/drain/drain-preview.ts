/**
 * Simulates a drain in advance: a verdict for each pod from current facts.
 *
 * Promises: decides only from known facts. Pods of a controller are assumed to become healthy
 * elsewhere, so they free their budget slot; bare pods do not. A cause that resolves on its own (a
 * budget status being updated) is uncertain, never blocked.
 */
import { type Blocker, blockerOf, type BlockerReason, isBlocking } from './blocker.ts';
import type { EvictionOutcome } from './answer.ts';
import { type Budget, budgetCovers, isProcessed } from './budget.ts';
import { comesBack, type DrainPlan, type TierKey } from './plan.ts';
import type { DrainPod } from './pod.ts';
import type { InterruptedEviction } from './eviction-rank.ts';
import { slotNeed } from './slots.ts';
import type { Uid } from '../ids.ts';

/** The facts about the node and its cluster. */
export interface DrainPreviewFacts {
  readonly plan: DrainPlan;
  readonly budgets: readonly Budget[];
  /** Interrupted evictions, by the key of the budget that counts them. */
  readonly interrupted: ReadonlyMap<string, readonly InterruptedEviction[]>;
  readonly paused: boolean;
  readonly kubeletSilent: boolean;
  /** The API server's answer to a dry run, or a certain answer (a terminating namespace). */
  readonly answers: ReadonlyMap<Uid, EvictionOutcome>;
  readonly nowMs: number;
}

/** The predicted end of a pod. */
export type Verdict =
  | 'Leaves'
  /** It would still exist at the deadline, by current facts. */
  | 'Blocked'
  /** It depends on a cause that resolves on its own. */
  | 'Uncertain';

/** A pod that must leave, and what would become of it. */
export interface PodPreview {
  readonly pod: DrainPod;
  readonly tier: TierKey;
  readonly verdict: Verdict;
  /** Why it does not leave, or what it depends on; null for one that leaves. */
  readonly blocker: Blocker | null;
  /** The budget whose slots it leaves through, one by one. */
  readonly budget: Budget | null;
}

/** Nothing blocks a pod with this budget need. */
const GOING: ReadonlySet<BlockerReason> = new Set([
  'WaitingForTurn',
  'Terminating',
  'NamespaceTerminating',
]);

interface Waiting {
  readonly pod: DrainPod;
  readonly tier: TierKey;
}

/** The budgets after a pod left and its controller replaced it. */
const afterLeaving = (pod: DrainPod, budgets: readonly Budget[]): readonly Budget[] => {
  const wasHealthy = pod.ready && pod.phase === 'Running' ? 1 : 0;
  const healthyChange = (comesBack(pod) ? 1 : 0) - wasHealthy;
  return budgets.map((budget) => {
    if (!isProcessed(budget) || !budgetCovers(budget, pod)) return budget;
    const currentHealthy = Math.max(0, budget.currentHealthy + healthyChange);
    return {
      ...budget,
      currentHealthy,
      expectedPods: budget.countsControllers || comesBack(pod)
        ? budget.expectedPods
        : Math.max(0, budget.expectedPods - 1),
      disruptionsAllowed: healthyChange === 0
        ? budget.disruptionsAllowed
        : Math.max(0, currentHealthy - budget.desiredHealthy),
    };
  });
};

/** The Job controller removes it as soon as the pod has finished. */
const JOB_TRACKING = 'batch.kubernetes.io/job-tracking';

const finalizerOf = (pod: DrainPod): Blocker | undefined => {
  const holding = pod.finalizers.filter((finalizer) => finalizer !== JOB_TRACKING);
  if (holding.length === 0) return undefined;
  const names = holding.join(', ');
  return { reason: 'Finalizer', text: `finalizer ${names}`, subject: names };
};

/** Simulates a drain of the plan until nothing changes; results in the order of the plan. */
export const previewDrain = (facts: DrainPreviewFacts): readonly PodPreview[] => {
  const all = facts.plan.tiers.flatMap(({ key, pods }) => pods.map((pod) => ({ pod, tier: key })));
  const verdicts = new Map<Uid, PodPreview>();
  let budgets: readonly Budget[] = facts.budgets.filter((budget) =>
    all.some(({ pod }) => budgetCovers(budget, pod))
  );

  const covering = (pod: DrainPod) => budgets.filter((budget) => budgetCovers(budget, pod));
  const blockerNow = (pod: DrainPod): Blocker =>
    blockerOf({
      pod,
      budgets: covering(pod),
      interrupted: covering(pod).flatMap(({ key }) => facts.interrupted.get(key) ?? []),
      outcome: facts.answers.get(pod.uid) ?? null,
      tierStarted: true,
      paused: facts.paused,
      kubeletSilent: facts.kubeletSilent,
      nowMs: facts.nowMs,
    });
  const leave = ({ pod, tier }: Waiting): void => {
    const need = slotNeed(pod, covering(pod));
    const blocker = finalizerOf(pod) ?? null;
    verdicts.set(pod.uid, {
      pod,
      tier,
      verdict: blocker === null ? 'Leaves' : 'Blocked',
      blocker,
      budget: need._tag === 'One' ? need.budget : null,
    });
    if (!pod.terminating) budgets = afterLeaving(pod, budgets);
  };
  /** True when a pod left. */
  const pass = (): boolean => {
    const before = verdicts.size;
    for (const waiting of all) {
      if (verdicts.has(waiting.pod.uid)) continue;
      if (GOING.has(blockerNow(waiting.pod).reason)) leave(waiting);
    }
    return verdicts.size > before;
  };

  while (pass());
  return all.map(({ pod, tier }): PodPreview => {
    const known = verdicts.get(pod.uid);
    if (known !== undefined) return known;
    const blocker = blockerNow(pod);
    const passes = !isBlocking(blocker.reason) ||
      blocker.reason === 'SlotHeldByInterruptedEviction';
    return { pod, tier, verdict: passes ? 'Uncertain' : 'Blocked', blocker, budget: null };
  });
};
