/** How far a maintenance is on all of its nodes, in one short text. */
import { effectivePlan } from './drain-plan.ts';
import type { MaintenanceSpec, MaintenanceStatus, NodeStatus } from './observed-maintenance.ts';

/** True while pods that must leave are on the node. */
export const hasPodsLeft = (
  { podsPendingEvacuation, podsEvacuating }: Pick<
    NodeStatus,
    'podsPendingEvacuation' | 'podsEvacuating'
  >,
): boolean => podsPendingEvacuation + podsEvacuating > 0;

/**
 * Drained nodes of the nodes that match, such as `3/12`. A node is drained when the plan of its
 * wave is over, nothing is left there, and it is still cordoned; one that gave its turn to the next
 * stays counted.
 */
export const progressText = (
  { drainPlan, podTypes }: Pick<MaintenanceSpec, 'drainPlan' | 'podTypes'>,
  { nodes, waves }: Pick<MaintenanceStatus, 'nodes' | 'waves'>,
  isCordoned: (node: string) => boolean,
): string => {
  const entries = effectivePlan(drainPlan, podTypes).length;
  const over = new Set(
    waves.filter(({ entriesDone }) => entriesDone >= entries).map(({ number }) => number),
  );
  const isDrained = (node: NodeStatus): boolean =>
    node.state === 'Released' ||
    (node.state === 'Admitted' && over.has(node.wave) && !hasPodsLeft(node) &&
      isCordoned(node.name));
  return `${nodes.filter(isDrained).length}/${nodes.length}`;
};
