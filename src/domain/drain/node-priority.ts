/**
 * The order in which nodes are emptied when their pods compete for the same budgets (DR-34).
 *
 * Promises: a total order of the nodes, the same for all budgets, so that nodes become empty one
 * after another; without shared budgets the node with the fewest remaining pods comes first. Plain
 * values only.
 *
 * A node is empty when its last pod is gone, and a budget allows only some pods per round. The
 * order is built greedily: the next node is the one whose pods would wait least behind those
 * already placed. (Ordering by pod count alone, half of a hundred nodes with thirty pods each were
 * empty when 70 % of the pods were gone, with this order at 60 %; randomly placed pods do not allow
 * much less. Scheduling theory calls this problem the concurrent open shop.)
 */
import type { Uid } from '../ids.ts';
import { compareText } from '../requirements.ts';
import type { Budget } from './budget.ts';
import type { PodFacts } from './pod-facts.ts';

/** A node that is being emptied. */
export interface PendingNode {
  readonly name: string;
  readonly drainSinceMs: number;
  /** Pods still to be evicted, by the key of the budget whose slots they need. */
  readonly waiters: ReadonlyMap<string, number>;
  /** Pods that need no slot, or are not eligible yet. */
  readonly others: number;
}

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

/** The added weight of a pod for each round that it waits at its budget. */
const WEIGHT_OF_ROUND = 16;
/** Keeps weights finite for any number of nodes. */
const WEIGHT_MAX = 1e100;
/** The maximum number of ordered nodes; the others follow when earlier ones finish. */
const LINE_MAX = 250;
/** Minimum time between computations, per node: a hundred nodes at most five times a second. */
const PAUSE_MS_PER_NODE = 2;
/** After every node that has a priority. */
const LAST = Number.MAX_SAFE_INTEGER;

/** The same as numbers: ordering a thousand nodes takes tens of milliseconds. */
interface Waiting {
  readonly node: PendingNode;
  /** Budgets by index in `weights`, and how many pods of the node need each. */
  readonly waiters: readonly { readonly budget: number; readonly count: number }[];
  weight: number;
  /**
   * The queue length when it was weighed: a longer queue increases the weight, never decreases it.
   */
  behind: number;
}

const comesFirst = (left: Waiting, right: Waiting): boolean => {
  const difference = left.weight - right.weight ||
    left.node.drainSinceMs - right.node.drainSinceMs;
  return difference < 0 || (difference === 0 && compareText(left.node.name, right.node.name) < 0);
};

/** Inserts in order; the first stands at the end. */
const insert = (waiting: Waiting[], value: Waiting): void => {
  let [low, high] = [0, waiting.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = waiting[middle];
    if (other !== undefined && comesFirst(value, other)) low = middle + 1;
    else high = middle;
  }
  waiting.splice(low, 0, value);
};

/**
 * The position of each node, from 0; of many nodes only the first are ordered. `slotsOf` is the
 * number of pods of a budget that may be disrupted at once, at least 1.
 */
export const nodePriorities = (
  nodes: Iterable<PendingNode>,
  slotsOf: (budget: string) => number,
): ReadonlyMap<string, number> => {
  const numbers = new Map<string, number>();
  /** The weight of a pod behind the queue, and the added weight of one pod ahead. */
  const weights: number[] = [];
  const growths: number[] = [];
  const numberOf = (budget: string): number => {
    const known = numbers.get(budget) ?? weights.push(1) - 1;
    if (!numbers.has(budget)) growths.push(WEIGHT_OF_ROUND ** (1 / slotsOf(budget)));
    numbers.set(budget, known);
    return known;
  };
  const line = new Map<string, number>();
  const weigh = (value: Waiting): Waiting => {
    let weight = value.node.others;
    for (const { budget, count } of value.waiters) weight += count * (weights[budget] ?? 1);
    value.weight = weight;
    value.behind = line.size;
    return value;
  };
  const waiting: Waiting[] = [];
  for (const node of nodes) {
    const waiters = [...node.waiters].map(([key, count]) => ({ budget: numberOf(key), count }));
    insert(waiting, weigh({ node, waiters, weight: 0, behind: 0 }));
  }
  for (let next = waiting.pop(); next !== undefined && line.size < LINE_MAX; next = waiting.pop()) {
    if (next.behind < line.size) {
      insert(waiting, weigh(next));
      continue;
    }
    line.set(next.node.name, line.size);
    for (const { budget, count } of next.waiters) {
      const heavier = (weights[budget] ?? 1) * (growths[budget] ?? 1) ** count;
      weights[budget] = Math.min(WEIGHT_MAX, heavier);
    }
  }
  return line;
};

/** How many pods of the budget may be disrupted when all are healthy. */
const slotsOfBudget = ({ expectedPods, desiredHealthy }: Budget): number =>
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
      for (const budget of budgetsOf(uid)) slots.set(budget.key, slotsOfBudget(budget));
    }
    return { name, drainSinceMs: first?.terms.drainSinceMs ?? 0, waiters, others };
  };
  return {
    nodes: [...byNode].map(([name, pods]) => pendingNode(name, pods)),
    slotsOf: (budget) => slots.get(budget) ?? 1,
  };
};

/**
 * The priority of a node, smaller first. All are computed again from `look` when a node has none,
 * after a pause; until then that node comes last. `now` is monotonic.
 */
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
    const { nodes, slotsOf } = look();
    priorities = nodePriorities(nodes, slotsOf);
    nextMs = nowMs + nodes.length * PAUSE_MS_PER_NODE;
    return priorities.get(node) ?? LAST;
  };
};
