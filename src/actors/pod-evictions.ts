/**
 * The registry of pods that are to leave: one root actor each, from the moment that a drain wants
 * it to leave until it is gone.
 *
 * Promises: nothing is asked for before the budgets are known; the last word on a call is spoken
 * when its first byte leaves, and it is no when the pod was released, is terminating, or is not the
 * one that has the name; a call that was sent is left to finish, and `settled` waits for it.
 */
import { Effect } from 'effect';
import { type Observable, Subject, Subscription } from 'rxjs';
import type { SnapshotFrom } from 'xstate';
import type { NodeProjection } from '../domain/cluster-node.ts';
import type { EvictionOutcome } from '../domain/drain/answer.ts';
import type { Blocker } from '../domain/drain/blocker.ts';
import type { Budget } from '../domain/drain/budget.ts';
import { sameFacts } from '../domain/drain/pod-facts.ts';
import type { DrainPod } from '../domain/drain/pod.ts';
import type { Fact } from '../domain/facts.ts';
import { objectKey, type Uid, uid as uidOf } from '../domain/ids.ts';
import type { Evictions } from '../effects/evictions.ts';
import type { SlotAnswer } from '../machines/budget.ts';
import type { podEviction, PodEvictionContext } from '../machines/pod-eviction.ts';
import { afterwards } from './afterwards.ts';
import { type BudgetActor, startBudgets } from './budgets.ts';
import { startEvictionPermits } from './eviction-permits.ts';
import { providePodEviction } from './pod-eviction-acts.ts';
import {
  type EvictionTerms,
  type LeavingPod,
  leavingPods,
  type PodEvictionActor,
} from './pod-eviction-roster.ts';
import type { Reflector } from './reflector.ts';
import { innermostState, stateCounts } from './state-counts.ts';
import type { World } from './world.ts';

export type { EvictionTerms } from './pod-eviction-roster.ts';

/** One pod of a drain, as its eviction sees it now. */
export interface PodStanding extends Blocker {
  /** The state of its statechart: `queued`, `calling`, `terminating`, … */
  readonly state: string;
  /** An eviction of it was accepted, by us or before us. */
  readonly accepted: boolean;
  /** An eviction of it was sent, or is about to be, and has no answer yet. */
  readonly inFlight: boolean;
}

/** Evictions as drains see them. */
export interface PodEvictions {
  /** This pod is to leave; idempotent; joins the queue of its budget when it needs a slot. */
  readonly want: (pod: DrainPod, terms: EvictionTerms) => void;
  /** Nothing new is sent for pods of this node; a call that was sent is left to finish. */
  readonly release: (node: string) => void;
  /** Where a pod stands; `undefined` when nobody wanted it, or it is gone. */
  readonly standing: (uid: Uid) => PodStanding | undefined;
  /** Says the node of a pod whose standing changed. */
  readonly changes: Observable<string>;
  /** Resolves when every call that was sent has its answer. */
  readonly settled: () => Promise<void>;
}

/** What evictions listen to. */
export interface PodEvictionsOptions {
  readonly pods: Pick<Reflector<DrainPod>, 'facts' | 'get'>;
  readonly budgets: Pick<Reflector<Budget>, 'facts' | 'progress'>;
  readonly nodes: Pick<Reflector<NodeProjection>, 'facts' | 'get'>;
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

/** After a defect of ours: long enough not to be a hot loop. */
const RESTART_MS = 30_000;

/** What an outcome means for the slot that the call had in hand. */
const slotAnswer = ({ _tag }: EvictionOutcome): SlotAnswer => {
  switch (_tag) {
    // The UID is looked at when the budget is charged already.
    case 'OtherPod':
    case 'Accepted':
      return 'Accepted';
    case 'BudgetExhausted':
    case 'BudgetUnsettled':
      return 'BudgetRefused';
    case 'Unknown':
      return 'Unknown';
    default:
      return 'Declined';
  }
};

/** How many calls were sent and have no answer. */
const callsOutside = () => {
  let outside = 0;
  let waiting: (() => void)[] = [];
  const comeBack = Effect.sync(() => {
    outside -= 1;
    if (outside > 0) return;
    for (const resolve of waiting) resolve();
    waiting = [];
  });
  return {
    counted: <Services>(act: Effect.Effect<EvictionOutcome, never, Services>) =>
      Effect.suspend(() => {
        outside += 1;
        return Effect.ensuring(act, comeBack);
      }),
    empty: (): Promise<void> =>
      outside === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve)),
  };
};

/** Starts with nobody to evict. */
export const startPodEvictions = (
  world: World<Evictions>,
  { pods, budgets: budgetCache, nodes, callsPerBudget = 1 }: PodEvictionsOptions,
): PodEvictionRegistry => {
  const { telemetry, time } = world;
  const roster = leavingPods({
    isKubeletSilent: (node) => nodes.get(objectKey(node))?.kubeletSilent === true,
    now: time.now,
  });
  const counts = stateCounts((state, count) =>
    telemetry.gauge('tidegate_pod_evictions', count, { state })
  );
  const changes = new Subject<string>();
  const later = afterwards(telemetry);
  const outside = callsOutside();
  let budgetsKnown = false;
  let stopped = false;
  let changed = new Set<string>();

  const flush = (): void => {
    const told = changed;
    changed = new Set();
    for (const node of told) changes.next(node);
  };
  const tell = (node: string): void => {
    if (stopped) return;
    changed.add(node);
    if (changed.size === 1) queueMicrotask(flush);
  };
  const budgets = startBudgets(world, {
    progress: budgetCache.progress,
    callsPerBudget,
    later,
    isCovering: (key) => roster.coveredBy(key).length > 0,
    onChange: (key) => {
      for (const { terms } of roster.coveredBy(key)) tell(terms.node);
    },
  });
  const permits = startEvictionPermits(world, {
    later,
    onChange: () => {
      for (const { terms, state } of roster.all()) if (state === 'asking') tell(terms.node);
    },
  });

  const standingOf = (leaving: LeavingPod): PodStanding => {
    const snapshot = leaving.actor?.getSnapshot();
    const isHeldUp = snapshot?.matches('heldUp') === true;
    const blocker = roster.blockerOf(leaving, isHeldUp ? snapshot.context.outcome : null);
    const everyone = leaving.state === 'asking' ? permits.standing() : undefined;
    return {
      ...blocker,
      ...everyone,
      state: leaving.state ?? 'early',
      accepted: leaving.pod.terminating || snapshot?.context.accepted === true,
      inFlight: leaving.state === 'calling',
    };
  };
  const remove = (leaving: LeavingPod): void => {
    if (!leaving.sighted) budgets.sighted(leaving.uid);
    for (const { key } of roster.leave(leaving)) budgets.review(key);
    budgets.forget(leaving.uid);
    counts.move(leaving.state, undefined);
    leaving.state = undefined;
    leaving.actor?.stop();
    tell(leaving.terms.node);
  };
  const moved = (leaving: LeavingPod, snapshot: SnapshotFrom<typeof podEviction>): void => {
    const state = innermostState(snapshot.value);
    if (state === leaving.state) return;
    counts.move(leaving.state, state);
    leaving.state = state;
    tell(leaving.terms.node);
    // After its last words.
    if (state === 'gone') later(() => remove(leaving));
  };
  const memberOf = ({ uid }: Pick<PodEvictionContext, 'uid'>): LeavingPod | undefined =>
    roster.get(uidOf(uid));
  /** The last word, in the step that sends the first byte. */
  const mayLeave = (leaving: LeavingPod): boolean => {
    const there = pods.get(leaving.pod.key);
    const may = !stopped && !leaving.released && there?.uid === leaving.uid && !there.terminating;
    leaving.withdrawn = !may;
    return may;
  };
  const isIn = ({ actor }: LeavingPod, state: 'asking' | 'queued'): boolean =>
    actor?.getSnapshot().matches(state) === true;
  const joinQueue = (leaving: LeavingPod): void => {
    const [budget] = roster.budgetsOf(leaving);
    if (budget === undefined) return;
    budgets.queue(budget, leaving.uid, {
      isWaiting: () => isIn(leaving, 'queued'),
      petition: () => roster.petitionOf(leaving),
      grant: () => leaving.actor?.send({ type: 'slot.granted' }),
    });
  };
  const askToCall = (leaving: LeavingPod): void => {
    if (stopped) return;
    permits.ask(leaving.uid, () => {
      const asks = isIn(leaving, 'asking');
      if (asks) leaving.actor?.send({ type: 'call.permitted' });
      return asks;
    });
  };
  /** For an action: afterwards, for the pod that it is about. */
  const about =
    (say: (leaving: LeavingPod, context: PodEvictionContext) => void) =>
    (context: PodEvictionContext): void =>
      later(() => {
        const leaving = memberOf(context);
        if (leaving !== undefined) say(leaving, context);
      });
  const logic = providePodEviction(world.runtime, {
    joinQueue: about(joinQueue),
    leaveQueue: about(({ uid }) => budgets.unqueue(uid)),
    askToCall: about(askToCall),
    leaveCalls: about(({ uid }) => {
      permits.withdraw(uid);
      budgets.answered(uid, 'Declined');
    }),
    tellAnswer: about((leaving, { outcome }) => {
      if (outcome === null) return;
      budgets.answered(leaving.uid, slotAnswer(outcome));
      permits.heard(outcome, leaving.withdrawn);
    }),
    callOf: (act) => {
      const leaving = memberOf(act);
      if (leaving !== undefined) leaving.withdrawn = false;
      return {
        namespace: leaving?.pod.namespace ?? '',
        name: leaving?.pod.name ?? '',
        uid: act.uid,
        mayLeave: () => leaving !== undefined && mayLeave(leaving),
      };
    },
    guarded: outside.counted,
  });
  const start = (leaving: LeavingPod): void => {
    leaving.facts = roster.factsOf(leaving);
    const actor = world.actor(logic, `podEviction/${leaving.pod.key}`, {
      uid: leaving.uid,
      key: leaving.pod.key,
      facts: leaving.facts,
      seed: world.seed(),
    });
    leaving.actor = actor;
    actor.subscribe({
      next: (snapshot) => moved(leaving, snapshot),
      error: (cause) => {
        telemetry.count('tidegate_actor_defects_total', 1, { machine: 'podEviction' });
        telemetry.log('error', 'The actor of an eviction failed by a defect and starts again', {
          pod: leaving.pod.key,
          problem: cause instanceof Error ? cause.stack : String(cause),
        });
        budgets.unqueue(leaving.uid);
        budgets.answered(leaving.uid, 'Unknown');
        time.schedule(RESTART_MS, () => {
          if (!stopped && roster.get(leaving.uid) === leaving) start(leaving);
        });
      },
    });
    actor.start();
    if (leaving.released) actor.send({ type: 'eviction.released' });
  };
  const observe = (leaving: LeavingPod): void => {
    const facts = roster.factsOf(leaving);
    // There any news of the pod is what is waited for.
    if (sameFacts(facts, leaving.facts) && leaving.state !== 'unsettled') return;
    leaving.facts = facts;
    leaving.actor?.send({ type: 'pod.observed', facts });
  };
  const take = (pod: DrainPod): void => {
    const leaving = roster.get(pod.uid);
    if (leaving === undefined) return;
    roster.take(leaving, pod);
    if (pod.terminating && !leaving.sighted) {
      leaving.sighted = true;
      budgets.sighted(pod.uid, pod.revision);
    }
    observe(leaving);
  };
  const lose = (last: DrainPod): void => {
    const leaving = roster.get(last.uid);
    if (leaving === undefined) return;
    // A list that lacks it does not say at which revision it went.
    const isTold = last.revision !== leaving.pod.revision;
    if (!leaving.sighted) budgets.sighted(last.uid, isTold ? last.revision : undefined);
    leaving.sighted = true;
    leaving.actor?.send({ type: 'pod.vanished' });
    if (leaving.actor === undefined) remove(leaving);
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
  const hearNodes = (fact: Fact<NodeProjection>): void => {
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
    release: (node) => {
      for (const leaving of roster.ofNode(node)) {
        if (leaving.released) continue;
        leaving.released = true;
        leaving.actor?.send({ type: 'eviction.released' });
        // What a call with an unknown outcome reserved is not asked for again.
        budgets.sighted(leaving.uid);
      }
    },
    standing: (uid) => {
      const leaving = roster.get(uid);
      return leaving === undefined ? undefined : standingOf(leaving);
    },
    changes,
    settled: outside.empty,
    actors: () => [
      ...[...roster.all()].flatMap(({ actor }) => actor ?? []),
      ...budgets.actors(),
    ],
    counts: counts.all,
    stop: async () => {
      stopped = true;
      subscription.unsubscribe();
      await outside.empty();
      for (const { actor } of roster.all()) actor?.stop();
      budgets.stop();
      permits.stop();
    },
  };
};
