/**
 * A pod of a Node as `tidegate node` shows it, and what is lost when the Node is gone.
 *
 * Promises: pure; a claim counts as lost with its Node only if its volume is known to be of the
 * Node.
 */
import { booleanAt, listOrEmptyAt } from '../json.ts';
import { dataOnNode, podStorage, type VolumeLookup } from './local-volumes.ts';
import { type LostPod, podClassOf, projectExistingPod } from './lost-pods.ts';

/** A pod with what it has on its Node. */
export interface NodePod extends LostPod {
  /** A controller makes it again. */
  readonly isOwned: boolean;
  /** Volumes whose content is on the Node, claims left out. */
  readonly nodeVolumes: readonly string[];
}

/** Reads a pod. */
export const projectNodePod = (raw: unknown): NodePod | undefined => {
  const pod = projectExistingPod(raw);
  return pod && {
    ...pod,
    isOwned: listOrEmptyAt(raw, 'metadata', 'ownerReferences')
      .some((owner) => booleanAt(owner, 'controller') === true),
    nodeVolumes: podStorage(raw).nodeVolumes,
  };
};

/** What becomes of a pod that the taint of a Node out of service removes. */
export interface RemovedPod {
  readonly namespace: string;
  readonly name: string;
  readonly podClass: 'Stateless' | 'Stateful';
  /** What is lost for good; empty when the pod can go on elsewhere. */
  readonly losses: readonly string[];
}

const lossesOf = (pod: NodePod, lookup: VolumeLookup): readonly string[] => [
  ...(pod.isOwned ? [] : ['the pod: no controller makes it again']),
  ...dataOnNode(pod, lookup),
];

/**
 * The pod, unless a DaemonSet or the kubelet brings it back, or it has finished. One that is
 * terminating counts: on a Node that is gone it has been deleted, and waits for its kubelet.
 */
export const removedPod = (pod: NodePod, lookup: VolumeLookup): RemovedPod | undefined => {
  const podClass = podClassOf(pod, lookup);
  if (podClass === 'Ignored') return undefined;
  const { namespace, name } = pod;
  return { namespace, name, podClass, losses: lossesOf(pod, lookup) };
};
