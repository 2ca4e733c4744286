/**
 * The rank rule in another way: pods are marked one by one, entries are compared field by field,
 * and nothing of `src/domain/node-maintenance` is used but types.
 */
import type { DrainPod } from '../../../src/domain/drain/pod.ts';
import type { DrainPlanEntry } from '../../../src/domain/node-maintenance/drain-plan.ts';
import type { PlanRun } from '../../../src/domain/node-maintenance/drain-targets.ts';

const TYPES = { Default: 0, DaemonSet: 1, Static: 2 } as const;

/** Below zero when the left entry comes first. */
const compare = (left: DrainPlanEntry, right: DrainPlanEntry): number => {
  if (left.podType !== right.podType) return TYPES[left.podType] - TYPES[right.podType];
  if (left.podPriority !== right.podPriority) return left.podPriority - right.podPriority;
  if ((left.podSelector === null) === (right.podSelector === null)) return 0;
  return left.podSelector === null ? 1 : -1;
};

/** The plans of these tests have selectors `app In (…)` only. */
const selects = (entry: DrainPlanEntry, pod: DrainPod): boolean => {
  const type = pod.controller?.kind === 'DaemonSet' ? 'DaemonSet' : 'Default';
  if (entry.podType !== type || pod.priority > entry.podPriority) return false;
  return entry.podSelector === null ||
    entry.podSelector.some(({ values }) => values.includes(pod.labels['app'] ?? ''));
};

interface NodeMemory {
  /** The furthest entry that limited the node. */
  limit: DrainPlanEntry | null;
  readonly reached: Set<DrainPlanEntry>;
}

/** The state of the oracle: what nodes have reached, and how far each run is. */
export interface TargetOracle {
  readonly cursors: Map<string, number>;
  readonly nodes: Map<string, NodeMemory>;
}

/** Starts empty. */
export const targetOracle = (): TargetOracle => ({ cursors: new Map(), nodes: new Map() });

const lowestOf = (entries: readonly DrainPlanEntry[]): DrainPlanEntry | undefined =>
  entries.reduce<DrainPlanEntry | undefined>(
    (lowest, entry) => lowest === undefined || compare(entry, lowest) < 0 ? entry : lowest,
    undefined,
  );

const isTargeted = (oracle: TargetOracle, pod: DrainPod): boolean =>
  [...oracle.nodes.get(pod.node)?.reached ?? []].some((entry) => selects(entry, pod));

/** Extends what the nodes have reached. */
const reach = (oracle: TargetOracle, runs: readonly PlanRun[]): void => {
  for (const node of new Set(runs.flatMap(({ nodes }) => nodes))) {
    const here = runs.filter(({ nodes }) => nodes.includes(node));
    const memory = oracle.nodes.get(node) ?? { limit: null, reached: new Set() };
    oracle.nodes.set(node, memory);
    const at = (run: PlanRun): number => oracle.cursors.get(run.maintenance) ?? 0;
    const lowest = lowestOf(here.flatMap((run) => run.plan[at(run)] ?? []));
    const limits = lowest === undefined
      ? here.flatMap(({ plan }) => plan)
      : [lowest, ...memory.limit === null ? [] : [memory.limit]];
    memory.limit = limits.toSorted(compare).at(-1) ?? null;
    for (const run of here) {
      run.plan.forEach((entry, index) => {
        if (index > at(run) || memory.limit === null) return;
        if (compare(entry, memory.limit) <= 0) memory.reached.add(entry);
      });
    }
  }
};

/** The pods that must leave now; extends the state of the oracle. */
export const oracleTargets = (
  oracle: TargetOracle,
  runs: readonly PlanRun[],
  pods: readonly DrainPod[],
): readonly DrainPod[] => {
  for (;;) {
    reach(oracle, runs);
    const busy = new Set(pods.filter((pod) => isTargeted(oracle, pod)).map(({ node }) => node));
    const isFree = ({ nodes }: PlanRun): boolean => !nodes.some((node) => busy.has(node));
    const moving = runs.filter((run) => {
      const entry = run.plan[oracle.cursors.get(run.maintenance) ?? 0];
      if (entry === undefined) return false;
      const isReached = run.nodes.every((node) => {
        const limit = oracle.nodes.get(node)?.limit ?? null;
        return limit !== null && compare(limit, entry) >= 0;
      });
      const touching = runs.filter(({ nodes }) => nodes.some((node) => run.nodes.includes(node)));
      return isReached && isFree(run) && touching.every(isFree);
    });
    if (moving.length === 0) return pods.filter((pod) => isTargeted(oracle, pod));
    for (const { maintenance } of moving) {
      oracle.cursors.set(maintenance, (oracle.cursors.get(maintenance) ?? 0) + 1);
    }
  }
};

/** True when every plan is over. */
export const oracleIsOver = (oracle: TargetOracle, runs: readonly PlanRun[]): boolean =>
  runs.every(({ maintenance, plan }) => (oracle.cursors.get(maintenance) ?? 0) >= plan.length);
