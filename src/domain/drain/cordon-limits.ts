/**
 * How much of the cordon annotations of Nodes is read. Whoever may write a Node may write them, and
 * a kubelet may write its own Node, so they are input.
 *
 * Promises: a Node costs a bounded amount of memory and work, whatever it carries; the texts that
 * this version writes are within the bounds.
 */
import { SHARD_LIMITS } from '../shard-limits.ts';

/** The bounds, with their names in `docs/reference/limits.md`. */
export const CORDON_LIMITS = {
  /** Of the text of one annotation. */
  annotationCharacters: 32 * 1024,
  /** Instructions that one annotation names: those of one Node. */
  ids: SHARD_LIMITS.node_instructions.max,
  idCharacters: 320,
  /** Annotations of one Node, besides those of `person`, `reclaim` and `disabled`. */
  otherOwners: 16,
  /** Instructions that one term resumes from all Nodes. */
  resumedInstructions: 1000,
  /** Instructions from Nodes that one process acknowledges. */
  resumedAcks: 1000,
} as const;

const REMEDY = 'remove the annotation';

/** Why a text is not parsed; `undefined` when it may be. */
export const textProblem = (text: string): string | undefined => {
  const max = CORDON_LIMITS.annotationCharacters;
  return text.length > max ? `it has more than ${max} characters; ${REMEDY}` : undefined;
};

/** Why these instructions are not taken; `undefined` when they may be. */
export const idsProblem = (ids: readonly unknown[]): string | undefined => {
  const { ids: countMax, idCharacters } = CORDON_LIMITS;
  if (ids.length > countMax) return `its "ids" has more than ${countMax} entries; ${REMEDY}`;
  return ids.some((id) => typeof id === 'string' && id.length > idCharacters)
    ? `its "ids" has an entry of more than ${idCharacters} characters; ${REMEDY}`
    : undefined;
};

/** Why no annotation beyond the bound is read. */
export const OWNERS_PROBLEM =
  `the Node has more than ${CORDON_LIMITS.otherOwners} of them; remove those without owner`;

/**
 * The text, or as much of it as shows that it is too long. A copy, because a slice would keep the
 * whole text in memory.
 */
export const boundedText = (text: string): string => {
  const max = CORDON_LIMITS.annotationCharacters;
  return text.length <= max ? text : [...text.slice(0, max + 1)].join('');
};
