/** The owners of a node's cordon, draining owners first. */
import { annotationOf, type CordonAnnotation, readCordon } from '../domain/drain/cordon.ts';
import { acknowledgedPods, keptData } from '../domain/drain/kept-pods.ts';
import type { DrainPod } from '../domain/drain/pod.ts';
import type { VolumeLookup } from '../domain/node-availability/local-volumes.ts';
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

interface OwnedDrain {
  readonly owner: string;
  readonly annotation: CordonAnnotation;
}

/** The drains that go on, or else the last ones. */
const drainsOf = (node: Pick<DrainedNode, 'cordons'>): readonly OwnedDrain[] => {
  const all = Object.keys(node.cordons).filter(isDrainer).toSorted(byRank)
    .flatMap((owner): readonly OwnedDrain[] => {
      const annotation = annotationOf(node, owner);
      return annotation === undefined ? [] : [{ owner, annotation }];
    });
  const underway = all.filter(({ annotation }) => annotation.ended === null);
  return underway.length > 0 ? underway : all;
};

/** The annotation of the drain that goes on, or else of the last one; `undefined` without one. */
export const drainAnnotation = (
  node: Pick<DrainedNode, 'cordons'>,
): CordonAnnotation | undefined => drainsOf(node)[0]?.annotation;

/** What the drain of a Node keeps on it for its data (RS-11). */
export interface KeptOnNode {
  /** Whether it is certain that the pod stays: the Node is disabled, or a person lets it stay. */
  readonly keeps: (pod: DrainPod) => boolean;
  /** UIDs of the pods that a person lets stay. */
  readonly acknowledged: ReadonlySet<string>;
}

/** Whether other drains keep pods is a setting of the operator, which its Events tell. */
export const keptOnNode = (node: DrainedNode, lookup: VolumeLookup): KeptOnNode => {
  const drains = drainsOf(node);
  const isDisabled = drains.length > 0 && drains.every(({ owner }) => owner === 'disabled');
  const acknowledged = new Set(drains.flatMap(({ owner }) => [...acknowledgedPods(node, owner)]));
  return {
    keeps: (pod) => (isDisabled || acknowledged.has(pod.uid)) && keptData(pod, lookup).length > 0,
    acknowledged,
  };
};
