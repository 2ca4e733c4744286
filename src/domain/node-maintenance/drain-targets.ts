/**
 * The drain targets of nodes, resolved over all maintenances that drain them (KEP-4212,
 * *Pod Selection*).
 *
 * Promises: the targets of a node and the cursor of a run only grow (NM-34), so that every run ends
 * once the pods leave (NM-36); a node has the same targets for all its maintenances (NM-32).
 */
import { selectorKey } from '../label-selector.ts';
import type { MaintenanceName } from './maintenance-name.ts';
import { type DrainPlanEntry, LAST_RANK, type Rank, rankOf } from './drain-plan.ts';
import { POD_TYPES, type PodType } from './pod-type.ts';

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

const selectorOf = ({ podSelector }: DrainPlanEntry): string =>
  podSelector === null ? '' : selectorKey(podSelector);

const highest = (entries: readonly DrainPlanEntry[]): number =>
  Math.max(...entries.map(({ podPriority }) => podPriority));

/** One item for each selector of the type, the one without a selector first (NM-37). */
const itemsOfType = (
  podType: PodType,
  reached: readonly DrainPlanEntry[],
  planned: readonly DrainPlanEntry[],
): DrainTargets => {
  const ofType = reached.filter((entry) => entry.podType === podType);
  if (ofType.length === 0) return [];
  const plain = highest(ofType.filter(({ podSelector }) => podSelector === null));
  const selectors = new Map(
    [...ofType, ...planned.filter((entry) => entry.podType === podType)]
      .filter(({ podSelector }) => podSelector !== null)
      .map((entry) => [selectorOf(entry), entry]),
  );
  const item = (podPriority: number, podSelector: DrainPlanEntry['podSelector']): DrainTargets =>
    podPriority === Number.NEGATIVE_INFINITY ? [] : [{ podType, podPriority, podSelector }];
  return [
    ...item(plain, null),
    ...[...selectors].flatMap(([key, { podSelector }]) => {
      const own = highest(ofType.filter((entry) => selectorOf(entry) === key));
      return item(Math.max(own, plain), podSelector);
    }),
  ];
};

/** The entries of a run that its node may have when its limit is this rank. */
const entriesUpTo = ({ plan, cursor }: PlanRun, limit: Rank): readonly DrainPlanEntry[] =>
  plan.slice(0, cursor + 1).filter((entry) => rankOf(entry) <= limit);

/** The targets of one node: by the lowest cursor of its runs, and never less than before. */
const targetsOf = (runs: readonly PlanRun[], before: DrainTargets): DrainTargets => {
  const limit = Math.max(reachedRank(before), Math.min(...runs.map(cursorRank)));
  const reached = [...before, ...runs.flatMap((run) => entriesUpTo(run, limit))];
  const planned = runs.flatMap(({ plan }) => plan);
  return POD_TYPES.flatMap((podType) => itemsOfType(podType, reached, planned));
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

/** The targets of every node of the runs (NM-32, NM-36). */
export const resolveTargets = (runs: readonly PlanRun[], before: TargetsByNode): TargetsByNode =>
  new Map(
    [...runsByNode(runs)].map((
      [node, ofNode],
    ) => [node, targetsOf(ofNode, before.get(node) ?? [])]),
  );
