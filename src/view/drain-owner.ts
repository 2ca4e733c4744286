/** The owners of a node's cordon, draining owners first. */
import { annotationOf, type CordonAnnotation, readCordon } from '../domain/drain/cordon.ts';
import { compareText } from '../domain/requirements.ts';
import type { DrainedNode } from '../domain/drain/drained-node.ts';

/** Owners that drain; a person only cordons. */
const isDrainer = (owner: string): owner is 'reclaim' | 'disabled' | `maintenance-${string}` =>
  owner === 'reclaim' || owner === 'disabled' || owner.startsWith('maintenance-');

const rank = (owner: string): number => owner === 'reclaim' ? 0 : isDrainer(owner) ? 1 : 2;

const byRank = (left: string, right: string): number =>
  rank(left) - rank(right) || compareText(left, right);

/** True when an owner drains the node, or has drained it and left its key. */
export const hasDrain = ({ cordons }: Pick<DrainedNode, 'cordons'>): boolean =>
  Object.keys(cordons).some(isDrainer);

/** All owners with an active key, draining owners first. */
export const ownersOf = ({ cordons }: Pick<DrainedNode, 'cordons'>): readonly string[] =>
  Object.entries(cordons).filter(([owner, text]) => {
    const reading = readCordon(text);
    return isDrainer(owner) || reading._tag === 'Unrecognized' || reading.annotation.ended === null;
  }).map(([owner]) => owner).toSorted(byRank);

/** The annotation of the drain that goes on, or else of the last one; `undefined` without one. */
export const drainAnnotation = (
  node: Pick<DrainedNode, 'cordons'>,
): CordonAnnotation | undefined => {
  const annotations = Object.keys(node.cordons).filter(isDrainer).toSorted(byRank)
    .flatMap((owner) => annotationOf(node, owner) ?? []);
  return annotations.find(({ ended }) => ended === null) ?? annotations[0];
};
