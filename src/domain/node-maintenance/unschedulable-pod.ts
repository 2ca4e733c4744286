/**
 * A pod that the scheduler finds no node for, and the nodes that it may run on.
 *
 * Promises: total for any object; plain data; of what the scheduler regards, the node selector and
 * the required node affinity count. Whether a node has room, the scheduler decides when it may.
 */
import type { Identity } from '../facts.ts';
import { rawConditionOf } from '../condition.ts';
import { recordAt, textAt, textRecordOrEmptyAt } from '../json.ts';
import { type LabelConditions, selectsLabels } from '../label-selector.ts';
import { identityOf, isDeleting, labelsOf } from '../object-meta.ts';
import {
  type NodeSelector,
  nodeSelectorOf,
  type SelectableNode,
  selectsNode,
} from './node-selector.ts';

/** The cached fields of a pod without a node. */
export interface UnschedulablePod extends Identity {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The scheduler looked for a node, and found none. */
  readonly isUnschedulable: boolean;
  readonly nodeSelector: LabelConditions;
  /** `null`: any. */
  readonly affinity: NodeSelector | null;
}

/** Reads a pod without a node. */
export const projectUnschedulablePod = (raw: unknown): UnschedulablePod | undefined => {
  const identity = identityOf(raw);
  if (identity === undefined) return undefined;
  const affinity = recordAt(
    raw,
    'spec',
    'affinity',
    'nodeAffinity',
    'requiredDuringSchedulingIgnoredDuringExecution',
  );
  const scheduled = rawConditionOf(raw, 'PodScheduled');
  return {
    ...identity,
    namespace: textAt(raw, 'metadata', 'namespace') ?? '',
    labels: labelsOf(raw),
    isUnschedulable: textAt(scheduled, 'reason') === 'Unschedulable' && !isDeleting(raw),
    nodeSelector: Object.entries(textRecordOrEmptyAt(raw, 'spec', 'nodeSelector'))
      .map(([key, value]) => ({ key, operator: 'In', values: [value] })),
    affinity: affinity === undefined ? null : nodeSelectorOf(affinity),
  };
};

/** True when the pod could run on the node, were there room and no cordon. */
export const mayRunOn = (
  { nodeSelector, affinity }: Pick<UnschedulablePod, 'nodeSelector' | 'affinity'>,
  node: SelectableNode,
): boolean =>
  selectsLabels(nodeSelector, node.labels) && (affinity === null || selectsNode(affinity, node));
