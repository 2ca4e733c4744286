/**
 * A pod as demand: whether it is any, and what it asks for.
 *
 * Promises: total, whatever the API server gives; small, because a hundred thousand of them are
 * kept: what pods of one workload ask for is kept once. Pods that a new node would bring along
 * (DaemonSets, mirror pods) are no demand: asking for them would ask for ever more nodes.
 */
import type { Identity } from '../facts.ts';
import { booleanAt, listOrEmptyAt, textAt } from '../json.ts';
import { annotationsOf, identityOf, labelsOf } from '../object-meta.ts';
import { textPool } from '../text-pool.ts';
import { valuePool } from '../value-pool.ts';
import { type PodAsk, podAsk } from './pod-ask.ts';

/** Why a pod is demand, or why it is none. */
export type DemandStatus =
  | 'Wanted'
  /** Succeeded or Failed: it takes no capacity any more, however long it is kept. */
  | 'Finished'
  /** A new node brings its own one along. */
  | 'OfDaemonSet'
  /** The kubelet's own, from a file on its node. */
  | 'Mirror'
  /** Selectors leave it out. */
  | 'LeftOut';

/** What the cache keeps of a pod. */
export interface PodDemand extends Identity {
  readonly namespace: string;
  readonly status: DemandStatus;
  /** Null unless it is wanted. */
  readonly ask: PodAsk | null;
}

/** Whether a pod with these labels counts at all. */
export type SelectsPod = (labels: Readonly<Record<string, string>>) => boolean;

const MIRROR_KEY = 'kubernetes.io/config.mirror';
/** A full pool starts over; far above the number of workloads of one cluster. */
const SHARED_MAX = 20_000;

const isOfDaemonSet = (raw: unknown): boolean =>
  listOrEmptyAt(raw, 'metadata', 'ownerReferences').some((owner) =>
    textAt(owner, 'kind') === 'DaemonSet' && booleanAt(owner, 'controller') === true
  );

const statusOf = (raw: unknown, selects: SelectsPod): DemandStatus => {
  const phase = textAt(raw, 'status', 'phase');
  if (phase === 'Succeeded' || phase === 'Failed') return 'Finished';
  if (Object.hasOwn(annotationsOf(raw), MIRROR_KEY)) return 'Mirror';
  if (isOfDaemonSet(raw)) return 'OfDaemonSet';
  return selects(labelsOf(raw)) ? 'Wanted' : 'LeftOut';
};

/** Everything counts that is not left out by somebody. */
const everyPod: SelectsPod = () => true;

/** Reads a pod as the API server gives it. Total; `undefined` without an identity. */
export const projectPodDemand = (
  raw: unknown,
  selects: SelectsPod = everyPod,
): PodDemand | undefined => {
  const identity = identityOf(raw);
  if (identity === undefined) return undefined;
  const status = statusOf(raw, selects);
  return {
    ...identity,
    namespace: textAt(raw, 'metadata', 'namespace') ?? '',
    status,
    ask: status === 'Wanted' ? podAsk(raw) : null,
  };
};

/** `projectPodDemand` for a cache: what pods have in common is kept once. */
export const podDemandProjector = (
  selects: SelectsPod = everyPod,
): (raw: unknown) => PodDemand | undefined => {
  const text = textPool(SHARED_MAX);
  const asks = valuePool<PodAsk>(SHARED_MAX);
  return (raw) => {
    const pod = projectPodDemand(raw, selects);
    if (pod === undefined) return undefined;
    return {
      ...pod,
      namespace: text(pod.namespace),
      ask: pod.ask === null ? null : asks(pod.ask),
    };
  };
};

/** `metadata.name` of the pod. */
export const podName = ({ key, namespace }: Pick<PodDemand, 'key' | 'namespace'>): string =>
  namespace === '' ? key : key.slice(namespace.length + 1);
