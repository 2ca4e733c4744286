/** The pod of an EvictionRequest, as its lifecycle needs it. Plain data. */
import type { DrainPod } from '../drain/pod.ts';
import type { Identity } from '../facts.ts';
import { recordAt, valueAt } from '../json.ts';
import { identityOf } from '../object-meta.ts';
import { valuePool } from '../value-pool.ts';
import { type InterceptorList, interceptorsOf, NO_INTERCEPTORS } from './interceptor-list.ts';

/** What the cache of pods keeps for EvictionRequests, beside the fields for drains. */
export interface InterceptedPod extends Identity {
  readonly interceptors: InterceptorList;
  /** It belongs to a Workload or PodGroup, whose pods are not evicted one by one (ER-45). */
  readonly grouped: boolean;
}

/** The pod of a request. */
export interface TargetPod {
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly interceptors: InterceptorList;
  /** Interceptors besides its own, before the imperative eviction (ER-55). */
  readonly defaults: readonly string[];
  readonly grouped: boolean;
  readonly terminating: boolean;
  /** Succeeded or Failed. */
  readonly finished: boolean;
  /** Why the eviction API is never called for it (ER-66); empty when it may be. */
  readonly unsupported: string;
}

/** Reads a pod as the API server returns it. Total; `undefined` without an identity. */
export const projectInterceptedPod = (raw: unknown): InterceptedPod | undefined => {
  const identity = identityOf(raw);
  if (identity === undefined) return undefined;
  const interceptors = interceptorsOf(raw);
  return {
    ...identity,
    interceptors: interceptors.names.length === 0 && interceptors.problem === ''
      ? NO_INTERCEPTORS
      : interceptors,
    grouped: recordAt(raw, 'spec', 'workloadRef') !== undefined ||
      (valueAt(raw, 'spec', 'schedulingGroup') ?? null) !== null,
  };
};

/** The projection of a cache of pods, which shares the lists that pods of one workload register. */
export const interceptedPodProjection = (): typeof projectInterceptedPod => {
  const lists = valuePool<InterceptorList>();
  return (raw) => {
    const pod = projectInterceptedPod(raw);
    if (pod === undefined || pod.interceptors === NO_INTERCEPTORS) return pod;
    return { ...pod, interceptors: lists(pod.interceptors) };
  };
};

const unsupportedIn = ({ mirror, controller }: DrainPod): string => {
  if (mirror) return 'is a static pod of its node and goes with its file';
  if (controller?.kind === 'DaemonSet') return 'belongs to a DaemonSet, which would replace it';
  return '';
};

/** The target, from the cached fields of a pod, its interceptors and those that are added. */
export const targetPodOf = (
  pod: DrainPod,
  { interceptors, grouped }: InterceptedPod,
  defaults: readonly string[] = [],
): TargetPod => ({
  uid: pod.uid,
  labels: pod.labels,
  interceptors,
  defaults,
  grouped,
  terminating: pod.terminating,
  finished: pod.finished,
  unsupported: unsupportedIn(pod),
});
