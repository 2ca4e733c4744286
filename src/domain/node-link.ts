/** The Node that belongs to a machine, as far as the machine's UpcomingNode must know it. */
import type { NodeProjection } from './cluster-node.ts';
import { configuredPatch } from './drain/cordon-patch.ts';
import { type CordonEnd, type CordonFacts, cordonOf } from './drain/cordon.ts';

/** Its Node. Small: there is one for each machine. */
export interface NodeLink {
  readonly name: string;
  readonly uid: string;
  readonly ready: boolean;
  /** A `reclaim` key that was not cancelled is on it: frames do not undo what the drain showed. */
  readonly held: boolean;
  /** How the drain ended, as its `reclaim` key says; null when it does not. */
  readonly ended: CordonEnd | null;
  /** The key may go as soon as the machine is known to serve again (DR-04). */
  readonly releasable: boolean;
}

/**
 * An unfinished key on a node that is schedulable again was cancelled, whether or not that is
 * written yet (DR-05); one that cannot be read holds until a person looks.
 */
const isHeld = (facts: Pick<CordonFacts, 'cordons' | 'unschedulable'>): boolean => {
  const reading = cordonOf(facts, 'reclaim');
  if (reading === undefined) return false;
  if (reading._tag === 'Foreign') return true;
  const { ended } = reading.annotation;
  return ended === null ? facts.unschedulable : ended !== 'Cancelled';
};

const endOf = (facts: Pick<CordonFacts, 'cordons'>): CordonEnd | null => {
  const reading = cordonOf(facts, 'reclaim');
  return reading?._tag === 'Recognized' ? reading.annotation.ended : null;
};

/** The Node as a link. */
export const nodeLinkOf = (node: NodeProjection): NodeLink => ({
  name: node.name,
  uid: node.uid,
  ready: node.ready,
  held: isHeld(node),
  ended: endOf(node),
  releasable: configuredPatch(node) !== undefined,
});

/** True when nothing differs that an UpcomingNode depends on. */
export const sameNodeLink = (left: NodeLink | null, right: NodeLink | null): boolean =>
  left?.uid === right?.uid && left?.ready === right?.ready && left?.held === right?.held &&
  left?.ended === right?.ended && left?.releasable === right?.releasable;
