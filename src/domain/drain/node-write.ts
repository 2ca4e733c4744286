/** What became of a patch of a Node that was decided on one resourceVersion. */
import type { DrainedNode } from './drained-node.ts';

export type NodeWriteOutcome =
  /** Done; this is what the cluster shows now. */
  | { readonly _tag: 'Written'; readonly node: DrainedNode }
  /** The Node changed meanwhile: decide again. */
  | { readonly _tag: 'Conflict' }
  /** There is no such Node (any more). */
  | { readonly _tag: 'Gone' }
  /** The API server will never take it like this: a person must act. */
  | { readonly _tag: 'Refused'; readonly why: string }
  /** It may work later. */
  | { readonly _tag: 'Fault'; readonly why: string };
