/** Whether a maintenance has cordoned its nodes. */
import { type CordonFacts, isCordonedFor, maintenanceOwner } from '../drain/cordon.ts';
import { NODE_MAINTENANCE_LIMITS } from './maintenance-limits.ts';
import { type SelectableNode, selectsNode } from './node-selector.ts';
import { holdsNode } from './node-status.ts';
import type { ObservedMaintenance } from './observed-maintenance.ts';

/** A Node that a maintenance may cordon. */
export type CordonableNode =
  & SelectableNode
  & Pick<CordonFacts, 'unschedulable' | 'cordons' | 'hasUnreadCordons'>;

/**
 * True when its status has all nodes that it selects, at least one of them has had its turn, and
 * each whose turn it is has been cordoned for it; true also when it selects none.
 */
export const hasCordoned = (
  maintenance: ObservedMaintenance,
  nodes: Iterable<CordonableNode>,
): boolean => {
  const { spec, status, uid } = maintenance;
  const selected = [...nodes].filter((node) => selectsNode(spec.nodeSelector, node));
  if (status.nodes.length < Math.min(selected.length, NODE_MAINTENANCE_LIMITS.nodes)) return false;
  const held = selected.filter(({ name }) => holdsNode(maintenance, name));
  const owner = maintenanceOwner(uid);
  return (selected.length === 0 || held.length > 0) &&
    held.every((node) => isCordonedFor(node, owner));
};
