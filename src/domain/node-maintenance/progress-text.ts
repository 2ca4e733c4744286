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

/** Pods that must still leave these nodes. */
export const podsLeft = (
  nodes: readonly Pick<NodeStatus, 'podsPendingEvacuation' | 'podsEvacuating'>[],
): number =>
  nodes.reduce(
    (sum, { podsPendingEvacuation, podsEvacuating }) =>
      sum + podsPendingEvacuation + podsEvacuating,
    0,
  );

type Planned = Pick<MaintenanceSpec, 'drainPlan' | 'podTypes'>;
type Worked = Pick<MaintenanceStatus, 'nodes' | 'waves'>;

/**
 * The names of the nodes whose wave is through with the plan, where nothing is left, and whose
 * drain has ended. One that gave its turn to the next stays among them.
 */
export const drainedNodes = (
  { drainPlan, podTypes }: Planned,
  { nodes, waves }: Worked,
  hasEnded: (node: string) => boolean,
): ReadonlySet<string> => {
  const entries = effectivePlan(drainPlan, podTypes).length;
  const over = new Set(
    waves.filter(({ entriesDone }) => entriesDone >= entries).map(({ number }) => number),
  );
  const isDrained = (node: NodeStatus): boolean =>
    node.state === 'Released' ||
    (node.state === 'Admitted' && over.has(node.wave) && !hasPodsLeft(node) &&
      hasEnded(node.name));
  return new Set(nodes.filter(isDrained).map(({ name }) => name));
};

/** Drained nodes of the nodes that match, also those without room in the status, such as `3/12`. */
export const progressText = (
  spec: Planned,
  { selected, ...worked }: Worked & { readonly selected: number },
  hasEnded: (node: string) => boolean,
): string => `${drainedNodes(spec, worked, hasEnded).size}/${selected}`;
