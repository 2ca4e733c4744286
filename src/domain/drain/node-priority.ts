/**
 * The order in which nodes are emptied when their pods wait for the same budgets (DR-34).
 *
 * Promises: a total order of the nodes, the same for all budgets, so that nodes become empty one
 * after another; without shared budgets the node with the fewest pods left comes first. Plain
 * values only.
 *
 * A node is empty when the last of its pods has gone, and a budget lets only so many go in a round.
 * The line is made from its head: the next node is always the one whose pods would wait least
 * behind the nodes that are in line already. (By the count of pods alone, half of a hundred nodes
 * with thirty pods each were empty when 70 % of the pods had gone, by this line at 60 %; pods that
 * lie at random do not allow much less. Scheduling theory calls it the concurrent open shop.)
 */
import type { Uid } from '../ids.ts';
import { compareText } from '../requirements.ts';
import type { Budget } from './budget.ts';
import type { PodFacts } from './pod-facts.ts';

/** A node that is being emptied. */
export interface PendingNode {
  readonly name: string;
  readonly drainSinceMs: number;
  /** Pods that are still to be asked, by the key of the budget whose slots they need. */
  readonly waiters: ReadonlyMap<string, number>;
  /** Pods that need no slot, or whose turn has not come yet. */
  readonly others: number;
}

/** What a pod that is to leave contributes to the priority of its node. */
export interface PendingPod {
  readonly uid: Uid;
  readonly facts: Pick<PodFacts, 'need' | 'terminating'>;
  readonly terms: { readonly drainSinceMs: number; readonly podsLeft: () => number };
}

/** What priorities are computed from. */
export interface PendingNodes {
  readonly nodes: readonly PendingNode[];
  /** How many pods of a budget may be away at once, at least 1. */
  readonly slotsOf: (budget: string) => number;
}

/** How much more a pod weighs for each round that it waits at its budget. */
const WEIGHT_OF_ROUND = 16;
/** Weights stay finite however long the line is. */
const WEIGHT_MAX = 1e100;
/** Nodes in line at most; the others are lined up when their time comes nearer. */
const LINE_MAX = 250;
/** Between two computations, for each node: a hundred nodes at most five times a second. */
const PAUSE_MS_PER_NODE = 2;
/** After every node that has a priority. */
const LAST = Number.MAX_SAFE_INTEGER;

/** The same as numbers: a line of a thousand nodes is made in tens of milliseconds. */
interface Waiting {
  readonly node: PendingNode;
  /** Budgets by their place in `weights`, and how many pods of the node need each. */
  readonly waiters: readonly { readonly budget: number; readonly count: number }[];
  weight: number;
  /** How long the line was when it was weighed: a longer one makes it heavier, never lighter. */
  behind: number;
}

const comesFirst = (left: Waiting, right: Waiting): boolean => {
  const difference = left.weight - right.weight ||
    left.node.drainSinceMs - right.node.drainSinceMs;
  return difference < 0 || (difference === 0 && compareText(left.node.name, right.node.name) < 0);
};

/** Puts it where it belongs; the first in line stands at the end. */
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
 * The place of each node in line, from 0; of many nodes only the first. `slotsOf` says how many
 * pods of a budget may be away at once, at least 1.
 */
export const nodePriorities = (
  nodes: Iterable<PendingNode>,
  slotsOf: (budget: string) => number,
): ReadonlyMap<string, number> => {
  const numbers = new Map<string, number>();
  /** What a pod weighs that queues behind the line, and how much more one pod ahead makes it. */
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

/** How many pods of the budget may be away when all of them are healthy. */
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
    // Pods of tiers that have not started are not among those that are to leave yet.
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
