/**
 * The registry of pods that are to leave: one root actor each, from the moment that a drain wants
 * it to leave until it is gone.
 *
 * Promises: nothing is asked for before the budgets are known; budgets are told what changed after
 * the pods that they cover; a call that was sent is left to finish, and `settled` waits for it.
 */
import { type Observable, Subject, Subscription } from 'rxjs';
import type { Budget } from '../../domain/drain/budget.ts';
import type { DrainedNode } from '../../domain/drain/drained-node.ts';
import type { DrainPod } from '../../domain/drain/pod.ts';
import type { Fact } from '../../domain/facts.ts';
import { objectKey, type Uid } from '../../domain/ids.ts';
import type { Evictions } from '../../effects/evictions.ts';
import { deferredSends } from '../deferred-sends.ts';
import { type BudgetActor, startBudgets } from './budgets.ts';
import { startEvictionPermits } from './eviction-permits.ts';
import {
  makeEvictionPopulation,
  type PodProgress,
  type PodStanding,
} from './pod-eviction-population.ts';
import {
  type EvictionTerms,
  type LeavingPod,
  leavingPods,
  type PodEvictionActor,
} from './pod-eviction-roster.ts';
import type { Informer } from '../informers/informer.ts';
import type { ActorEnvironment } from '../actor-environment.ts';

export type { PodProgress, PodStanding } from './pod-eviction-population.ts';
export type { EvictionTerms } from './pod-eviction-roster.ts';

/** Evictions as drains see them. */
export interface PodEvictions {
  /** This pod is to leave; idempotent; joins the queue of its budget when it needs a slot. */
  readonly want: (pod: DrainPod, terms: EvictionTerms) => void;
  /** Nothing new is sent for pods of this node; a call that was sent is left to finish. */
  readonly release: (node: string) => void;
  /** Where a pod stands; `undefined` when nobody wanted it, or it is gone. */
  readonly standing: (uid: Uid) => PodStanding | undefined;
  /** How far a pod is; `undefined` when nobody wanted it, or it is gone. */
  readonly progress: (uid: Uid) => PodProgress | undefined;
  /** Says the node of a pod whose standing changed. */
  readonly changes: Observable<string>;
  /** Resolves when every call that was sent has its answer. */
  readonly settled: () => Promise<void>;
}

/** What evictions listen to. */
export interface PodEvictionsOptions {
  readonly pods: Pick<Informer<DrainPod>, 'facts' | 'get'>;
  readonly budgets: Pick<Informer<Budget>, 'facts' | 'progress'>;
  readonly nodes: Pick<Informer<DrainedNode>, 'facts' | 'get'>;
  /** Calls in flight under one budget (DR-33); default 1. */
  readonly callsPerBudget?: number;
}

/** The registry, for those who look after it. */
export interface PodEvictionRegistry extends PodEvictions {
  readonly actors: () => Iterable<PodEvictionActor | BudgetActor>;
  /** Pods that are to leave, by state. */
  readonly counts: () => Readonly<Record<string, number>>;
  /** Sends nothing new, waits for what was sent, and ends. */
  readonly stop: () => Promise<void>;
}

/** Nodes whose pods stand otherwise, told once for all changes of a moment. */
const nodeChanges = () => {
  const changes = new Subject<string>();
  let changed = new Set<string>();
  const flush = (): void => {
    const told = changed;
    changed = new Set();
    for (const node of told) changes.next(node);
  };
  return {
    changes,
    tell: (node: string): void => {
      changed.add(node);
      if (changed.size === 1) queueMicrotask(flush);
    },
  };
};

const ofLeaving = <T>(
  leaving: LeavingPod | undefined,
  look: (leaving: LeavingPod) => T,
): T | undefined => leaving === undefined ? undefined : look(leaving);

/** Starts with nobody to evict. */
export const startPodEvictions = (
  environment: ActorEnvironment<Evictions>,
  { pods, budgets: budgetCache, nodes, callsPerBudget = 1 }: PodEvictionsOptions,
): PodEvictionRegistry => {
  const roster = leavingPods({
    isKubeletSilent: (node) => nodes.get(objectKey(node))?.kubeletSilent === true,
    now: environment.time.now,
    monotonic: environment.time.monotonic,
    cached: pods.get,
  });
  const later = deferredSends(environment.telemetry);
  let budgetsKnown = false;
  let stopped = false;
  const { changes, tell } = nodeChanges();
  const tellAll = (waiting: Iterable<LeavingPod>): void => {
    for (const { terms } of waiting) tell(terms.node);
  };
  const onChange = (): void => tellAll(roster.all());
  const permits = startEvictionPermits(environment, { later, onChange });
  const budgets = startBudgets(environment, {
    progress: budgetCache.progress,
    callsPerBudget,
    later,
    awaitTurn: permits.offer,
    isCovering: (key) => roster.coveredBy(key).length > 0,
    onChange: (key) => tellAll(roster.coveredBy(key)),
  });
  const { start, observe, ...population } = makeEvictionPopulation(environment, {
    roster,
    budgets,
    permits,
    later,
    cached: pods.get,
    tell,
  });

  const release = (leaving: LeavingPod): void => {
    if (leaving.released || leaving.state === 'gone') return;
    leaving.released = true;
    leaving.actor?.send({ type: 'eviction.released' });
    // What a call with an unknown outcome reserved is not asked for again.
    budgets.sighted(leaving.uid);
  };
  const take = (pod: DrainPod): void => {
    const leaving = roster.get(pod.uid);
    if (leaving === undefined) return;
    roster.take(leaving, pod);
    if (pod.terminating && !leaving.sighted) {
      leaving.sighted = true;
      budgets.sighted(pod.uid, pod.revision);
    }
    // Nothing of it runs any more: there is nobody to evict (DR-20).
    if (pod.finished) release(leaving);
    observe(leaving);
  };
  const lose = (last: DrainPod): void => {
    const leaving = roster.get(last.uid);
    if (leaving === undefined) return;
    // A list that lacks it does not say at which revision it went.
    const isTold = last.revision !== leaving.pod.revision;
    if (!leaving.sighted) budgets.sighted(last.uid, isTold ? last.revision : undefined);
    leaving.sighted = true;
    population.vanish(leaving);
  };
  const takeBudget = (budget: Budget): void => {
    for (const leaving of roster.putBudget(budget)) observe(leaving);
    budgets.observe(budget);
  };
  const hearPods = (fact: Fact<DrainPod>): void => {
    permits.watchHeard();
    if (fact._tag === 'Listed') fact.objects.forEach(take);
    else if (fact._tag === 'Present') take(fact.object);
    else lose(fact.last);
  };
  const hearBudgets = (fact: Fact<Budget>): void => {
    if (fact._tag === 'Present') return takeBudget(fact.object);
    if (fact._tag === 'Absent') {
      for (const leaving of roster.removeBudget(fact.key)) observe(leaving);
      return budgets.vanish(fact.key);
    }
    fact.objects.forEach(takeBudget);
    if (budgetsKnown) return;
    budgetsKnown = true;
    for (const leaving of roster.all()) start(leaving);
  };
  const hearNodes = (fact: Fact<DrainedNode>): void => {
    const names = fact._tag === 'Listed'
      ? fact.objects.map(({ name }) => name)
      : [fact._tag === 'Present' ? fact.object.name : fact.key];
    for (const leaving of names.flatMap(roster.ofNode)) observe(leaving);
  };
  const subscription = new Subscription();
  subscription.add(budgetCache.facts.subscribe(hearBudgets));
  subscription.add(budgetCache.progress.subscribe(permits.watchHeard));
  subscription.add(pods.facts.subscribe(hearPods));
  subscription.add(nodes.facts.subscribe(hearNodes));

  return {
    want: (pod, terms) => {
      const known = roster.get(pod.uid);
      if (known === undefined) {
        if (stopped || pods.get(pod.key)?.uid !== pod.uid) return;
        const leaving = roster.join(pod, terms);
        if (budgetsKnown) start(leaving);
        return;
      }
      known.terms = terms;
      if (!known.released) return;
      known.released = false;
      known.actor?.send({ type: 'eviction.wanted' });
    },
    release: (node) => roster.ofNode(node).forEach(release),
    standing: (uid) => ofLeaving(roster.get(uid), population.standing),
    progress: (uid) => ofLeaving(roster.get(uid), population.progress),
    changes,
    settled: population.settled,
    actors: () => [...[...roster.all()].flatMap(({ actor }) => actor ?? []), ...budgets.actors()],
    counts: population.counts,
    stop: async () => {
      stopped = true;
      population.close();
      subscription.unsubscribe();
      await population.settled();
      for (const { actor } of roster.all()) actor?.stop();
      budgets.stop();
      permits.stop();
    },
  };
};
