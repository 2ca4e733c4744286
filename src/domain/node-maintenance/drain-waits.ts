/**
 * What drains wait for at budgets, and who keeps the pods away that a budget misses.
 *
 * Promises: pure. A drain waits for a budget only while this one allows no disruption, misses a
 * pod, and the scheduler finds no node for that pod; and for an owner only while drains alone keep
 * that pod from a node of this owner. An eviction that could succeed is no wait.
 */
import type { Budget } from '../drain/budget.ts';
import { budgetCovers, isProcessed } from '../drain/budget.ts';
import type { DrainPod } from '../drain/pod.ts';
import { compareText } from '../requirements.ts';
import type { DrainParty, DrainWait } from './crossed-drains.ts';
import { mayRunOn, type UnschedulablePod } from './unschedulable-pod.ts';

/** A Node, as waits regard it. */
export interface WaitingNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly ready: boolean;
  /** The owners of its cordon. */
  readonly owners: readonly string[];
}

/** What a party holds, and what it still drains. */
export interface DrainHold {
  readonly party: DrainParty;
  readonly nodes: readonly WaitingNode[];
  /** The pods that it wants to leave the Node now. */
  readonly leaving: (node: string) => readonly DrainPod[];
}

/** What waits follow from. */
export interface WaitFacts {
  readonly holds: readonly DrainHold[];
  readonly budgets: Iterable<Budget>;
  readonly unschedulable: Iterable<UnschedulablePod>;
}

/** A closed budget, and a pod that it misses. */
interface Missing {
  readonly budget: Budget;
  readonly pod: UnschedulablePod;
}

/** Pods of one budget that are regarded, of those that may run on different nodes. */
const PLACEMENTS_MAX = 10;

/** One of those that may run on the same nodes. */
const byPlacement = (pods: readonly UnschedulablePod[]): readonly UnschedulablePod[] => {
  const placements = new Map<string, UnschedulablePod>();
  for (const pod of pods.toSorted((left, right) => compareText(left.key, right.key))) {
    const key = JSON.stringify([pod.nodeSelector, pod.affinity]);
    if (!placements.has(key)) placements.set(key, pod);
  }
  return [...placements.values()].slice(0, PLACEMENTS_MAX);
};

const missingPods = ({ budgets, unschedulable }: WaitFacts): readonly Missing[] => {
  const pods = Map.groupBy(
    [...unschedulable].filter(({ isUnschedulable }) => isUnschedulable),
    ({ namespace }) => namespace,
  );
  if (pods.size === 0) return [];
  return [...budgets].flatMap((budget) => {
    const isClosed = isProcessed(budget) && budget.disruptionsAllowed === 0 &&
      budget.currentHealthy < budget.expectedPods;
    if (!isClosed) return [];
    const covered = (pods.get(budget.namespace) ?? []).filter((pod) => budgetCovers(budget, pod));
    return byPlacement(covered).map((pod) => ({ budget, pod }));
  });
};

/** Where pods of the drain cannot leave, because of the budget. */
const waitsAt = ({ nodes, leaving }: DrainHold, budget: Budget): string | undefined =>
  nodes.find(({ name }) =>
    leaving(name).some((pod) => !pod.terminating && budgetCovers(budget, pod))
  )?.name;

/** The waits of all drains for each other: at most one for each budget, pod and pair of drains. */
export const drainWaits = (facts: WaitFacts): readonly DrainWait[] => {
  const { holds } = facts;
  const missing = missingPods(facts);
  if (missing.length === 0 || holds.length < 2) return [];
  const draining = new Set<string>(holds.map(({ party }) => party.owner));
  /** Cordoned by drains alone, but not by the one that waits: the pod could not run there. */
  const isWanted = (node: WaitingNode, from: DrainHold): boolean =>
    node.ready && node.owners.every((owner) => draining.has(owner) && owner !== from.party.owner);
  return missing.flatMap(({ budget, pod }) => {
    const places = holds.map((hold) => ({
      hold,
      nodes: hold.nodes.filter((node) => mayRunOn(pod, node)),
    }));
    return holds.flatMap((from) => {
      const node = waitsAt(from, budget);
      if (node === undefined) return [];
      return places.flatMap(({ hold: to, nodes }) => {
        const wanted = nodes.find((one) => isWanted(one, from));
        if (to === from || wanted === undefined) return [];
        return [{
          from: from.party,
          to: to.party,
          node,
          wantedNode: wanted.name,
          cause: { _tag: 'Budget' as const, budget: budget.key, pod: pod.key },
        }];
      });
    });
  });
};
