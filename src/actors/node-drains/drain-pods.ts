/**
 * The pods of one drain: who is to leave, who moved since the last look, and why the others are
 * still there.
 *
 * Promises: a look changes nothing but what is remembered of the look before; pods are asked to
 * leave once, until they are released. Nothing here waits or acts on the cluster.
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

/** What looks at pods needs of the rest. */
export interface DrainPodsOptions {
  readonly on: () => Iterable<DrainPod>;
  readonly statusOf: PodEvictions['statusOf'];
  readonly progressOf: PodEvictions['progress'];
  readonly own: PlanTerms['own'];
  readonly now: () => number;
}

/** Pods that one reason and subject hold up. */
export interface BlockedPods {
  readonly blocker: Blocker;
  readonly pods: readonly string[];
}

/** The pods of one drain. */
export interface DrainPods {
  /** Looks again; `startedTo` is the tier up to which pods were asked to leave. */
  readonly look: (startedTo: TierKey | null) => PodsObserved;
  /** Pods of started tiers that nobody has asked yet. */
  readonly unasked: (startedTo: TierKey | null) => readonly DrainPod[];
  readonly setAsked: (pod: DrainPod) => void;
  readonly setReleased: () => void;
  /** How many must still leave. */
  readonly left: () => number;
  readonly progress: () => DrainProgress;
  readonly blocked: (node: DrainedNode) => readonly BlockedPods[];
  /** Until the next termination becomes overdue; null when none will. */
  readonly nextOverdueMs: () => number | null;
  /** How many remain, the first five by name, and why each (DR-41). */
  readonly remaining: (node: DrainedNode) => string;
  /** Controllers whose pods would come back for ever (DR-20). */
  readonly returning: () => readonly DrainPod[];
}

interface Seen {
  readonly pod: DrainPod;
  readonly tier: TierKey;
  readonly leaving: boolean;
}

const NO_PLAN: DrainPlan = { tiers: [], staying: [] };

const podCountsOf = ({ tiers }: DrainPlan): PodCounts => ({
  left: tiers.reduce((sum, { pods }) => sum + pods.length, 0),
  tiers: tiers.map(({ key, pods }) => ({ key, left: pods.length })),
});

/** Nothing was looked at yet. */
export const drainPods = ({ on, statusOf, progressOf, own, now }: DrainPodsOptions): DrainPods => {
  const evictedOwners = new Set<Uid>();
  const asked = new Set<Uid>();
  let plan = NO_PLAN;
  let seen = new Map<Uid, Seen>();

  /** Somebody would bring it back, past the cordon. */
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
    return { podCounts: podCountsOf(plan), moved, refusal };
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
  const leavingPods = (): readonly DrainPod[] => plan.tiers.flatMap(({ pods }) => pods);

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
    left: () => podCountsOf(plan).left,
    progress: () =>
      drainProgress(plan, ({ uid }) => {
        const status = statusOf(uid);
        return status !== undefined && isBlocking(status.reason);
      }),
    blocked: (node) => {
      const groups = new Map<string, { blocker: Blocker; pods: string[] }>();
      for (const pod of leavingPods()) {
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
      const left = leavingPods().flatMap(({ deletionMs }) =>
        deletionMs === null || deletionMs < nowMs ? [] : [deletionMs - nowMs]
      );
      return left.length === 0 ? null : Math.min(...left);
    },
    remaining: (node) =>
      remainingSentence(leavingPods().map((pod) => ({ key: pod.key, text: why(pod, node).text }))),
    returning: () =>
      plan.staying.filter(({ role }) => role === 'ToleratesCordon').map(({ pod }) => pod),
  };
};
