/**
 * The plan of a drain (DR-20): which pods of a node leave, which stay and why, and the tiers.
 *
 * Promises: a pure function of the pods and a few facts, so that `drain plan` computes in advance
 * what a running drain computes.
 */
import type { Uid } from '../ids.ts';
import { compareText } from '../requirements.ts';
import type { DrainPod } from './pod.ts';

/** The role of a pod in a drain. */
export type PodRole =
  | 'Leaves'
  /** Succeeded or Failed: no container runs. */
  | 'Finished'
  | 'DaemonSet'
  | 'Mirror'
  /** A pod of the same owner was evicted here and was rescheduled past the cordon. */
  | 'ToleratesCordon'
  /** The drain keeps it, because its data is on this node only. */
  | 'StatefulLocalVolume';

/** Facts about the drain besides the pods. */
export interface PlanTerms {
  /** The operator's own pod. */
  readonly own: { readonly namespace: string; readonly name: string } | null;
  /** Controllers of pods that were evicted from this node. */
  readonly evictedOwners: ReadonlySet<Uid>;
  /** Pods of these that were here before: they have not come back. Without it, none. */
  readonly earlier?: ReadonlySet<Uid>;
  /** Pods of DaemonSets leave, too: a maintenance names them (NM-26). */
  readonly daemonSetsLeave?: boolean;
  /** The drain keeps the pod for its data (RS-11); without it, none. */
  readonly keeps?: (pod: DrainPod) => boolean;
}

/** Pods that leave together. */
export interface Tier {
  readonly key: TierKey;
  readonly pods: readonly DrainPod[];
}

/** The shared priority of a tier's pods; the operator's own pod has a tier of its own. */
export type TierKey = number;

/** Above every Kubernetes priority (int32): the operator itself leaves last. */
export const OWN_TIER: TierKey = Number.MAX_SAFE_INTEGER;

/** A pod that stays, and why. */
export interface StayingPod {
  readonly pod: DrainPod;
  readonly role: Exclude<PodRole, 'Leaves'>;
}

/** The plan of one node. */
export interface DrainPlan {
  /** Lowest priority first. */
  readonly tiers: readonly Tier[];
  readonly staying: readonly StayingPod[];
}

/** The role of a pod in the drain. A terminating pod is always waited for. */
export const roleOf = (
  pod: DrainPod,
  { evictedOwners, earlier, daemonSetsLeave = false, keeps }: PlanTerms,
): PodRole => {
  if (pod.mirror) return 'Mirror';
  if (pod.controller?.kind === 'DaemonSet' && !daemonSetsLeave) return 'DaemonSet';
  if (pod.finished) return 'Finished';
  const cameBack = !pod.terminating && pod.toleratesCordon && pod.controller !== null &&
    evictedOwners.has(pod.controller.uid) && earlier?.has(pod.uid) !== true;
  if (cameBack) return 'ToleratesCordon';
  return !pod.terminating && keeps?.(pod) === true ? 'StatefulLocalVolume' : 'Leaves';
};

const isCreatedAfter = ({ createdMs }: DrainPod, sinceMs: number): boolean =>
  createdMs !== null && createdMs > sinceMs;

/** The pods that were there when the node was cordoned. */
export const podsBefore = (pods: Iterable<DrainPod>, sinceMs: number): ReadonlySet<Uid> =>
  new Set([...pods].filter((pod) => !isCreatedAfter(pod, sinceMs)).map(({ uid }) => uid));

/**
 * Controllers that have brought pods back past the cordon of `sinceMs`, as far as the pods show it:
 * one is terminating, or tolerates the cordon and was created after it.
 */
export const returnedOwners = (
  pods: Iterable<DrainPod>,
  sinceMs: number,
): ReadonlySet<Uid> => {
  const owners = new Set<Uid>();
  for (const pod of pods) {
    const { controller, terminating, toleratesCordon } = pod;
    const isReturned = terminating || isCreatedAfter(pod, sinceMs);
    if (controller !== null && toleratesCordon && isReturned) owners.add(controller.uid);
  }
  return owners;
};

/** A pod that stays for its toleration, as reports describe it. */
export const TOLERATES_TEXT = 'tolerates the cordon and would be rescheduled here';

/** The pods of the plan that stay, because they would come back past the cordon. */
export const toleratingPods = ({ staying }: DrainPlan): readonly DrainPod[] =>
  staying.flatMap(({ pod, role }) => (role === 'ToleratesCordon' ? [pod] : []));

/** The pods of the plan that stay for their data. */
export const keptPods = ({ staying }: DrainPlan): readonly DrainPod[] =>
  staying.flatMap(({ pod, role }) => (role === 'StatefulLocalVolume' ? [pod] : []));

/** No controller recreates it. */
export const comesBack = (pod: DrainPod): boolean => pod.controller !== null;

/** The tier of a leaving pod. */
const tierOf = (pod: DrainPod, { own }: PlanTerms): TierKey =>
  own !== null && pod.name === own.name && pod.namespace === own.namespace
    ? OWN_TIER
    : pod.priority;

const byName = (left: DrainPod, right: DrainPod): number => compareText(left.key, right.key);

/** Sorts the pods of one node into tiers and those that stay. */
export const planOf = (pods: Iterable<DrainPod>, terms: PlanTerms): DrainPlan => {
  const tiers = new Map<TierKey, DrainPod[]>();
  const staying: StayingPod[] = [];
  for (const pod of pods) {
    const role = roleOf(pod, terms);
    if (role !== 'Leaves') {
      staying.push({ pod, role });
      continue;
    }
    const key = tierOf(pod, terms);
    const tier = tiers.get(key);
    if (tier === undefined) tiers.set(key, [pod]);
    else tier.push(pod);
  }
  return {
    tiers: [...tiers].toSorted(([left], [right]) => left - right)
      .map(([key, members]) => ({ key, pods: members.toSorted(byName) })),
    staying: staying.toSorted((left, right) => byName(left.pod, right.pod)),
  };
};

/** Pod counts by progress. */
export interface TierProgress {
  readonly key: TierKey;
  /** Still on the node, terminating ones included. */
  readonly left: number;
  /** Terminating. */
  readonly leaving: number;
  readonly blocked: number;
}

/** The counts of a drain, in total and per tier. */
export interface DrainProgress extends Omit<TierProgress, 'key'> {
  readonly tiers: readonly TierProgress[];
}

/** Counts a plan; `isBlocked` tells whether a pod is blocked. Done when none is left. */
export const drainProgress = (
  plan: DrainPlan,
  isBlocked: (pod: DrainPod) => boolean,
): DrainProgress => {
  const tiers = plan.tiers.map(({ key, pods }) => ({
    key,
    left: pods.length,
    leaving: pods.filter((pod) => pod.terminating).length,
    blocked: pods.filter(isBlocked).length,
  }));
  const total = (field: 'left' | 'leaving' | 'blocked'): number =>
    tiers.reduce((sum, tier) => sum + tier[field], 0);
  return { left: total('left'), leaving: total('leaving'), blocked: total('blocked'), tiers };
};
