/**
 * The actors of all pods that are to leave, and what they say to budgets, to the permit and to the
 * API server.
 *
 * Promises: the last word on a call is spoken when its first byte leaves, and it is no when the pod
 * was released, is terminating, lacks a slot that it needs, or is not the one that has the name;
 * who is gone by an answer is not asked for again while the cache still shows it; one that ends by
 * a defect is started again.
 */
import { Effect } from 'effect';
import type { SnapshotFrom } from 'xstate';
import { defectText } from '../../api/telemetry.ts';
import type { EvictionOutcome } from '../../domain/drain/answer.ts';
import type { Blocker } from '../../domain/drain/blocker.ts';
import { sameFacts } from '../../domain/drain/pod-facts.ts';
import type { DrainPod } from '../../domain/drain/pod.ts';
import { type ObjectKey, uid as uidOf } from '../../domain/ids.ts';
import type { Evictions } from '../../effects/evictions.ts';
import type { SlotAnswer } from '../../machines/budget.ts';
import type { podEviction, PodEvictionContext } from '../../machines/pod-eviction.ts';
import type { Defer } from '../deferred-sends.ts';
import { innermostState, stateCounts } from '../state-counts.ts';
import type { ActorEnvironment } from '../actor-environment.ts';
import type { Budgets } from './budgets.ts';
import type { EvictionPermits } from './eviction-permits.ts';
import { type PodEvictionVoice, providePodEviction } from './pod-eviction-acts.ts';
import type { LeavingPod, LeavingPods } from './pod-eviction-roster.ts';

/** After a defect of ours: long enough not to be a hot loop. */
const RESTART_MS = 30_000;

/** One pod of a drain, as its eviction sees it now. */
export interface PodStanding extends Blocker {
  /** The state of its statechart: `queued`, `calling`, `terminating`, … */
  readonly state: string;
  /** An eviction of it was accepted, by us or before us. */
  readonly accepted: boolean;
  /** An eviction of it was sent, or is about to be, and has no answer yet. */
  readonly inFlight: boolean;
}

/** What a drain asks of each pod at every change, so that it must cost little. */
export interface PodProgress {
  readonly accepted: boolean;
  /** What forbids its eviction for good (`EvictionForbidden`); empty when nothing does. */
  readonly refusal: string;
}

/** What the actors need to know, and whom they speak to. */
export interface EvictionPopulationOptions {
  readonly roster: LeavingPods;
  readonly budgets: Budgets;
  readonly permits: EvictionPermits;
  readonly later: Defer;
  /** The pod that has this name now. */
  readonly cached: (key: ObjectKey) => DrainPod | undefined;
  /** The standing of a pod of this node changed. */
  readonly tell: (node: string) => void;
}

/** The actors of all pods that are to leave. */
export interface EvictionPopulation {
  readonly start: (leaving: LeavingPod) => void;
  /** Tells the actor what is new, if anything is. */
  readonly observe: (leaving: LeavingPod) => void;
  /** The pod is not there any more. */
  readonly vanish: (leaving: LeavingPod) => void;
  readonly standing: (leaving: LeavingPod) => PodStanding;
  readonly progress: (leaving: LeavingPod) => PodProgress;
  readonly counts: () => Readonly<Record<string, number>>;
  /** Resolves when every call that was sent has its answer. */
  readonly settled: () => Promise<void>;
  /** Sends nothing new. */
  readonly close: () => void;
}

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

/** An eviction of it was accepted, by us or before us. */
const wasAccepted = ({ pod, actor }: LeavingPod): boolean =>
  pod.terminating || actor?.getSnapshot().context.accepted === true;

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

/** How the statecharts of pods speak. */
const voiceOf = (
  { roster, budgets, permits, later, cached }: EvictionPopulationOptions,
  isClosed: () => boolean,
  guarded: PodEvictionVoice['guarded'],
): PodEvictionVoice => {
  const memberOf = ({ uid }: Pick<PodEvictionContext, 'uid'>): LeavingPod | undefined =>
    roster.get(uidOf(uid));
  /** A pod that became ready while its call waited needs a slot that it did not need before. */
  const hasSlot = (leaving: LeavingPod): boolean => {
    const { need } = roster.factsOf(leaving);
    return need._tag === 'None' || (need._tag === 'One' && budgets.isCalling(leaving.uid));
  };
  /** The last word, in the step that sends the first byte. */
  const mayLeave = (leaving: LeavingPod): boolean => {
    const there = cached(leaving.pod.key);
    const may = !isClosed() && !leaving.released && there?.uid === leaving.uid &&
      !there.terminating && hasSlot(leaving);
    leaving.withdrawn = !may;
    permits.left(leaving.uid);
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
    if (isClosed()) return;
    permits.ask(leaving.uid, leaving.terms.node, {
      petition: () => isIn(leaving, 'asking') ? roster.petitionOf(leaving) : undefined,
      go: () => leaving.actor?.send({ type: 'call.permitted' }),
    });
  };
  /** For an action: deferredSends, for the pod that it is about. */
  const about =
    (say: (leaving: LeavingPod, context: PodEvictionContext) => void) =>
    (context: PodEvictionContext): void =>
      later(() => {
        const leaving = memberOf(context);
        if (leaving !== undefined) say(leaving, context);
      });
  return {
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
      permits.left(leaving.uid);
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
    guarded,
  };
};

/** Nobody is to leave at first. */
export const makeEvictionPopulation = (
  environment: ActorEnvironment<Evictions>,
  options: EvictionPopulationOptions,
): EvictionPopulation => {
  const { roster, budgets, permits, later, cached, tell } = options;
  const { telemetry, time } = environment;
  const counts = stateCounts((state, count) =>
    telemetry.gauge('tidegate_pod_evictions', count, { state })
  );
  const outside = callsOutside();
  let closed = false;
  const logic = providePodEviction(
    environment.runtime,
    voiceOf(options, () => closed, outside.counted),
  );

  const remove = (leaving: LeavingPod): void => {
    if (!leaving.sighted) budgets.sighted(leaving.uid);
    for (const { key } of roster.leave(leaving)) budgets.review(key);
    budgets.forget(leaving.uid);
    permits.left(leaving.uid);
    counts.move(leaving.state, undefined);
    leaving.state = undefined;
    leaving.actor?.stop();
    tell(leaving.terms.node);
  };
  const retire = (leaving: LeavingPod): void => {
    if (cached(leaving.pod.key)?.uid !== leaving.uid) remove(leaving);
  };
  const moved = (leaving: LeavingPod, snapshot: SnapshotFrom<typeof podEviction>): void => {
    const state = innermostState(snapshot.value);
    if (state === leaving.state) return;
    counts.move(leaving.state, state);
    leaving.state = state;
    tell(leaving.terms.node);
    // After its last words.
    if (state === 'gone') later(() => retire(leaving));
  };
  const start = (leaving: LeavingPod): void => {
    leaving.facts = roster.factsOf(leaving);
    const actor = environment.actor(logic, `podEviction/${leaving.pod.key}`, {
      uid: leaving.uid,
      key: leaving.pod.key,
      node: leaving.terms.node,
      facts: leaving.facts,
      seed: environment.seed(),
    });
    leaving.actor = actor;
    actor.subscribe({
      next: (snapshot) => moved(leaving, snapshot),
      error: (cause) => {
        telemetry.count('tidegate_actor_defects_total', 1, { machine: 'podEviction' });
        telemetry.log('error', 'The actor of an eviction failed by a defect and starts again', {
          pod: leaving.pod.key,
          problem: defectText(cause),
        });
        budgets.unqueue(leaving.uid);
        budgets.answered(leaving.uid, 'Unknown');
        permits.left(leaving.uid);
        time.schedule(RESTART_MS, () => {
          if (!closed && roster.get(leaving.uid) === leaving) start(leaving);
        });
      },
    });
    actor.start();
    if (leaving.released) actor.send({ type: 'eviction.released' });
  };

  /** Nothing but the API server keeps its call from being made. */
  const asksNext = (leaving: LeavingPod): boolean => {
    const [budget] = leaving.state === 'queued' ? roster.budgetsOf(leaving) : [];
    return leaving.state === 'asking' ||
      (budget !== undefined && budgets.look(budget.key)?.hasTag('offering') === true);
  };

  return {
    start,
    observe: (leaving: LeavingPod): void => {
      if (leaving.state === 'gone') return;
      const facts = roster.factsOf(leaving);
      // There any news of the pod is what is waited for.
      if (sameFacts(facts, leaving.facts) && leaving.state !== 'unsettled') return;
      leaving.facts = facts;
      leaving.actor?.send({ type: 'pod.observed', facts });
    },
    vanish: (leaving) => {
      const isOver = leaving.actor === undefined || leaving.state === 'gone';
      if (isOver) later(() => remove(leaving));
      else leaving.actor?.send({ type: 'pod.vanished' });
    },
    standing: (leaving: LeavingPod): PodStanding => {
      const snapshot = leaving.actor?.getSnapshot();
      const isHeldUp = snapshot?.matches('heldUp') === true;
      const blocker = roster.blockerOf(leaving, isHeldUp ? snapshot.context.outcome : null);
      const everyone = asksNext(leaving) ? permits.standing() : undefined;
      return {
        ...blocker,
        ...everyone,
        state: leaving.state ?? 'early',
        accepted: wasAccepted(leaving),
        inFlight: leaving.state === 'calling',
      };
    },
    progress: (leaving: LeavingPod): PodProgress => {
      const snapshot = leaving.actor?.getSnapshot();
      const accepted = wasAccepted(leaving);
      if (snapshot?.matches('heldUp') !== true) return { accepted, refusal: '' };
      const { reason, text } = roster.blockerOf(leaving, snapshot.context.outcome);
      return { accepted, refusal: reason === 'EvictionForbidden' ? text : '' };
    },
    counts: counts.all,
    settled: outside.empty,
    close: () => {
      closed = true;
    },
  };
};
