/**
 * The pods that must leave: their requesters, their budgets, and whether their kubelet responds.
 * Data only.
 */
import type { EvictionOutcome } from './answer.ts';
import { type Blocker, blockerOf } from './blocker.ts';
import { budgetIndex } from './budget-index.ts';
import type { Budget } from './budget.ts';
import { type EvictionCandidate, interruptedEvictions } from './eviction-rank.ts';
import { combinedTerms, type EvictionRequest, type EvictionTerms } from './eviction-request.ts';
import { cachedNodePriority, pendingNodes } from './node-priority.ts';
import { type PodFacts, podFacts } from './pod-facts.ts';
import type { DrainPod } from './pod.ts';
import { wouldHoldUnready } from './serving-gate.ts';
import { type ObjectKey, objectKey, type Uid } from '../ids.ts';

/** One pod that must leave. */
export interface EvictionEntry {
  readonly uid: Uid;
  readonly node: string;
  /** When it was first requested, since nobody did; monotonic. */
  wantedMs: number;
  pod: DrainPod;
  /** By owner; empty after all released it. */
  readonly requests: Map<string, EvictionRequest>;
  /** The combined terms of all requests; the last ones when none remains. */
  terms: EvictionTerms;
  /** The facts last sent to its actor. */
  facts: PodFacts;
  /** The last reported state. */
  state: string;
  /** This process withheld the last eviction. */
  withheld: boolean;
  /** It was observed terminating or gone, and its budget was notified. */
  departed: boolean;
}

/** The dependencies of the index. */
export interface EvictionIndexOptions {
  readonly isKubeletSilent: (node: string) => boolean;
  /** The wall clock. */
  readonly now: () => number;
  readonly monotonic: () => number;
  /** What its EvictionRequest waits for; undefined while no drain asks by one. */
  readonly interceptionOf: (pod: Uid) => Blocker | undefined;
  /** A younger revision of its workload has pods. */
  readonly isOutdated: (pod: DrainPod) => boolean;
  /** Services may send clients to the pod, and it has a gate that ends that. */
  readonly isServing: (pod: DrainPod) => boolean;
  /** Its eviction has closed that gate. */
  readonly isGateHeld: (pod: DrainPod) => boolean;
  /** The current pod of this name, on any node. */
  readonly cached: (key: ObjectKey) => DrainPod | undefined;
}

/** All pods that must leave. */
export class EvictionIndex {
  readonly #options: EvictionIndexOptions;
  readonly #entries = new Map<Uid, EvictionEntry>();
  readonly #byNode = new Map<string, Set<EvictionEntry>>();
  readonly #budgets = budgetIndex();
  /** When a pod of a drain last left under each budget, monotonic. */
  readonly #slotsGivenMs = new Map<string, number>();
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
  readonly isCovering = (key: ObjectKey): boolean => this.#budgets.coversAny(key);
  readonly budgetsOf = ({ uid }: Pick<EvictionEntry, 'uid'>): readonly Budget[] =>
    this.#budgets.budgetsOf(uid);

  readonly add = (pod: DrainPod, request: EvictionRequest): EvictionEntry => {
    this.#budgets.putPod(pod);
    const { node, owner } = request;
    const entry: EvictionEntry = {
      uid: pod.uid,
      node,
      wantedMs: this.#options.monotonic(),
      pod,
      requests: new Map([[owner, request]]),
      terms: combinedTerms(request, []),
      facts: this.factsOf({ pod, node, requests: new Map([[owner, request]]) }),
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
    if (entry.requests.size === 0) entry.wantedMs = this.#options.monotonic();
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

  /** Returns the budgets that covered it. */
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

  /** Returns the pods whose coverage changed. */
  readonly putBudget = (budget: Budget): readonly EvictionEntry[] => {
    const moved = this.#budgets.putBudget(budget);
    const covered = this.#budgets.podsOf(budget.key).map(({ uid }) => uid);
    return this.#known(moved.length === 0 ? covered : new Set([...moved, ...covered]));
  };

  readonly removeBudget = (key: ObjectKey): readonly EvictionEntry[] => {
    this.#slotsGivenMs.delete(key);
    return this.#known(this.#budgets.removeBudget(key));
  };

  /** The pod leaves: its budgets gave a slot. */
  readonly setSlotGiven = (entry: EvictionEntry): void => {
    for (const { key } of this.budgetsOf(entry)) {
      this.#slotsGivenMs.set(key, this.#options.monotonic());
    }
  };

  /** How long its budgets have given no slot to any drain, while it waits. */
  readonly noSlotMs = (entry: EvictionEntry): number => {
    const given = this.budgetsOf(entry).map(({ key }) => this.#slotsGivenMs.get(key) ?? 0);
    return this.#options.monotonic() - Math.max(entry.wantedMs, ...given);
  };

  /** The current facts from the caches. */
  readonly factsOf = (entry: Pick<EvictionEntry, 'pod' | 'node' | 'requests'>): PodFacts => {
    const budgets = this.#budgets.budgetsOf(entry.pod.uid);
    return podFacts(entry.pod, budgets, {
      kubeletSilent: this.#options.isKubeletSilent(entry.node),
      intercepted: this.#interceptionOf(entry) !== undefined,
      // Once its gate is closed, the pod itself is the one that the budget lacks.
      serving: this.#options.isServing(entry.pod) &&
        (this.#options.isGateHeld(entry.pod) || !budgets.some(wouldHoldUnready)),
    });
  };

  /** Until the earliest deadline of its requests; `Infinity` without one. */
  readonly leftMs = ({ terms }: EvictionEntry): number =>
    terms.deadlineMs - this.#options.monotonic();

  /** Pods of one queue have the same rank, for those that need no slot. */
  readonly queueOf = ({ node, pod }: EvictionEntry): string =>
    this.#options.isOutdated(pod) ? `${node} old` : node;

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
    isOutdated: this.#options.isOutdated(pod),
  });

  /** Why it remains; `outcome` is the answer that still blocks it. */
  readonly blockerOf = (
    entry: EvictionEntry,
    outcome: EvictionOutcome | null,
  ): Blocker => {
    const { uid, pod, node, state } = entry;
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
      interception: this.#interceptionOf(entry),
      nowMs,
    });
  };

  /** The request's own imperative eviction is no longer asked first (ER-65). */
  #interceptionOf({ pod, requests }: Pick<EvictionEntry, 'pod' | 'requests'>): Blocker | undefined {
    const isImperative = requests.has('eviction-request');
    return isImperative ? undefined : this.#options.interceptionOf(pod.uid);
  }

  #known(uids: Iterable<Uid>): readonly EvictionEntry[] {
    return [...uids].flatMap((uid) => this.#entries.get(uid) ?? []);
  }

  /** Includes pods that no drain requested: their slots are taken as well. */
  #interruptedAt(budget: Budget, nowMs: number) {
    const named = Object.keys(budget.disruptedPods)
      .flatMap((name) => this.#options.cached(objectKey(name, budget.namespace)) ?? []);
    return interruptedEvictions(budget, named, nowMs);
  }
}
