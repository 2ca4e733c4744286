/**
 * How many Nodes may drain at once (`--max-draining`): a number, or a percentage of all Nodes.
 *
 * Promises: at least one Node may always drain.
 */

/** The limit as configured. */
export type DrainingLimit =
  | { readonly _tag: 'Nodes'; readonly nodes: number }
  | { readonly _tag: 'Percent'; readonly percent: number };

const SHAPE = /^(?<number>\d{1,9})(?<percent>%?)$/;

/** Reads `10` or `25%`; `undefined` when the text is neither. */
export const readDrainingLimit = (text: string): DrainingLimit | undefined => {
  const groups = SHAPE.exec(text)?.groups;
  const number = Number(groups?.['number'] ?? 0);
  if (number < 1) return undefined;
  if (groups?.['percent'] === '') return { _tag: 'Nodes', nodes: number };
  return number > 100 ? undefined : { _tag: 'Percent', percent: number };
};

/** The limit as text that `readDrainingLimit` reads. */
export const drainingLimitText = (limit: DrainingLimit): string =>
  limit._tag === 'Nodes' ? `${limit.nodes}` : `${limit.percent}%`;

/** How many of so many Nodes may drain at once: rounded down, and at least one. */
export const nodesAllowed = (limit: DrainingLimit, nodes: number): number =>
  limit._tag === 'Nodes' ? limit.nodes : Math.max(1, Math.floor(nodes * limit.percent / 100));
