/**
 * The pods of one drain: which must leave, which progressed since the last review, and why the
 * others remain.
 *
 * Promises: a review changes only the memory of the previous review; eviction is requested once per
 * pod, until it is released. Nothing here waits or acts on the cluster.
 */
import {
  type Blocker,
  blockerOf,
  isBlocking,
  remainingSentence,
} from '../../domain/drain/blocker.ts';
import type { PodCounts } from '../../domain/drain/pod-counts.ts';
import type { DrainedNode } from '../../domain/drain/drained-node.ts';
import {
  type DrainPlan,
  type DrainProgress,
  drainProgress,
  planOf,
  type PlanTerms,
  type TierKey,
} from '../../domain/drain/plan.ts';
import type { DrainPod } from '../../domain/drain/pod.ts';
import type { Uid } from '../../domain/ids.ts';
import type { PodsObserved } from '../../machines/node-drain-context.ts';
import type { PodEvictions } from '../pod-evictions/pod-evictions.ts';

/** The dependencies of a review. */
export interface DrainPodsOptions {
  readonly on: () => Iterable<DrainPod>;
  readonly statusOf: PodEvictions['statusOf'];
  readonly progressOf: PodEvictions['progress'];
  readonly own: PlanTerms['own'];
  readonly now: () => number;
}

/** Pods blocked by one reason and subject. */
export interface BlockedPods {
  readonly blocker: Blocker;
  readonly pods: readonly string[];
}

/** The pods of one drain. */
export interface DrainPods {
  /** Reviews the pods; `startedTo` is the highest tier whose evictions were requested. */
  readonly look: (startedTo: TierKey | null) => PodsObserved;
  /** Pods of started tiers without an eviction request yet. */
  readonly unasked: (startedTo: TierKey | null) => readonly DrainPod[];
  readonly setAsked: (pod: DrainPod) => void;
  readonly setReleased: () => void;
  /** The number of pods that must still leave. */
  readonly left: () => number;
  readonly progress: () => DrainProgress;
  readonly blocked: (node: DrainedNode) => readonly BlockedPods[];
  /** Until the next termination becomes overdue; null when none will. */
  readonly nextOverdueMs: () => number | null;
  /** The number of remaining pods, the first five by name, and why each (DR-41). */
  readonly remaining: (node: DrainedNode) => string;
  /** Controllers whose pods would be recreated here forever (DR-20). */
  readonly stubborn: () => readonly DrainPod[];
}

interface Seen {
  readonly pod: DrainPod;
  readonly tier: TierKey;
  readonly leaving: boolean;
}

const NO_PLAN: DrainPlan = { tiers: [], staying: [] };

const tallyOf = ({ tiers }: DrainPlan): PodCounts => ({
  left: tiers.reduce((sum, { pods }) => sum + pods.length, 0),
  tiers: tiers.map(({ key, pods }) => ({ key, left: pods.length })),
});

/** Before the first review. */
export const drainPods = ({ on, statusOf, progressOf, own, now }: DrainPodsOptions): DrainPods => {
  const evictedOwners = new Set<Uid>();
  const asked = new Set<Uid>();
  let plan = NO_PLAN;
  let seen = new Map<Uid, Seen>();

  /** Its controller would recreate it here, past the cordon. */
  const setEvicted = ({ toleratesCordon, controller, uid }: DrainPod): void => {
    if (toleratesCordon && controller !== null && asked.has(uid)) {
      evictedOwners.add(controller.uid);
    }
  };
  const look: DrainPods['look'] = (startedTo) => {
    const present = [...on()];
    const uids = new Set(present.map(({ uid }) => uid));
    for (const { pod } of seen.values()) if (!uids.has(pod.uid)) setEvicted(pod);
    for (const pod of present) if (pod.terminating) setEvicted(pod);
    plan = planOf(present, { own, evictedOwners });
    const next = new Map<Uid, Seen>();
    let moved = false;
    let refusal = '';
    const isStarted = (tier: TierKey): boolean => startedTo !== null && tier <= startedTo;
    for (const { key, pods } of plan.tiers) {
      for (const pod of pods) {
        const progress = asked.has(pod.uid) ? progressOf(pod.uid) : undefined;
        const leaving = pod.terminating || progress?.accepted === true;
        next.set(pod.uid, { pod, tier: key, leaving });
        moved ||= leaving && isStarted(key) && seen.get(pod.uid)?.leaving === false;
        if (progress !== undefined && progress.refusal !== '') refusal = progress.refusal;
      }
    }
    for (const [uid, { tier }] of seen) moved ||= !next.has(uid) && isStarted(tier);
    seen = next;
    for (const uid of asked) if (!uids.has(uid)) asked.delete(uid);
    return { podCounts: tallyOf(plan), moved, refusal };
  };
  const why = (pod: DrainPod, { paused, kubeletSilent }: DrainedNode): Blocker => {
    const status = paused && !pod.terminating ? undefined : statusOf(pod.uid);
    return status ?? blockerOf({
      pod,
      budgets: [],
      interrupted: [],
      outcome: null,
      tierStarted: false,
      paused,
      kubeletSilent,
      nowMs: now(),
    });
  };
  const leavers = (): readonly DrainPod[] => plan.tiers.flatMap(({ pods }) => pods);

  return {
    look,
    unasked: (startedTo) =>
      plan.tiers
        .filter(({ key }) => startedTo !== null && key <= startedTo)
        .flatMap(({ pods }) => pods.filter(({ uid }) => !asked.has(uid))),
    setAsked: ({ uid }) => {
      asked.add(uid);
    },
    setReleased: () => asked.clear(),
    left: () => tallyOf(plan).left,
    progress: () =>
      drainProgress(plan, ({ uid }) => {
        const status = statusOf(uid);
        return status !== undefined && isBlocking(status.reason);
      }),
    blocked: (node) => {
      const groups = new Map<string, { blocker: Blocker; pods: string[] }>();
      for (const pod of leavers()) {
        const blocker = why(pod, node);
        if (!isBlocking(blocker.reason)) continue;
        const key = `${blocker.reason} ${blocker.subject}`;
        const group = groups.get(key);
        if (group === undefined) groups.set(key, { blocker, pods: [pod.key] });
        else group.pods.push(pod.key);
      }
      return [...groups.values()];
    },
    nextOverdueMs: () => {
      const nowMs = now();
      const left = leavers().flatMap(({ deletionMs }) =>
        deletionMs === null || deletionMs < nowMs ? [] : [deletionMs - nowMs]
      );
      return left.length === 0 ? null : Math.min(...left);
    },
    remaining: (node) =>
      remainingSentence(leavers().map((pod) => ({ key: pod.key, text: why(pod, node).text }))),
    stubborn: () =>
      plan.staying.filter(({ role }) => role === 'ToleratesCordon').map(({ pod }) => pod),
  };
};
