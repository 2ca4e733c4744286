/**
 * Replica arithmetic of a workload: pods to create, pods to delete, and their names.
 *
 * Promises: pure; deletes in the order of Kubernetes (`controller.ActivePods`): unassigned, not
 * running, not Ready, lowest deletion cost, youngest.
 */
import { asRecord, type JsonRecord, listOrEmptyAt, recordAt, textAt } from '../values/json.ts';
import { annotationsOf, labelsOf } from '../values/object-meta.ts';
import { isActive, isReady, nodeOf, phaseOf } from './pod-reading.ts';
import { nameOf, uidOf } from './controller-environment.ts';

/** The pods of a workload to create and delete. */
export interface ReplicaPlan {
  readonly toMake: number;
  readonly toRemove: readonly JsonRecord[];
}

/** 0 without one, and for what is no number. */
const deletionCostOf = (pod: JsonRecord): number =>
  Number(annotationsOf(pod)['controller.kubernetes.io/pod-deletion-cost'] ?? 0) || 0;

/** Lower ranks are deleted first. */
const rankOf = (pod: JsonRecord): readonly [number, number, number, number] => [
  nodeOf(pod) === '' ? 0 : 1,
  phaseOf(pod) === 'Running' ? 1 : 0,
  isReady(pod) ? 1 : 0,
  deletionCostOf(pod),
];

const createdAt = (pod: JsonRecord): string => textAt(pod, 'metadata', 'creationTimestamp') ?? '';

/** Negative when `left` is deleted before `right`. */
const byRank = (left: JsonRecord, right: JsonRecord): number => {
  const [one, other] = [rankOf(left), rankOf(right)];
  for (const at of [0, 1, 2, 3] as const) if (one[at] !== other[at]) return one[at] - other[at];
  if (createdAt(left) !== createdAt(right)) return createdAt(left) > createdAt(right) ? -1 : 1;
  return nameOf(left).name < nameOf(right).name ? -1 : 1;
};

/** Computes how to reach `wanted` replicas. */
export const replicaPlan = (wanted: number, pods: Iterable<JsonRecord>): ReplicaPlan => {
  const active = [...pods].filter(isActive);
  const surplus = active.length - wanted;
  return {
    toMake: Math.max(0, -surplus),
    toRemove: surplus <= 0 ? [] : active.toSorted(byRank).slice(0, surplus),
  };
};

/** The owner reference of a controller. */
export const ownerReference = (owner: JsonRecord, apiVersion: string, kind: string) => ({
  apiVersion,
  kind,
  name: nameOf(owner).name,
  uid: uidOf(owner),
  controller: true,
  blockOwnerDeletion: true,
});

/** The owner of a new pod, and what it adds to the template. */
export interface PodMaker {
  readonly owner: JsonRecord;
  readonly kind: 'ReplicaSet' | 'StatefulSet' | 'DaemonSet';
  /** Replaces the generated name. */
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Merged into the template's `spec`. */
  readonly spec?: JsonRecord;
}

/** The pod that a template creates. */
export const podFrom = ({ owner, kind, name, labels, spec }: PodMaker) => {
  const template = recordAt(owner, 'spec', 'template');
  const { namespace, name: ownerName } = nameOf(owner);
  const annotations = annotationsOf(template);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...(name === undefined ? { generateName: `${ownerName}-` } : { name }),
      namespace,
      labels: { ...labelsOf(template), ...labels },
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
      finalizers: listOrEmptyAt(template, 'metadata', 'finalizers'),
      ownerReferences: [ownerReference(owner, 'apps/v1', kind)],
    },
    spec: { ...recordAt(template, 'spec'), ...spec },
  };
};

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** JSON with sorted keys: equal values have equal text. */
export const canonicalJson = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const record = asRecord(value);
  if (record === undefined) return JSON.stringify(value) ?? 'null';
  const fields = Object.keys(record).toSorted()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(record[key])}`);
  return `{${fields.join(',')}}`;
};

/** A short hash name of a pod template. */
export const templateHash = (template: unknown): string => {
  let hash = FNV_OFFSET;
  for (const character of canonicalJson(template)) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), FNV_PRIME);
  }
  return (hash >>> 0).toString(16).padStart(8, '0');
};
