/**
 * The waves in which a maintenance will admit its nodes, when the nodes of a wave end together.
 *
 * Promises: as `nodesToAdmit` decides, wave after wave; nodes that are under way are in the first
 * wave, and released ones in none.
 */
import { compareText } from '../requirements.ts';
import { type BudgetedNode, nodesAtOnce } from './node-budget.ts';
import { NODE_MAINTENANCE_LIMITS } from './maintenance-limits.ts';
import type { NodeCount } from './observed-maintenance.ts';

/** Parts of a list, each of `size` items but the last. */
const partsOf = <Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] =>
  Array.from(
    { length: Math.ceil(items.length / size) },
    (_, part) => items.slice(part * size, (part + 1) * size),
  );

/** The names of each wave of nodes that share a budget, in the order of names. */
const wavesOf = (
  nodes: readonly BudgetedNode[],
  count: NodeCount | null,
): readonly (readonly string[])[] => {
  const atOnce = nodesAtOnce(count, nodes.length);
  const named = (states: readonly BudgetedNode['state'][]): readonly string[] =>
    nodes.filter(({ state }) => states.includes(state)).map(({ name }) => name)
      .toSorted(compareText);
  const underWay = named(['Admitted', 'Yielding']);
  const waiting = named(['Waiting']);
  const room = Math.max(0, atOnce - underWay.length);
  const first = [...underWay, ...waiting.slice(0, room)];
  const rest = partsOf(waiting.slice(room), atOnce);
  return first.length === 0 ? rest : [first, ...rest];
};

/** The waves to come, each with the names of its nodes. */
export const forecastWaves = (
  nodes: readonly BudgetedNode[],
  count: NodeCount | null,
): readonly (readonly string[])[] => {
  const groups = [...Map.groupBy(nodes, ({ topology }) => topology)]
    .toSorted(([left], [right]) => compareText(left, right))
    .map(([, group]) => wavesOf(group, count));
  const waves = Math.max(0, ...groups.map(({ length }) => length));
  return Array.from({ length: waves }, (_, wave) => groups.flatMap((group) => group[wave] ?? []))
    .flatMap((wave) => partsOf(wave, NODE_MAINTENANCE_LIMITS.nodes));
};
