/**
 * Whether a node fits a pod: selectors, node affinity, taints, and the zone of its volumes.
 *
 * Promises: pure; same result as kube-scheduler's filters NodeName, NodeUnschedulable,
 * NodeAffinity, TaintToleration and VolumeZone for the fields it reads. Inter-pod affinity,
 * topology spread, ports and preemption are not covered.
 */
import {
  booleanAt,
  listOrEmptyAt,
  recordAt,
  textAt,
  textRecordOrEmptyAt,
  valueAt,
} from '../values/json.ts';
import { labelsOf } from '../values/object-meta.ts';
import { expressionHolds, hasLabels } from '../kinds/label-selector.ts';

/** The taint that represents `spec.unschedulable`. */
const CORDON_TAINT = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

/** Whether the toleration matches this taint (`Toleration.ToleratesTaint`). */
export const tolerates = (toleration: unknown, taint: unknown): boolean => {
  const key = textAt(toleration, 'key') ?? '';
  const effect = textAt(toleration, 'effect') ?? '';
  if (effect !== '' && effect !== textAt(taint, 'effect')) return false;
  if (key !== '' && key !== textAt(taint, 'key')) return false;
  const operator = textAt(toleration, 'operator') ?? 'Equal';
  if (operator === 'Exists') return true;
  return operator === 'Equal' && key !== '' &&
    (textAt(toleration, 'value') ?? '') === (textAt(taint, 'value') ?? '');
};

/** The first taint of the node that the pod does not tolerate, cordon included. */
export const refusedTaint = (pod: unknown, node: unknown): unknown => {
  const tolerations = listOrEmptyAt(pod, 'spec', 'tolerations');
  const taints = listOrEmptyAt(node, 'spec', 'taints')
    .filter((taint) => ['NoSchedule', 'NoExecute'].includes(textAt(taint, 'effect') ?? ''));
  const cordoned = booleanAt(node, 'spec', 'unschedulable') === true ? [CORDON_TAINT] : [];
  return [...cordoned, ...taints]
    .find((taint) => !tolerations.some((toleration) => tolerates(toleration, taint)));
};

/** One term: all its requirements must hold; an empty term matches nothing. */
const termHolds = (term: unknown, node: unknown): boolean => {
  const expressions = listOrEmptyAt(term, 'matchExpressions');
  const fields = listOrEmptyAt(term, 'matchFields');
  if (expressions.length + fields.length === 0) return false;
  const names = { 'metadata.name': textAt(node, 'metadata', 'name') ?? '' };
  return expressions.every((one) => expressionHolds(one, labelsOf(node))) &&
    fields.every((one) => expressionHolds(one, names));
};

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';

/** `spec.nodeSelector` and the required part of `spec.affinity.nodeAffinity`. */
export const wantsNode = (pod: unknown, node: unknown): boolean => {
  if (!hasLabels(textRecordOrEmptyAt(pod, 'spec', 'nodeSelector'), labelsOf(node))) return false;
  const required = recordAt(pod, 'spec', 'affinity', 'nodeAffinity', REQUIRED);
  return required === undefined ||
    listOrEmptyAt(required, 'nodeSelectorTerms').some((term) => termHolds(term, node));
};

/** Whether the node can attach a PersistentVolume: node affinity and zone labels. */
const volumeReaches = (volume: unknown, node: unknown): boolean => {
  const required = recordAt(volume, 'spec', 'nodeAffinity', 'required');
  const reaches = required === undefined ||
    listOrEmptyAt(required, 'nodeSelectorTerms').some((term) => termHolds(term, node));
  const zone = labelsOf(volume)['topology.kubernetes.io/zone'];
  return reaches &&
    (zone === undefined || zone === labelsOf(node)['topology.kubernetes.io/zone']);
};

/** Names of the claims that a pod mounts. */
export const claimsOf = (pod: unknown): readonly string[] =>
  listOrEmptyAt(pod, 'spec', 'volumes').flatMap((volume) =>
    textAt(volume, 'persistentVolumeClaim', 'claimName') ?? []
  );

/** Why the node does not fit the pod, in kube-scheduler's words; `undefined` when it fits. */
export const misfit = (
  pod: unknown,
  node: unknown,
  volumes: readonly unknown[],
): string | undefined => {
  if (valueAt(node, 'metadata', 'deletionTimestamp') !== undefined) return 'were being deleted';
  const taint = refusedTaint(pod, node);
  if (taint === CORDON_TAINT) return 'were unschedulable';
  if (taint !== undefined) {
    return `had untolerated taint(s) {${textAt(taint, 'key')}: ${textAt(taint, 'value') ?? ''}}`;
  }
  if (!wantsNode(pod, node)) return "didn't match Pod's node affinity/selector";
  return volumes.every((volume) => volumeReaches(volume, node))
    ? undefined
    : 'had volume node affinity conflict';
};
