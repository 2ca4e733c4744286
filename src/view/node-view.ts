/** Nodes and their pods for `tidegate node status`. */
import type { NodePod } from '../domain/node-availability/node-pod.ts';
import { type RemovedPod, removedPod } from '../domain/node-availability/node-pod.ts';
import { dataOnNode, type VolumeLookup } from '../domain/node-availability/local-volumes.ts';
import { type AvailableNode, nodeState } from '../domain/node-availability/node-state.ts';
import type { Column } from './table.ts';

/** A Node for a reader. */
export interface NodeView {
  readonly name: string;
  /** A state, or `OfflineStorm`. */
  readonly state: string;
  readonly ready: string;
  /** Pods that must be replaced or wait; those of DaemonSets and of the kubelet are left out. */
  readonly stateless: number;
  readonly stateful: number;
  /** What a person wrote when the Node was disabled. */
  readonly why: string;
  /** That person accepts that pods are down while they move. */
  readonly acceptsDowntime: boolean;
  readonly pods: readonly NodePodView[];
}

/** A pod of it. */
export interface NodePodView extends RemovedPod {
  /** Why it is still there, while its Node is offline or disabled. */
  readonly reason: string;
}

const reasonOf = (state: string, { podClass }: RemovedPod, hasDataHere: boolean): string => {
  if (state === 'OfflineStorm') return 'OfflineStorm';
  if (state === 'Disabled' && hasDataHere) return 'StatefulLocalVolume';
  if (state !== 'Offline') return '';
  return podClass === 'Stateful' ? 'VolumeHomeNodeOffline' : 'NodeOffline';
};

/** A Node with what a person said when it was disabled. */
interface ViewedNode extends AvailableNode {
  readonly whyDisabled: string;
  readonly acceptsDowntime: boolean;
}

/** The Node for a reader. */
export const nodeView = (
  node: ViewedNode,
  pods: readonly NodePod[],
  lookup: VolumeLookup,
): NodeView => {
  const { acceptsDowntime, availability, readyStatus, whyDisabled, name } = node;
  const state = availability.label ??
    nodeState(node, { isSilent: false, isDegraded: availability.isTainted });
  const views = pods.flatMap((pod): readonly NodePodView[] => {
    const removed = pod.node === name ? removedPod(pod, lookup) : undefined;
    if (removed === undefined) return [];
    const hasDataHere = dataOnNode(pod, lookup).length > 0;
    return [{ ...removed, reason: reasonOf(state, removed, hasDataHere) }];
  });
  const count = (wanted: RemovedPod['podClass']) =>
    views.filter(({ podClass }) => podClass === wanted).length;
  return {
    name,
    state,
    ready: readyStatus,
    stateless: count('Stateless'),
    stateful: count('Stateful'),
    why: node.isDisabled ? whyDisabled : '',
    acceptsDowntime,
    pods: views,
  };
};

/** Why it is disabled, and what is accepted for that. */
export const nodeWhy = ({ why, acceptsDowntime }: Pick<NodeView, 'why' | 'acceptsDowntime'>) =>
  acceptsDowntime ? `${why}; downtime is accepted` : why;

/** The columns of a list of Nodes. */
export const nodeColumns = (): readonly Column<NodeView>[] => [
  { heading: 'NODE', cell: ({ name }) => name },
  { heading: 'STATE', cell: ({ state }) => state },
  { heading: 'READY', cell: ({ ready }) => ready },
  { heading: 'STATELESS', cell: ({ stateless }) => String(stateless) },
  { heading: 'STATEFUL', cell: ({ stateful }) => String(stateful) },
  { heading: 'WHY', cell: nodeWhy },
];

/** The columns of the pods of one Node. */
export const nodePodColumns = (): readonly Column<NodePodView>[] => [
  { heading: 'NAMESPACE', cell: ({ namespace }) => namespace },
  { heading: 'POD', cell: ({ name }) => name },
  { heading: 'CLASS', cell: ({ podClass }) => podClass },
  { heading: 'REASON', cell: ({ reason }) => reason },
  { heading: 'LOST-WITH-NODE', cell: ({ losses }) => losses.join(', ') },
];
