/**
 * Indexes pods by node while they come and go.
 *
 * Promises: a change costs O(1); a complete list replaces everything.
 */
import type { Fact, Identity } from '../facts.ts';
import type { ObjectKey } from '../ids.ts';
import type { DrainPod } from './pod.ts';

/** What the index reads of a pod. */
interface BoundPod extends Identity {
  /** Empty while the pod is unscheduled. */
  readonly node: string;
}

/** Pods by node. */
export interface NodePods<Pod extends BoundPod = DrainPod> {
  /** Keeps what is known now. The node whose pods changed; `undefined` when any may have. */
  readonly observe: (fact: Fact<Pod>) => string | undefined;
  /** The pods bound to the node, terminating ones included. */
  readonly on: (node: string) => Iterable<Pod>;
}

/** Starts empty. Excludes pods without a node. */
export const nodePods = <Pod extends BoundPod = DrainPod>(): NodePods<Pod> => {
  const nodes = new Map<string, Map<ObjectKey, Pod>>();
  const none: readonly Pod[] = [];
  const put = (pod: Pod): void => {
    if (pod.node === '') return;
    const pods = nodes.get(pod.node);
    if (pods === undefined) nodes.set(pod.node, new Map([[pod.key, pod]]));
    else pods.set(pod.key, pod);
  };
  const remove = ({ key, node, uid }: Pod): void => {
    const pods = nodes.get(node);
    // Another pod may have the name by now.
    if (pods === undefined || pods.get(key)?.uid !== uid) return;
    pods.delete(key);
    if (pods.size === 0) nodes.delete(node);
  };
  return {
    observe: (fact) => {
      if (fact._tag === 'Listed') {
        nodes.clear();
        fact.objects.forEach(put);
        return undefined;
      }
      const pod = fact._tag === 'Present' ? fact.object : fact.last;
      if (fact._tag === 'Present') put(pod);
      else remove(pod);
      return pod.node;
    },
    on: (node) => nodes.get(node)?.values() ?? none,
  };
};
