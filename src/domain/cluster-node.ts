/**
 * A Node as the operator needs it: its identity, its candidate machine, its readiness, and its
 * drain facts.
 */
import { type DrainedNode, projectDrainedNode } from './drain/drained-node.ts';
import { MACHINE_ID_KEY } from './ids.ts';
import { listOrEmptyAt, textAt } from './json.ts';
import { isDeleting } from './object-meta.ts';

/** The cached fields of a Node. Missing fields are empty text. */
export interface NodeProjection extends DrainedNode {
  readonly providerId: string;
  /** The label that a bootstrap template may set to the machine's id. */
  readonly machineLabel: string;
  readonly ready: boolean;
  /** It was deleted and waits for its finalizers. */
  readonly deleting: boolean;
}

/** Reads a Node as the API server returns it. Total. */
export const projectNode = (raw: unknown): NodeProjection | undefined => {
  const drained = projectDrainedNode(raw);
  if (drained === undefined) return undefined;
  const ready = listOrEmptyAt(raw, 'status', 'conditions')
    .find((condition) => textAt(condition, 'type') === 'Ready');
  return {
    ...drained,
    providerId: textAt(raw, 'spec', 'providerID') ?? '',
    machineLabel: textAt(raw, 'metadata', 'labels', MACHINE_ID_KEY) ?? '',
    ready: textAt(ready, 'status') === 'True',
    deleting: isDeleting(raw),
  };
};
