/**
 * Indexes pods by node while they come and go.
 *
 * Promises: a change costs O(1); a complete list replaces everything.
 */
import type { ObjectKey } from '../ids.ts';
import type { DrainPod } from './pod.ts';

/** Pods by node. */
export interface NodePods {
  readonly put: (pod: DrainPod) => void;
  readonly remove: (pod: Pick<DrainPod, 'key' | 'node' | 'uid'>) => void;
  readonly replace: (pods: Iterable<DrainPod>) => void;
  /** The pods bound to the node, terminating ones included. */
  readonly on: (node: string) => Iterable<DrainPod>;
}

const NONE: readonly DrainPod[] = [];

/** Starts empty. Excludes pods without a node. */
export const nodePods = (): NodePods => {
  const nodes = new Map<string, Map<ObjectKey, DrainPod>>();
  const put = (pod: DrainPod): void => {
    if (pod.node === '') return;
    const pods = nodes.get(pod.node);
    if (pods === undefined) nodes.set(pod.node, new Map([[pod.key, pod]]));
    else pods.set(pod.key, pod);
  };
  return {
    put,
    remove: ({ key, node, uid }) => {
      const pods = nodes.get(node);
      // Another pod may have the name by now.
      if (pods === undefined || pods.get(key)?.uid !== uid) return;
      pods.delete(key);
      if (pods.size === 0) nodes.delete(node);
    },
    replace: (pods) => {
      nodes.clear();
      for (const pod of pods) put(pod);
    },
    on: (node) => nodes.get(node)?.values() ?? NONE,
  };
};
