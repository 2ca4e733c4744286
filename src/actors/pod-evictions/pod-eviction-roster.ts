/**
 * What is known of every pod that is to leave: the pod, on whose behalf, the budgets that cover it,
 * and whether its node answers. Nothing here waits or acts.
 */
import type { ActorRefFrom } from 'xstate';
import type { EvictionOutcome } from '../../domain/drain/answer.ts';
import { type Blocker, blockerOf } from '../../domain/drain/blocker.ts';
import { budgetIndex } from '../../domain/drain/budget-index.ts';
import type { Budget } from '../../domain/drain/budget.ts';
import type { DrainPod } from '../../domain/drain/pod.ts';
import { type PodFacts, podFacts } from '../../domain/drain/pod-facts.ts';
import { interruptedEvictions, type Petition } from '../../domain/drain/queue.ts';
import { type ObjectKey, objectKey, type Uid } from '../../domain/ids.ts';
import type { podEviction } from '../../machines/pod-eviction.ts';
import { nodePlaces, nodesToLine } from './node-places.ts';

/** On whose behalf a pod is to leave, and what its place in a queue is made from. */
export interface EvictionTerms {
  readonly node: string;
  readonly deadlineMonotonicMs: number;
  readonly drainSinceMs: number;
  readonly podsLeft: () => number;
}

export type PodEvictionActor = ActorRefFrom<typeof podEviction>;

/** One pod that is to leave. */
export interface LeavingPod {
  readonly uid: Uid;
  pod: DrainPod;
  terms: EvictionTerms;
  /** What its actor was last told. */
  facts: PodFacts;
  actor: PodEvictionActor | undefined;
  /** The state that it is counted under. */
  state: string | undefined;
  released: boolean;
  /** The last call was held back by ourselves. */
  withdrawn: boolean;
  /** Its end has begun, and its budget knows. */
  sighted: boolean;
}

/** All pods that are to leave. */
export interface LeavingPods {
  readonly all: () => Iterable<LeavingPod>;
  readonly get: (uid: Uid) => LeavingPod | undefined;
  readonly ofNode: (node: string) => readonly LeavingPod[];
  readonly coveredBy: (key: ObjectKey) => readonly LeavingPod[];
  readonly join: (pod: DrainPod, terms: EvictionTerms) => LeavingPod;
  /** Gives the budgets that covered it. */
  readonly leave: (leaving: LeavingPod) => readonly Budget[];
  readonly take: (leaving: LeavingPod, pod: DrainPod) => void;
  /** Gives the pods that it covers, or does not cover any more. */
  readonly putBudget: (budget: Budget) => readonly LeavingPod[];
  readonly removeBudget: (key: ObjectKey) => readonly LeavingPod[];
  readonly budgetsOf: (leaving: LeavingPod) => readonly Budget[];
  /** What the caches say now. */
  readonly factsOf: (leaving: Pick<LeavingPod, 'pod' | 'terms'>) => PodFacts;
  readonly petitionOf: (leaving: LeavingPod) => Petition;
  /** Why it is still there; `outcome` is the answer that still holds it up. */
  readonly blockerOf: (leaving: LeavingPod, outcome: EvictionOutcome | null) => Blocker;
}

/** What the roster asks others. */
export interface LeavingPodsOptions {
  readonly isKubeletSilent: (node: string) => boolean;
  /** The wall clock. */
  readonly now: () => number;
  readonly monotonic: () => number;
  /** The pod that has this name now, wherever it runs. */
  readonly cached: (key: ObjectKey) => DrainPod | undefined;
}

/** Nobody is to leave at first. */
export const leavingPods = (
  { isKubeletSilent, now, monotonic, cached }: LeavingPodsOptions,
): LeavingPods => {
  const members = new Map<Uid, LeavingPod>();
  const byNode = new Map<string, Set<LeavingPod>>();
  const index = budgetIndex();

  const known = (uids: Iterable<Uid>): readonly LeavingPod[] =>
    [...uids].flatMap((uid) => members.get(uid) ?? []);
  const coveredBy = (key: ObjectKey) => known(index.podsOf(key).map(({ uid }) => uid));
  const factsOf = ({ pod, terms }: Pick<LeavingPod, 'pod' | 'terms'>): PodFacts =>
    podFacts(pod, index.budgetsOf(pod.uid), isKubeletSilent(terms.node));
  /** Also of pods that nobody wants to leave: whoever asked for them, the slot is taken. */
  const interruptedAt = (budget: Budget, nowMs: number) => {
    const named = Object.keys(budget.disruptedPods)
      .flatMap((name) => cached(objectKey(name, budget.namespace)) ?? []);
    return interruptedEvictions(budget, named, nowMs);
  };

  const placeOf = nodePlaces(() => nodesToLine(byNode, index.budgetsOf), monotonic);

  return {
    all: () => members.values(),
    get: (uid) => members.get(uid),
    ofNode: (node) => [...byNode.get(node) ?? []],
    coveredBy,
    factsOf,
    budgetsOf: ({ uid }) => index.budgetsOf(uid),
    join: (pod, terms) => {
      index.putPod(pod);
      const leaving: LeavingPod = {
        uid: pod.uid,
        pod,
        terms,
        facts: factsOf({ pod, terms }),
        actor: undefined,
        state: undefined,
        released: false,
        withdrawn: false,
        sighted: false,
      };
      members.set(pod.uid, leaving);
      const neighbours = byNode.get(terms.node) ?? new Set();
      byNode.set(terms.node, neighbours.add(leaving));
      return leaving;
    },
    leave: (leaving) => {
      const { uid, terms: { node } } = leaving;
      const budgets = index.budgetsOf(uid);
      members.delete(uid);
      const neighbours = byNode.get(node);
      neighbours?.delete(leaving);
      if (neighbours?.size === 0) byNode.delete(node);
      index.removePod(uid);
      return budgets;
    },
    take: (leaving, pod) => {
      leaving.pod = pod;
      index.putPod(pod);
    },
    putBudget: (budget) => {
      const moved = index.putBudget(budget);
      const covered = index.podsOf(budget.key).map(({ uid }) => uid);
      return known(moved.length === 0 ? covered : new Set([...moved, ...covered]));
    },
    removeBudget: (key) => known(index.removeBudget(key)),
    petitionOf: ({ uid, pod, terms }) => ({
      pod: uid,
      podName: pod.name,
      priority: pod.priority,
      node: terms.node,
      drainClass: 'reclaim',
      deadlineMs: terms.deadlineMonotonicMs,
      drainSinceMs: terms.drainSinceMs,
      place: placeOf(terms.node),
      podsLeft: terms.podsLeft(),
    }),
    blockerOf: ({ uid, pod, terms, state }, outcome) => {
      const budgets = index.budgetsOf(uid);
      const nowMs = now();
      const [budget] = state === 'queued' ? budgets : [];
      return blockerOf({
        pod,
        budgets,
        interrupted: budget === undefined ? [] : interruptedAt(budget, nowMs),
        outcome,
        tierStarted: true,
        paused: false,
        kubeletSilent: isKubeletSilent(terms.node),
        nowMs,
      });
    },
  };
};
