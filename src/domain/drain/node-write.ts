/** The outcome of a patch of a Node with a resourceVersion precondition. */
import type { ResourceVersion } from '../ids.ts';
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
 * What a patch of the Node at the version `base` came to: one that left the version as it was had
 * no effect (API conventions, Concurrency Control), and the same patch would be due again at once.
 */
export const effectOf = (
  outcome: NodeWriteOutcome,
  base: ResourceVersion | null,
): NodeWriteOutcome =>
  outcome._tag === 'Written' && outcome.node.resourceVersion === base
    ? {
      _tag: 'Fault',
      why: 'the API server accepted the patch and left the Node as it was; look for an ' +
        'admission webhook or policy that changes Nodes',
    }
    : outcome;
