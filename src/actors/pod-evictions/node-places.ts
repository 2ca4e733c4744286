/**
 * Which node is to be empty first, for all budgets and for the write budget alike.
 *
 * Promises: the line is made anew when a node asks that is not in it, but seldom enough that many
 * nodes cannot keep the process from its other work; who is not in line comes after those who are.
 */
import type { Budget } from '../../domain/drain/budget.ts';
import { type LinedNode, nodeLine } from '../../domain/drain/node-line.ts';
import type { PodFacts } from '../../domain/drain/pod-facts.ts';
import type { Uid } from '../../domain/ids.ts';

/** Between two lines, for each node: a hundred nodes are lined up at most five times a second. */
const PAUSE_MS_PER_NODE = 2;
/** Behind everybody who is in line. */
const LAST = Number.MAX_SAFE_INTEGER;

/** What a pod that is to leave says of its node's place. */
export interface Seeker {
  readonly uid: Uid;
  readonly facts: Pick<PodFacts, 'need' | 'terminating'>;
  readonly terms: { readonly drainSinceMs: number; readonly podsLeft: () => number };
}

/** What a line is made from. */
export interface NodesToLine {
  readonly nodes: readonly LinedNode[];
  /** How many pods of a budget may be away at once, at least 1. */
  readonly slotsOf: (budget: string) => number;
}

/** How many pods of the budget may be away when all is well. */
const slotsOf = ({ expectedPods, desiredHealthy }: Budget): number =>
  Math.max(1, expectedPods - desiredHealthy);

/** The nodes with what is still to be asked of their pods. */
export const nodesToLine = (
  byNode: Iterable<readonly [string, ReadonlySet<Seeker>]>,
  budgetsOf: (pod: Uid) => readonly Budget[],
): NodesToLine => {
  const slots = new Map<string, number>();
  const lookAt = (name: string, leaving: ReadonlySet<Seeker>): LinedNode => {
    const seekers = new Map<string, number>();
    const [first] = leaving;
    // Pods of tiers that have not started are not among those that are to leave yet.
    let others = Math.max(0, (first?.terms.podsLeft() ?? 0) - leaving.size);
    for (const { uid, facts: { terminating, need } } of leaving) {
      if (terminating) continue;
      if (need._tag !== 'One') {
        others += 1;
        continue;
      }
      seekers.set(need.budget, (seekers.get(need.budget) ?? 0) + 1);
      if (slots.has(need.budget)) continue;
      for (const budget of budgetsOf(uid)) slots.set(budget.key, slotsOf(budget));
    }
    return { name, drainSinceMs: first?.terms.drainSinceMs ?? 0, seekers, others };
  };
  return {
    nodes: [...byNode].map(([name, leaving]) => lookAt(name, leaving)),
    slotsOf: (budget) => slots.get(budget) ?? 1,
  };
};

/** The place of a node in line, smaller first. `now` is monotonic. */
export const nodePlaces = (
  look: () => NodesToLine,
  now: () => number,
): (node: string) => number => {
  let line: ReadonlyMap<string, number> = new Map();
  let nextMs = Number.NEGATIVE_INFINITY;
  return (node) => {
    const known = line.get(node);
    const nowMs = now();
    if (known !== undefined || nowMs < nextMs) return known ?? LAST;
    const { nodes, slotsOf } = look();
    line = nodeLine(nodes, slotsOf);
    nextMs = nowMs + nodes.length * PAUSE_MS_PER_NODE;
    return line.get(node) ?? LAST;
  };
};
