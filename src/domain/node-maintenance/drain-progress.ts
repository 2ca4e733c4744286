/**
 * When a plan goes on to its next entry (KEP-4212, *Pod Selection*).
 *
 * Promises: an entry is passed only when its pods have left every node of its run (NM-31), and, in
 * the strict reading, when nothing is left to do on the nodes of its neighbours either (NM-35);
 * entries without pods are passed at once (NM-38). The facts must be fresh: from a cache of pods
 * that is synced, and after the targets before were stored.
 */
import {
  byAge,
  cursorRank,
  type DrainTargets,
  isOver,
  type PlanRun,
  reachedRank,
  resolveTargets,
  runsByNode,
  type TargetsByNode,
} from './drain-targets.ts';

/**
 * What a run waits for besides its own nodes: all nodes of the runs that share a node with it, as
 * the KEP's sentence says, or nothing.
 */
export type NeighbourRule = 'strict' | 'minimal';

/** Cursors and targets that belong together. */
export interface DrainProgress {
  readonly runs: readonly PlanRun[];
  readonly targets: TargetsByNode;
}

/** Whether pods of these targets are left on the node. */
export type HasTargetedPods = (node: string, targets: DrainTargets) => boolean;

/** The runs that share a node with each run, itself excluded; the oldest first. */
export const neighbours = (
  runs: readonly PlanRun[],
): ReadonlyMap<PlanRun, readonly PlanRun[]> => {
  const byNode = runsByNode(runs);
  return new Map(runs.map((run) => {
    const shared = new Set(run.nodes.flatMap((node) => byNode.get(node) ?? []));
    return [run, [...shared].filter((other) => other !== run).toSorted(byAge)];
  }));
};

/** The nodes where targeted pods are left. */
const busyNodes = (
  targets: TargetsByNode,
  hasTargetedPods: HasTargetedPods,
): ReadonlySet<string> =>
  new Set([...targets].flatMap(([node, ofNode]) => hasTargetedPods(node, ofNode) ? [node] : []));

/** One step of every run that may go on; the same list when none may. */
const advanced = (
  { runs, targets }: DrainProgress,
  busy: ReadonlySet<string>,
  rule: NeighbourRule,
): readonly PlanRun[] => {
  const others = neighbours(runs);
  const isIdle = ({ nodes }: PlanRun): boolean => nodes.every((node) => !busy.has(node));
  const mayAdvance = (run: PlanRun): boolean =>
    !isOver(run) && isIdle(run) &&
    run.nodes.every((node) => reachedRank(targets.get(node) ?? []) >= cursorRank(run)) &&
    (rule === 'minimal' || (others.get(run) ?? []).every(isIdle));
  if (!runs.some(mayAdvance)) return runs;
  return runs.map((run) => mayAdvance(run) ? { ...run, cursor: run.cursor + 1 } : run);
};

/** The cursors and targets that follow from the pods that are left. */
export const resolveProgress = (
  before: DrainProgress,
  hasTargetedPods: HasTargetedPods,
  rule: NeighbourRule = 'strict',
): DrainProgress => {
  let progress: DrainProgress = {
    runs: before.runs,
    targets: resolveTargets(before.runs, before.targets),
  };
  for (;;) {
    const runs = advanced(progress, busyNodes(progress.targets, hasTargetedPods), rule);
    if (runs === progress.runs) return progress;
    progress = { runs, targets: resolveTargets(runs, progress.targets) };
  }
};

/** A run that waits for another one, which is behind: its node, and one of the other. */
export interface RunWait {
  readonly run: PlanRun;
  readonly node: string;
  readonly other: PlanRun;
  readonly otherNode: string;
}

/** Runs that wait only for others, once the progress is resolved (NM-32, NM-35). */
export const runWaits = (
  { runs, targets }: DrainProgress,
  hasTargetedPods: HasTargetedPods,
): readonly RunWait[] => {
  const busy = busyNodes(targets, hasTargetedPods);
  const busyNode = ({ nodes }: PlanRun): string | undefined => nodes.find((one) => busy.has(one));
  const others = neighbours(runs);
  return runs.flatMap((run) => {
    const [node] = run.nodes;
    if (node === undefined || isOver(run) || busyNode(run) !== undefined) return [];
    return (others.get(run) ?? []).flatMap((other) => {
      const isBehind = cursorRank(other) < cursorRank(run);
      const otherNode = busyNode(other) ??
        (isBehind ? other.nodes.find((one) => run.nodes.includes(one)) : undefined);
      return otherNode === undefined ? [] : [{ run, node, other, otherNode }];
    });
  });
};
