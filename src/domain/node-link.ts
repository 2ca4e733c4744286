/** The Node of a machine, reduced to what the machine's UpcomingNode depends on. */
import type { NodeProjection } from './cluster-node.ts';
import { configuredPatch } from './drain/cordon-patch.ts';
import { type CordonEnd, type CordonFacts, cordonOf } from './drain/cordon.ts';

/** The Node. Small: there is one for each machine. */
export interface NodeLink {
  readonly name: string;
  readonly uid: string;
  readonly ready: boolean;
  /** It has an uncancelled `reclaim` key: frames do not undo what the drain wrote. */
  readonly held: boolean;
  /** How the drain ended, from its `reclaim` key; null while it has not. */
  readonly ended: CordonEnd | null;
  /** The key may be removed once the machine is known to serve again (DR-04). */
  readonly releasable: boolean;
}

/**
 * An unfinished key on a schedulable node was cancelled, even if that is not written yet (DR-05);
 * an unreadable key counts as held until a person acts.
 */
const isHeld = (facts: Pick<CordonFacts, 'cordons' | 'unschedulable'>): boolean => {
  const reading = cordonOf(facts, 'reclaim');
  if (reading === undefined) return false;
  if (reading._tag === 'Unrecognized') return true;
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
