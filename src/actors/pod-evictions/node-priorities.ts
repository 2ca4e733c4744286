/**
 * The order in which nodes are emptied, for all budgets and the write budget.
 *
 * Promises: priorities are recomputed when a node without one is queried, but rarely enough that
 * many nodes cannot starve the process; a node without priority comes last.
 */
import type { Budget } from '../../domain/drain/budget.ts';
import { nodePriorities, type PendingNode } from '../../domain/drain/node-priority.ts';
import type { PodFacts } from '../../domain/drain/pod-facts.ts';
import type { Uid } from '../../domain/ids.ts';

/** Minimum time between computations, per node: a hundred nodes at most five times a second. */
const PAUSE_MS_PER_NODE = 2;
/** After every node that has a priority. */
const LAST = Number.MAX_SAFE_INTEGER;

/** The contribution of a pod to the priority of its node. */
export interface PendingPod {
  readonly uid: Uid;
  readonly facts: Pick<PodFacts, 'need' | 'terminating'>;
  readonly terms: { readonly drainSinceMs: number; readonly podsLeft: () => number };
}

/** The inputs of priorities. */
export interface PendingNodes {
  readonly nodes: readonly PendingNode[];
  /** How many pods of a budget may be disrupted at once, at least 1. */
  readonly slotsOf: (budget: string) => number;
}

/** How many pods of the budget may be disrupted when all are healthy. */
const slotsOf = ({ expectedPods, desiredHealthy }: Budget): number =>
  Math.max(1, expectedPods - desiredHealthy);

/** The nodes with the pods that are still to be evicted. */
export const pendingNodes = (
  byNode: Iterable<readonly [string, ReadonlySet<PendingPod>]>,
  budgetsOf: (pod: Uid) => readonly Budget[],
): PendingNodes => {
  const slots = new Map<string, number>();
  const pendingNode = (name: string, pods: ReadonlySet<PendingPod>): PendingNode => {
    const waiters = new Map<string, number>();
    const [first] = pods;
    // Excludes pods of tiers that have not started.
    let others = Math.max(0, (first?.terms.podsLeft() ?? 0) - pods.size);
    for (const { uid, facts: { terminating, need } } of pods) {
      if (terminating) continue;
      if (need._tag !== 'One') {
        others += 1;
        continue;
      }
      waiters.set(need.budget, (waiters.get(need.budget) ?? 0) + 1);
      if (slots.has(need.budget)) continue;
      for (const budget of budgetsOf(uid)) slots.set(budget.key, slotsOf(budget));
    }
    return { name, drainSinceMs: first?.terms.drainSinceMs ?? 0, waiters, others };
  };
  return {
    nodes: [...byNode].map(([name, pods]) => pendingNode(name, pods)),
    slotsOf: (budget) => slots.get(budget) ?? 1,
  };
};

/** The priority of a node, smaller first. `now` is monotonic. */
export const cachedNodePriority = (
  look: () => PendingNodes,
  now: () => number,
): (node: string) => number => {
  let priorities: ReadonlyMap<string, number> = new Map();
  let nextMs = Number.NEGATIVE_INFINITY;
  return (node) => {
    const known = priorities.get(node);
    const nowMs = now();
    if (known !== undefined || nowMs < nextMs) return known ?? LAST;
    const { nodes, slotsOf: slotsOfBudget } = look();
    priorities = nodePriorities(nodes, slotsOfBudget);
    nextMs = nowMs + nodes.length * PAUSE_MS_PER_NODE;
    return priorities.get(node) ?? LAST;
  };
};
