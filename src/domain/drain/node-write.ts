/** The outcome of a patch of a Node with a resourceVersion precondition. */
import type { DrainedNode } from './drained-node.ts';

export type NodeWriteOutcome =
  /** Done; `node` is the Node as stored. */
  | { readonly _tag: 'Written'; readonly node: DrainedNode }
  /** The Node changed concurrently: decide again. */
  | { readonly _tag: 'Conflict' }
  /** The Node does not exist (any more). */
  | { readonly _tag: 'Gone' }
  /** The API server will never accept this patch: a person must act. */
  | { readonly _tag: 'Refused'; readonly why: string }
  /** Transient: a retry may succeed. */
  | { readonly _tag: 'Fault'; readonly why: string };

/**
 * What a patch of the Node came to, when the same patch is due again after its answer: the API
 * server accepted it, and something took it back.
 */
export const ineffective: NodeWriteOutcome = {
  _tag: 'Fault',
  why: 'the API server accepted the patch, and the Node does not show it; look for an ' +
    'admission webhook or policy that changes Nodes',
};
