/**
 * Which pods of a node leave now, and how many are left (KEP-4212, *Pod Selection*, *Status*).
 *
 * Promises: no filters of `kubectl drain`: bare pods, pods with local data and terminating pods are
 * requested like others (NM-28). Only the kubelet can stop a static pod: it is listed, and holds
 * nothing (NM-47).
 */
import type { DrainPod } from '../drain/pod.ts';
import { type LabelConditions, selectsLabels } from '../label-selector.ts';
import { entrySelects } from './drain-plan.ts';
import type { DrainTargets } from './drain-targets.ts';
import { type PodType, podTypeOf } from './typed-pods.ts';

/** A pod whose containers run, and which the API can remove. */
const canLeave = (pod: DrainPod): boolean => !pod.finished && !pod.mirror;

/** True when the targets select the pod. */
const isTargeted = (pod: DrainPod, targets: DrainTargets): boolean =>
  targets.some((entry) => entrySelects(entry, pod));

/** True when a targeted pod that can leave is still there (NM-31). */
export const hasLeavingPods = (pods: Iterable<DrainPod>, targets: DrainTargets): boolean => {
  for (const pod of pods) if (canLeave(pod) && isTargeted(pod, targets)) return true;
  return false;
};

/** Pods of one node, as its status counts them. */
export interface EvacuationCounts {
  /** Without a request of the maintenance, at whatever priority. */
  readonly pending: number;
  /** With one. */
  readonly evacuating: number;
}

/** Which pods a maintenance removes in the end; it leaves all others alone. */
export interface PodScope {
  readonly podTypes: readonly PodType[];
  /** Only pods with these labels; `null`: all. */
  readonly podSelector: LabelConditions | null;
}

/** The pods of a node that a maintenance of this scope removes in the end (NM-40, NM-41). */
export const mustLeave = (pod: DrainPod, { podTypes, podSelector }: PodScope): boolean =>
  canLeave(pod) && podTypes.includes(podTypeOf(pod)) &&
  (podSelector === null || selectsLabels(podSelector, pod.labels));

/** Targeted pods of this scope: the targets may be those of another maintenance. */
export const hasOwnLeavingPods = (
  pods: Iterable<DrainPod>,
  targets: DrainTargets,
  scope: PodScope,
): boolean => hasLeavingPods([...pods].filter((pod) => mustLeave(pod, scope)), targets);

/** Counts the pods that must leave the node (NM-40). */
export const evacuationCounts = (
  pods: Iterable<DrainPod>,
  scope: PodScope,
  isRequested: (pod: DrainPod) => boolean,
): EvacuationCounts => {
  const all = [...pods].filter((pod) => mustLeave(pod, scope));
  const evacuating = all.filter(isRequested).length;
  return { pending: all.length - evacuating, evacuating };
};
