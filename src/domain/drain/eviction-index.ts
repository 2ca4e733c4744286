/**
 * The pods that are to leave and what is known of each: who requested it, the budgets that cover
 * it, and whether its kubelet responds. Data only: nothing here waits or acts.
 */
import type { EvictionOutcome } from './answer.ts';
import { type Blocker, blockerOf } from './blocker.ts';
import { budgetIndex } from './budget-index.ts';
import type { Budget } from './budget.ts';
import { type EvictionCandidate, interruptedEvictions } from './eviction-rank.ts';
import { combinedTerms, type EvictionRequest, type EvictionTerms } from './eviction-request.ts';
import { nodePriorities, type PendingNode } from './node-priority.ts';
import { type PodFacts, podFacts } from './pod-facts.ts';
import type { DrainPod } from './pod.ts';
import { type ObjectKey, objectKey, type Uid } from '../ids.ts';

/** One pod that is to leave. */
export interface EvictionEntry {
  readonly uid: Uid;
  readonly node: string;
  pod: DrainPod;
  /** By owner; empty when it was released for all. */
  readonly requests: Map<string, EvictionRequest>;
  /** Of all requests together; the last ones when none remains. */
  terms: EvictionTerms;
  /** What its actor was last told. */
  facts: PodFacts;
  /** The state that was last reported. */
  state: string;
  /** The last eviction was withheld by this process. */
  withheld: boolean;
  /** It was seen terminating or gone, and its budget knows. */
  departed: boolean;
}

/** What the index asks others. */
export interface EvictionIndexOptions {
  readonly isKubeletSilent: (node: string) => boolean;
  /** The wall clock. */
  readonly now: () => number;
  readonly monotonic: () => number;
  /** The pod that has this name now, wherever it runs. */
  readonly cached: (key: ObjectKey) => DrainPod | undefined;
}

/** All pods that are to leave. */
export class EvictionIndex {
  readonly #options: EvictionIndexOptions;
  readonly #entries = new Map<Uid, EvictionEntry>();
  readonly #byNode = new Map<string, Set<EvictionEntry>>();
  readonly #budgets = budgetIndex();
  readonly #nodePriority: (node: string) => number;

  constructor(options: EvictionIndexOptions) {
    this.#options = options;
    this.#nodePriority = cachedNodePriority(
      () => pendingNodes(this.#byNode, this.#budgets.budgetsOf),
      options.monotonic,
    );
  }

  readonly all = (): Iterable<EvictionEntry> => this.#entries.values();
  readonly get = (uid: Uid): EvictionEntry | undefined => this.#entries.get(uid);
  readonly ofNode = (node: string): readonly EvictionEntry[] => [...this.#byNode.get(node) ?? []];
  readonly coveredBy = (key: ObjectKey): readonly EvictionEntry[] =>
    this.#known(this.#budgets.podsOf(key).map(({ uid }) => uid));
  readonly budgetsOf = ({ uid }: Pick<EvictionEntry, 'uid'>): readonly Budget[] =>
    this.#budgets.budgetsOf(uid);

  readonly add = (pod: DrainPod, request: EvictionRequest): EvictionEntry => {
    this.#budgets.putPod(pod);
    const { node, owner } = request;
    const entry: EvictionEntry = {
      uid: pod.uid,
      node,
      pod,
      requests: new Map([[owner, request]]),
      terms: combinedTerms(request, []),
      facts: this.factsOf({ pod, node }),
      state: 'early',
      withheld: false,
      departed: false,
    };
    this.#entries.set(pod.uid, entry);
    this.#byNode.set(node, (this.#byNode.get(node) ?? new Set()).add(entry));
    return entry;
  };

  /** Adds or replaces the request of an owner. */
  readonly request = (entry: EvictionEntry, request: EvictionRequest): void => {
    entry.requests.set(request.owner, request);
    entry.terms = combinedTerms(request, entry.requests.values());
  };

  /** True when that was the last request. */
  readonly withdraw = (entry: EvictionEntry, owner: string): boolean => {
    if (!entry.requests.delete(owner)) return false;
    const [request] = entry.requests.values();
    if (request === undefined) return true;
    entry.terms = combinedTerms(request, entry.requests.values());
    return false;
  };

  /** Gives the budgets that covered it. */
  readonly remove = ({ uid, node }: EvictionEntry): readonly Budget[] => {
    const budgets = this.#budgets.budgetsOf(uid);
    const entry = this.#entries.get(uid);
    this.#entries.delete(uid);
    const entriesOnNode = this.#byNode.get(node);
    if (entry !== undefined) entriesOnNode?.delete(entry);
    if (entriesOnNode?.size === 0) this.#byNode.delete(node);
    this.#budgets.removePod(uid);
    return budgets;
  };

  readonly update = (entry: EvictionEntry, pod: DrainPod): void => {
    entry.pod = pod;
    this.#budgets.putPod(pod);
  };

  /** Gives the pods that it covers, or does not cover any more. */
  readonly putBudget = (budget: Budget): readonly EvictionEntry[] => {
    const moved = this.#budgets.putBudget(budget);
    const covered = this.#budgets.podsOf(budget.key).map(({ uid }) => uid);
    return this.#known(moved.length === 0 ? covered : new Set([...moved, ...covered]));
  };

  readonly removeBudget = (key: ObjectKey): readonly EvictionEntry[] =>
    this.#known(this.#budgets.removeBudget(key));

  /** What the caches show now. */
  readonly factsOf = ({ pod, node }: Pick<EvictionEntry, 'pod' | 'node'>): PodFacts =>
    podFacts(pod, this.#budgets.budgetsOf(pod.uid), this.#options.isKubeletSilent(node));

  readonly candidateOf = ({ uid, pod, node, terms }: EvictionEntry): EvictionCandidate => ({
    pod: uid,
    podName: pod.name,
    priority: pod.priority,
    node,
    drainClass: terms.drainClass,
    deadlineMs: terms.deadlineMs,
    drainSinceMs: terms.drainSinceMs,
    nodePriority: this.#nodePriority(node),
    podsLeft: terms.podsLeft(),
  });

  /** Why it is still there; `outcome` is the answer that still holds it up. */
  readonly blockerOf = (
    { uid, pod, node, state }: EvictionEntry,
    outcome: EvictionOutcome | null,
  ): Blocker => {
    const budgets = this.#budgets.budgetsOf(uid);
    const nowMs = this.#options.now();
    const [budget] = state === 'queued' ? budgets : [];
    return blockerOf({
      pod,
      budgets,
      interrupted: budget === undefined ? [] : this.#interruptedAt(budget, nowMs),
      outcome,
      tierStarted: true,
      paused: false,
      kubeletSilent: this.#options.isKubeletSilent(node),
      nowMs,
    });
  };

  #known(uids: Iterable<Uid>): readonly EvictionEntry[] {
    return [...uids].flatMap((uid) => this.#entries.get(uid) ?? []);
  }

  /** Also of pods that no drain requested: their slots are taken all the same. */
  #interruptedAt(budget: Budget, nowMs: number) {
    const named = Object.keys(budget.disruptedPods)
      .flatMap((name) => this.#options.cached(objectKey(name, budget.namespace)) ?? []);
    return interruptedEvictions(budget, named, nowMs);
  }
}

/** Between two computations, for each node: a hundred nodes at most five times a second. */
const PAUSE_MS_PER_NODE = 2;
/** After every node that has a priority. */
const LAST = Number.MAX_SAFE_INTEGER;

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

/** How many pods of the budget may be away when all of them are healthy. */
const slotsOf = ({ expectedPods, desiredHealthy }: Budget): number =>
  Math.max(1, expectedPods - desiredHealthy);

/** The nodes with the pods that are still to be evicted. */
const pendingNodes = (
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
const cachedNodePriority = (
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
