/**
 * A Node as the operator needs it: its identity, its candidate machine, its readiness, and its
 * drain facts.
 */
import { type DrainedNode, projectDrainedNode } from './drain/drained-node.ts';
import { MACHINE_ID_KEY, RESTRICTED_MACHINE_ID_KEY } from './ids.ts';
import { rawConditionOf } from './condition.ts';
import { textAt } from './json.ts';
import { isDeleting } from './object-meta.ts';

/** The cached fields of a Node. Missing fields are empty text. */
export interface NodeProjection extends DrainedNode {
  readonly providerId: string;
  /** The machine's id from a label: the restricted one, or the one that a template may set. */
  readonly machineLabel: string;
  /** The label is one that a kubelet may not write. */
  readonly isLabelRestricted?: boolean;
  readonly ready: boolean;
  /** It was deleted and waits for its finalizers. */
  readonly deleting: boolean;
}

/** Reads a Node as the API server returns it. Total. */
export const projectNode = (raw: unknown): NodeProjection | undefined => {
  const drained = projectDrainedNode(raw);
  if (drained === undefined) return undefined;
  const ready = rawConditionOf(raw, 'Ready');
  const restricted = textAt(raw, 'metadata', 'labels', RESTRICTED_MACHINE_ID_KEY) ?? '';
  return {
    ...drained,
    providerId: textAt(raw, 'spec', 'providerID') ?? '',
    machineLabel: restricted || (textAt(raw, 'metadata', 'labels', MACHINE_ID_KEY) ?? ''),
    ...(restricted === '' ? {} : { isLabelRestricted: true }),
    ready: textAt(ready, 'status') === 'True',
    deleting: isDeleting(raw),
  };
};
