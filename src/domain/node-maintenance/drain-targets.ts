/**
 * The drain targets of nodes, resolved over all maintenances that drain them (KEP-4212,
 * *Pod Selection*).
 *
 * Promises: the targets of a node and the cursor of a run only grow (NM-34), so that every run ends
 * once the pods leave (NM-36); a node has the same targets for all its maintenances (NM-32), and no
 * more than a status has room for.
 */
import { selectorKey } from '../label-selector.ts';
import { NODE_MAINTENANCE_LIMITS } from './maintenance-limits.ts';
import type { MaintenanceName } from './maintenance-name.ts';
import { type DrainPlanEntry, entryKey, LAST_RANK, type Rank, rankOf } from './drain-plan.ts';
import { POD_TYPES, type PodType } from './typed-pods.ts';

/** Pods that must leave a node now, as its status shows them. */
export type DrainTargets = readonly DrainPlanEntry[];

/** A maintenance that executes its plan on the nodes that it has admitted together. */
export interface PlanRun {
  readonly maintenance: MaintenanceName;
  /** Nodes that are admitted apart are different waves, each with its own cursor. */
  readonly wave: number;
  /** When the maintenance was created, on the wall clock. */
  readonly createdMs: number;
  /** The effective plan. */
  readonly plan: readonly DrainPlanEntry[];
  /** The entry at work; beyond the last one, the plan is over. */
  readonly cursor: number;
  readonly nodes: readonly string[];
}

/** Targets by the name of the node. */
export type TargetsByNode = ReadonlyMap<string, DrainTargets>;

/** The rank of the entry at work. */
export const cursorRank = ({ plan, cursor }: PlanRun): Rank => {
  const entry = plan[cursor];
  return entry === undefined ? LAST_RANK : rankOf(entry);
};

/** True when every entry of the plan is done. */
export const isOver = ({ plan, cursor }: PlanRun): boolean => cursor >= plan.length;

/** How far a node with these targets is; lower than every entry without any. */
export const reachedRank = (targets: DrainTargets): Rank =>
  targets.reduce((highest, entry) => Math.max(highest, rankOf(entry)), -1);

const LIMITS = NODE_MAINTENANCE_LIMITS;

const isPlain = ({ podSelector }: DrainPlanEntry): boolean => podSelector === null;

const selectorOf = ({ podSelector }: DrainPlanEntry): string =>
  podSelector === null ? '' : selectorKey(podSelector);

/** One item for each selector of the type, the one without a selector first (NM-37). */
const itemsOfType = (
  podType: PodType,
  reached: readonly DrainPlanEntry[],
  planned: readonly DrainPlanEntry[],
): DrainTargets => {
  const priorities = new Map<string, number>();
  const selectors = new Map<string, DrainPlanEntry['podSelector']>();
  for (const entry of reached) {
    if (entry.podType !== podType) continue;
    const key = selectorOf(entry);
    priorities.set(key, Math.max(priorities.get(key) ?? entry.podPriority, entry.podPriority));
    selectors.set(key, entry.podSelector);
  }
  if (priorities.size === 0) return [];
  for (const entry of planned) {
    const key = selectorOf(entry);
    if (entry.podType === podType && !selectors.has(key)) selectors.set(key, entry.podSelector);
  }
  const plain = priorities.get('') ?? Number.NEGATIVE_INFINITY;
  selectors.delete('');
  const item = (podPriority: number, podSelector: DrainPlanEntry['podSelector']): DrainTargets =>
    podPriority === Number.NEGATIVE_INFINITY ? [] : [{ podType, podPriority, podSelector }];
  return [
    ...item(plain, null),
    ...[...selectors].flatMap(([key, podSelector]) =>
      item(Math.max(priorities.get(key) ?? plain, plain), podSelector)
    ),
  ];
};

/** The entries of a run that its node may have when its limit is this rank. */
const entriesUpTo = ({ plan, cursor }: PlanRun, limit: Rank): readonly DrainPlanEntry[] =>
  plan.slice(0, cursor + 1).filter((entry) => rankOf(entry) <= limit);

/**
 * No more items than a status has room for. First those leave that select no pod besides the one
 * without a selector; then the lowest, whose pods have had their turn: by the highest, plans go on.
 */
const withRoom = (items: DrainTargets): DrainTargets => {
  if (items.length <= LIMITS.drainTargets) return items;
  const plain = new Map(
    items.filter(isPlain).map(({ podType, podPriority }) => [podType, podPriority]),
  );
  const needed = items.filter((item) =>
    isPlain(item) || item.podPriority > (plain.get(item.podType) ?? Number.NEGATIVE_INFINITY)
  );
  const kept = needed.toSorted((left, right) =>
    Number(isPlain(right)) - Number(isPlain(left)) || rankOf(right) - rankOf(left)
  ).slice(0, LIMITS.drainTargets);
  return needed.filter((item) => kept.includes(item));
};

/** The targets of one node: by the lowest cursor of its runs, and never less than before. */
const targetsOf = (runs: readonly PlanRun[], before: DrainTargets): DrainTargets => {
  const limit = Math.max(reachedRank(before), Math.min(...runs.map(cursorRank)));
  const reached = [...before, ...runs.flatMap((run) => entriesUpTo(run, limit))];
  const planned = runs.flatMap(({ plan }) => plan);
  return withRoom(POD_TYPES.flatMap((podType) => itemsOfType(podType, reached, planned)));
};

/** The older first; names decide between two of one moment. */
export const byAge = (left: PlanRun, right: PlanRun): number =>
  left.createdMs - right.createdMs || (left.maintenance < right.maintenance ? -1 : 1);

/** The runs of each node, the oldest maintenance first. */
export const runsByNode = (runs: readonly PlanRun[]): ReadonlyMap<string, readonly PlanRun[]> => {
  const byNode = new Map<string, PlanRun[]>();
  for (const run of runs.toSorted(byAge)) {
    for (const node of run.nodes) {
      const known = byNode.get(node);
      if (known === undefined) byNode.set(node, [run]);
      else known.push(run);
    }
  }
  return byNode;
};

/**
 * The targets of every node of the runs (NM-32, NM-36). Nodes with the same runs and targets share
 * one list: most nodes of a maintenance are alike.
 */
export const resolveTargets = (runs: readonly PlanRun[], before: TargetsByNode): TargetsByNode => {
  const numbers = new Map(runs.map((run, index) => [run, index]));
  const resolved = new Map<string, DrainTargets>();
  return new Map([...runsByNode(runs)].map(([node, ofNode]) => {
    const targets = before.get(node) ?? [];
    const key = [...ofNode.map((run) => numbers.get(run)), ...targets.map(entryKey)].join(' ');
    const known = resolved.get(key) ?? targetsOf(ofNode, targets);
    resolved.set(key, known);
    return [node, known];
  }));
};
