/**
 * The targets that Nodes have had so far, which those to come never fall below (NM-34).
 *
 * Promises: they are known to the next process, by the statuses of maintenances that are on the
 * Node (NM-39). One that is over, or has given the Node back, keeps its status for as long as the
 * object exists; that says nothing about the Node any more, whose next drain starts anew.
 */
import { type DrainTargets, reachedRank, type TargetsByNode } from './drain-targets.ts';
import { holdsNode } from './node-status.ts';
import type { ObservedMaintenance } from './observed-maintenance.ts';
import { workedStage } from './stage.ts';

/** What Nodes show of their maintenances. */
export interface HeldNodes {
  /** The Node has the key of the maintenance, cordoned or not, or a drain for it is under way. */
  readonly isHeld: (node: string, maintenance: ObservedMaintenance) => boolean;
}

/** The maintenance drains the Node, or its key has not left it yet. */
const isOn = (maintenance: ObservedMaintenance, node: string, { isHeld }: HeldNodes): boolean => {
  const drains = workedStage(maintenance) === 'Drain' && holdsNode(maintenance, node);
  return drains || isHeld(node, maintenance);
};

const further = (left: DrainTargets, right: DrainTargets): DrainTargets =>
  reachedRank(left) >= reachedRank(right) ? left : right;

/** The targets of before: remembered, or stored by any maintenance that is on the Node. */
export const targetsBefore = (
  all: readonly ObservedMaintenance[],
  remembered: TargetsByNode,
  facts: HeldNodes,
): TargetsByNode => {
  const before = new Map<string, DrainTargets>(remembered);
  for (const maintenance of all) {
    for (const { name, drainTargets } of maintenance.status.nodes) {
      if (drainTargets.length === 0 || !isOn(maintenance, name, facts)) continue;
      before.set(name, further(before.get(name) ?? [], drainTargets));
    }
  }
  return before;
};
