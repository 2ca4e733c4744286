/**
 * A pod as demand: whether it counts, and what it requests.
 *
 * Promises: total for any API object; small, because there are up to a hundred thousand of them:
 * pods of one workload share their demand. Pods that a new node runs anyway (DaemonSets, mirror
 * pods) do not count: requesting them would request ever more nodes.
 */
import type { Identity } from '../facts.ts';
import { listOrEmptyAt, textAt } from '../json.ts';
import { annotationsOf, identityOf, labelsOf } from '../object-meta.ts';
import { textPool } from '../text-pool.ts';
import { valuePool } from '../value-pool.ts';
import { type PodAsk, podAsk } from './pod-ask.ts';

/** Whether a pod counts as demand, and if not, why. */
export type DemandStatus =
  | 'Wanted'
  /** Succeeded or Failed: it needs no capacity any more. */
  | 'Finished'
  /** Each new node runs its own. */
  | 'OfDaemonSet'
  /** A mirror pod of a file on its node. */
  | 'Mirror'
  /** The selectors exclude it. */
  | 'LeftOut';

/** The cached fields of a pod. */
export interface PodDemand extends Identity {
  readonly namespace: string;
  readonly status: DemandStatus;
  /** Null unless wanted. */
  readonly ask: PodAsk | null;
}

/** Whether a pod with these labels counts. */
export type SelectsPod = (labels: Readonly<Record<string, string>>) => boolean;

const MIRROR_KEY = 'kubernetes.io/config.mirror';
/** A full pool is cleared; far above the number of workloads of one cluster. */
const SHARED_MAX = 20_000;

const isOfDaemonSet = (raw: unknown): boolean =>
  listOrEmptyAt(raw, 'metadata', 'ownerReferences')
    .some((owner) => textAt(owner, 'kind') === 'DaemonSet');

const statusOf = (raw: unknown, selects: SelectsPod): DemandStatus => {
  const phase = textAt(raw, 'status', 'phase');
  if (phase === 'Succeeded' || phase === 'Failed') return 'Finished';
  if (Object.hasOwn(annotationsOf(raw), MIRROR_KEY)) return 'Mirror';
  if (isOfDaemonSet(raw)) return 'OfDaemonSet';
  return selects(labelsOf(raw)) ? 'Wanted' : 'LeftOut';
};

/** Every pod counts unless selectors exclude it. */
const everyPod: SelectsPod = () => true;

/** Reads a pod as the API server returns it. Total; `undefined` without an identity. */
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

/** `projectPodDemand` for a cache: pods share their common values. */
export const podDemandProjector = (
  selects: SelectsPod = everyPod,
): (raw: unknown) => PodDemand | undefined => {
  const text = textPool(SHARED_MAX);
  const asks = valuePool<PodAsk>();
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
