/**
 * Which pods are of an old revision of a workload that is being rolled out (RS-15).
 *
 * Promises: follows pods alone; a revision is as old as the first of its pods that was seen while
 * it had any, so that a replaced pod makes no revision younger, and a rollback makes one young
 * again; pods that are terminating or have ended count for nothing.
 */
import type { Uid } from '../ids.ts';
import type { DrainPod } from './pod.ts';

/** On pods of a Deployment, and on those of a StatefulSet. */
const TEMPLATE_HASH = 'pod-template-hash';
const STATEFUL_HASH = 'controller-revision-hash';

interface TemplatePods {
  readonly name: string;
  /** When its first pod was created, as milliseconds of the wall clock. */
  firstMs: number;
  readonly pods: Set<Uid>;
}

type Labelled = Pick<DrainPod, 'uid' | 'namespace' | 'labels' | 'controller'>;

/** The workload of a pod, and the revision of its template; `undefined` without one. */
const rolloutOf = (
  { namespace, labels, controller }: Labelled,
): { readonly workload: string; readonly template: string } | undefined => {
  if (controller === null) return undefined;
  const [hash, statefulHash] = [labels[TEMPLATE_HASH], labels[STATEFUL_HASH]];
  // A ReplicaSet of a Deployment has its name, and the hash of its template.
  if (controller.kind === 'ReplicaSet' && hash !== undefined) {
    const ending = `-${hash}`;
    if (!controller.name.endsWith(ending)) return undefined;
    const name = controller.name.slice(0, -ending.length);
    return { workload: `${namespace}/Deployment/${name}`, template: hash };
  }
  if (controller.kind !== 'StatefulSet' || statefulHash === undefined) return undefined;
  return { workload: `${namespace}/StatefulSet/${controller.name}`, template: statefulHash };
};

/** The rollouts of all workloads. */
export class RolloutIndex {
  readonly #templates = new Map<string, TemplatePods[]>();

  readonly put = (pod: DrainPod): void => {
    if (pod.terminating || pod.finished) return this.remove(pod);
    const rollout = rolloutOf(pod);
    if (rollout === undefined) return;
    const { workload, template: name } = rollout;
    const known = this.#templates.get(workload) ?? [];
    const createdMs = pod.createdMs ?? 0;
    const template = known.find((one) => one.name === name);
    if (template === undefined) {
      const first = { name, firstMs: createdMs, pods: new Set([pod.uid]) };
      this.#templates.set(workload, [...known, first]);
      return;
    }
    template.firstMs = Math.min(template.firstMs, createdMs);
    template.pods.add(pod.uid);
  };

  readonly remove = (pod: Labelled): void => {
    const { workload = '', template: name = '' } = rolloutOf(pod) ?? {};
    const known = this.#templates.get(workload);
    const template = known?.find((one) => one.name === name);
    if (known === undefined || template === undefined) return;
    template.pods.delete(pod.uid);
    if (template.pods.size > 0) return;
    const left = known.filter((one) => one !== template);
    if (left.length > 0) this.#templates.set(workload, left);
    else this.#templates.delete(workload);
  };

  /** Starts anew with a complete list. */
  readonly reset = (pods: Iterable<DrainPod>): void => {
    this.#templates.clear();
    for (const pod of pods) this.put(pod);
  };

  /** A younger revision of its workload has pods. */
  readonly isOutdated = (pod: Labelled): boolean => {
    const { workload = '', template: name = '' } = rolloutOf(pod) ?? {};
    const known = this.#templates.get(workload) ?? [];
    if (known.length < 2) return false;
    const own = known.find((one) => one.name === name);
    return own !== undefined && known.some(({ firstMs }) => firstMs > own.firstMs);
  };
}
