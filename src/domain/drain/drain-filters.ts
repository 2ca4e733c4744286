/**
 * The filters of `kubectl drain`: which pods of a node leave, which stay, and which are refused
 * unless a flag says that losing them is meant.
 *
 * Promises: pure; the verdict of kubectl for the same pod and flags (k8s.io/kubectl, `pkg/drain`).
 * Finished pods leave, because kubectl removes them as well.
 */
import type { DrainPod } from './pod.ts';

/** The flags that decide. */
export interface DrainFilters {
  readonly force: boolean;
  readonly ignoreDaemonSets: boolean;
  readonly deleteEmptyDirData: boolean;
  /** Pods that terminate for longer are not waited for; 0: all are. */
  readonly skipWaitSeconds: number;
}

/** Why a pod stays, or is refused. */
export type FilterReason = 'DaemonSet' | 'DaemonSetGone' | 'LocalData' | 'NoController';

/** What happens to a pod. */
export type PodVerdict =
  /** A maintenance lets it leave. `warnings` say what is lost with it. */
  | { readonly _tag: 'Leaves'; readonly warnings: readonly FilterReason[] }
  /** It leaves, and a maintenance would keep it: finished, or its DaemonSet is gone. */
  | { readonly _tag: 'Removed'; readonly warnings: readonly FilterReason[] }
  /** It stays, and is not waited for. */
  | { readonly _tag: 'Stays'; readonly warnings: readonly FilterReason[] }
  | { readonly _tag: 'Refused'; readonly reason: FilterReason };

/** What decides besides the pod itself. */
export interface FilterFacts {
  /** Whether the DaemonSet of a pod exists. */
  readonly hasDaemonSet: (pod: DrainPod) => boolean;
  readonly nowMs: number;
}

const STAYS: PodVerdict = { _tag: 'Stays', warnings: [] };

const isSkipped = (
  pod: DrainPod,
  { skipWaitSeconds }: Pick<DrainFilters, 'skipWaitSeconds'>,
  nowMs: number,
): boolean => {
  // The deletion timestamp, as kubectl compares it: the end of the grace period.
  const { deletionMs } = pod;
  return skipWaitSeconds > 0 && deletionMs !== null &&
    Math.trunc((nowMs - deletionMs) / 1000) > skipWaitSeconds;
};

/** The losses of a pod that is not of a DaemonSet. */
const lossVerdict = (
  pod: DrainPod,
  { force, deleteEmptyDirData }: DrainFilters,
): PodVerdict => {
  if (pod.losesData && !deleteEmptyDirData) return { _tag: 'Refused', reason: 'LocalData' };
  if (pod.controller === null && !force) return { _tag: 'Refused', reason: 'NoController' };
  const warnings: readonly FilterReason[] = [
    ...(pod.losesData ? ['LocalData' as const] : []),
    ...(pod.controller === null ? ['NoController' as const] : []),
  ];
  return { _tag: 'Leaves', warnings };
};

/** The verdict on a pod. */
export const podVerdict = (
  pod: DrainPod,
  filters: DrainFilters,
  { hasDaemonSet, nowMs }: FilterFacts,
): PodVerdict => {
  if (isSkipped(pod, filters, nowMs)) return STAYS;
  const isOfDaemonSet = pod.controller?.kind === 'DaemonSet';
  if (isOfDaemonSet && !pod.finished) {
    if (!hasDaemonSet(pod)) {
      if (!filters.force) return { _tag: 'Refused', reason: 'DaemonSetGone' };
    } else if (filters.ignoreDaemonSets) return { _tag: 'Stays', warnings: ['DaemonSet'] };
    else return { _tag: 'Refused', reason: 'DaemonSet' };
  }
  if (pod.mirror) return STAYS;
  if (pod.finished) return { _tag: 'Removed', warnings: [] };
  const verdict = lossVerdict(pod, filters);
  if (!isOfDaemonSet || verdict._tag !== 'Leaves') return verdict;
  return { _tag: 'Removed', warnings: ['DaemonSetGone', ...verdict.warnings] };
};
