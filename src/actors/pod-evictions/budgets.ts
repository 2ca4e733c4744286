/**
 * The budgets that cover pods of drains: one root actor each, and the pods that queue at them.
 *
 * Promises: a budget has an actor while a pod of a drain is covered by it and queued at it once; a
 * free slot goes to the first in line over all drains (seed: drains, DR-34), and only when its call
 * can leave, so that nobody holds a slot and waits while another could go; a budget hears how far
 * the watch has come only while it waits for that, so that a thousand budgets cost nothing.
 */
import { type Observable, startWith, type Subscription, switchMap, timer } from 'rxjs';
import type { ActorRefFrom, SnapshotFrom } from 'xstate';
import { defectText } from '../../api/telemetry.ts';
import type { Budget } from '../../domain/drain/budget.ts';
import { nextInLine, type Petition } from '../../domain/drain/queue.ts';
import { type ObjectKey, objectKey, type Revision, revision, type Uid } from '../../domain/ids.ts';
import { budget as budgetChart, eligiblePods, type SlotAnswer } from '../../machines/budget.ts';
import type { Defer } from '../deferred-sends.ts';
import type { ActorEnvironment } from '../actor-environment.ts';

/** Longer than two bookmarks of the watch (DR-35). */
const SILENCE_MS = 120_000;
/** After a defect of ours: long enough not to be a hot loop. */
const RESTART_MS = 30_000;
/** A sighting that no watch gave: only time ends the reservation. */
const NOWHERE = revision('');
const NO_BUDGET = objectKey('');

/** Who comes first at a budget is looked at again after this time; the line moves slowly. */
const FIRST_FRESH_MS = 100;

/** A pod that queues for a slot. */
export interface SlotSeeker {
  /** False when it does not wait any more and has not said so yet. */
  readonly isWaiting: () => boolean;
  readonly petition: () => Petition;
  /** The slot is in hand. */
  readonly grant: () => void;
}

/** A slot that waits for its taker's call to be able to leave. */
export interface SlotOffer {
  /** The pod that would take it now; `undefined` when it is not offered any more. */
  readonly first: () => Petition | undefined;
  /** Hands it out; gives the pod that took it, if one did. */
  readonly hand: () => Uid | undefined;
}

/** What budgets are started with. */
export interface BudgetsOptions {
  /** How far the watch of budgets has come. */
  readonly progress: Observable<Revision>;
  readonly callsPerBudget: number;
  readonly later: Defer;
  /** A slot is free: calls back when the call of the first in line can leave. */
  readonly awaitTurn: (key: ObjectKey, offer: SlotOffer) => void;
  /** True while a pod that is to leave is covered by the budget. */
  readonly isCovering: (key: ObjectKey) => boolean;
  /** The queue of a budget moves, or does not any more. */
  readonly onChange: (key: ObjectKey) => void;
}

/** The budgets of all drains. */
export interface Budgets {
  readonly queue: (budget: Budget, pod: Uid, seeker: SlotSeeker) => void;
  readonly unqueue: (pod: Uid) => void;
  /** The call that had a slot in hand was answered, or given up. */
  readonly answered: (pod: Uid, answer: SlotAnswer) => void;
  /** The pod has a slot in hand and no answer yet. */
  readonly isCalling: (pod: Uid) => boolean;
  /** The pod was seen terminating or gone; without a revision when no watch said so. */
  readonly sighted: (pod: Uid, at?: Revision) => void;
  /** Nothing will be said of the pod any more. */
  readonly forget: (pod: Uid) => void;
  readonly observe: (budget: Budget) => void;
  readonly vanish: (key: ObjectKey) => void;
  /** Fewer pods may be covered now. */
  readonly review: (key: ObjectKey) => void;
  /** `undefined` when nobody ever queued at it. */
  readonly look: (key: ObjectKey) => SnapshotFrom<typeof budgetChart> | undefined;
  readonly actors: () => Iterable<BudgetActor>;
  readonly stop: () => void;
}

export type BudgetActor = ActorRefFrom<typeof budgetChart>;

interface Desk {
  readonly actor: BudgetActor;
  readonly seekers: Map<Uid, SlotSeeker>;
  /** Who came first when it was last looked at. */
  first: { readonly petition: Petition | undefined; readonly atMs: number } | undefined;
  state: string;
}

/** Nobody queues at first. */
export const startBudgets = <Services>(
  environment: ActorEnvironment<Services>,
  { progress, callsPerBudget, later, awaitTurn, isCovering, onChange }: BudgetsOptions,
): Budgets => {
  const { time, telemetry } = environment;
  const desks = new Map<ObjectKey, Desk>();
  /** Where a pod queues. */
  const queued = new Map<Uid, ObjectKey>();
  /** Where a pod has or had a slot in hand that may still be counted. */
  const holders = new Map<Uid, ObjectKey>();
  /** Budgets that wait for their watch to pass a sighting, or to say anything at all. */
  const expectant = new Set<ObjectKey>();

  const firstAt = (desk: Desk): Petition | undefined => {
    const snapshot = desk.actor.getSnapshot();
    // Something may have come between that took the offer back.
    if (!snapshot.hasTag('offering')) return undefined;
    const nowMs = time.monotonic();
    if (desk.first !== undefined && nowMs - desk.first.atMs < FIRST_FRESH_MS) {
      return desk.first.petition;
    }
    const pods = eligiblePods(snapshot.context, snapshot.matches('probing'));
    const petitions = pods.flatMap((pod) => {
      const seeker = desk.seekers.get(pod);
      return seeker?.isWaiting() === true ? [seeker.petition()] : [];
    });
    const petition = nextInLine(petitions, { budget: snapshot.context.budget, nowMs });
    desk.first = { petition, atMs: nowMs };
    return petition;
  };
  const hand = (key: ObjectKey, desk: Desk): Uid | undefined => {
    if (desks.get(key) !== desk || !desk.actor.getSnapshot().hasTag('offering')) return undefined;
    desk.first = undefined;
    const first = firstAt(desk);
    const seeker = first === undefined ? undefined : desk.seekers.get(first.pod);
    if (first === undefined || seeker === undefined) {
      desk.actor.send({ type: 'offer.declined' });
      return undefined;
    }
    holders.set(first.pod, key);
    queued.delete(first.pod);
    desk.seekers.delete(first.pod);
    const pod = { uid: first.pod, name: first.podName };
    desk.actor.send({ type: 'slot.taken', pod, nowMs: time.monotonic() });
    seeker.grant();
    return first.pod;
  };
  const offer = (key: ObjectKey): void => {
    const desk = desks.get(key);
    if (desk?.actor.getSnapshot().hasTag('offering') !== true) return;
    if (firstAt(desk) === undefined) return desk.actor.send({ type: 'offer.declined' });
    awaitTurn(key, {
      first: () => (desks.get(key) === desk ? firstAt(desk) : undefined),
      hand: () => hand(key, desk),
    });
  };
  const drop = (key: ObjectKey, desk: Desk): void => {
    desks.delete(key);
    expectant.delete(key);
    desk.actor.stop();
  };
  const review = (key: ObjectKey): void => {
    const desk = desks.get(key);
    if (desk === undefined) return;
    const { context } = desk.actor.getSnapshot();
    const busy = context.queue.length + context.calls.length + context.reservations.length > 0;
    if (!busy && (context.vanished || !isCovering(key))) drop(key, desk);
  };
  const moved = (key: ObjectKey, snapshot: SnapshotFrom<typeof budgetChart>): void => {
    const desk = desks.get(key);
    if (desk === undefined) return;
    desk.first = undefined;
    const { reservations, silent } = snapshot.context;
    if (silent || reservations.some(({ sightedAt }) => sightedAt !== null)) expectant.add(key);
    else expectant.delete(key);
    if (snapshot.matches('idle')) later(() => review(key));
    const state = String(snapshot.value);
    if (state === desk.state) return;
    desk.state = state;
    onChange(key);
  };
  const open = (budget: Budget): Desk => {
    const { key } = budget;
    const logic = budgetChart.provide({
      actions: { offerSlot: () => later(() => offer(key)) },
    });
    const actor = environment.actor(logic, `budget/${key}`, {
      budget,
      callsAtOnce: callsPerBudget,
      nowMs: time.monotonic(),
    });
    const desk: Desk = { actor, seekers: new Map(), first: undefined, state: 'counting' };
    desks.set(key, desk);
    actor.subscribe({
      next: (snapshot) => moved(key, snapshot),
      error: (cause) => {
        telemetry.count('tidegate_actor_defects_total', 1, { machine: 'budget' });
        telemetry.log('error', 'The actor of a budget failed by a defect', {
          budget: key,
          problem: defectText(cause),
        });
        if (desks.get(key) === desk) time.schedule(RESTART_MS, () => reopen(desk));
      },
    });
    actor.start();
    return desk;
  };
  const enqueue = (budget: Budget, pod: Uid, seeker: SlotSeeker): void => {
    const desk = desks.get(budget.key) ?? open(budget);
    desk.seekers.set(pod, seeker);
    queued.set(pod, budget.key);
    desk.actor.send({ type: 'pod.queued', pod });
  };
  const reopen = ({ actor, seekers }: Desk): void => {
    const { budget } = actor.getSnapshot().context;
    desks.delete(budget.key);
    for (const [pod, seeker] of seekers) enqueue(budget, pod, seeker);
  };
  const tellProgress = (reached: Revision): void => {
    if (expectant.size === 0) return;
    const nowMs = time.monotonic();
    for (const key of [...expectant]) {
      desks.get(key)?.actor.send({ type: 'watch.progressed', revision: reached, nowMs });
    }
  };
  const tellSilence = (): void => {
    const nowMs = time.monotonic();
    for (const { actor } of [...desks.values()]) actor.send({ type: 'watch.silenced', nowMs });
  };
  /** Where the pod has a slot in hand and no answer yet. */
  const calledFrom = (pod: Uid): Desk | undefined => {
    const desk = desks.get(holders.get(pod) ?? NO_BUDGET);
    const { calls = [] } = desk?.actor.getSnapshot().context ?? {};
    return calls.some((call) => call.pod === pod) ? desk : undefined;
  };
  const subscriptions: readonly Subscription[] = [
    progress.subscribe(tellProgress),
    progress.pipe(
      startWith(NOWHERE),
      switchMap(() => timer(SILENCE_MS, SILENCE_MS, environment.scheduler)),
    ).subscribe(tellSilence),
  ];

  return {
    queue: enqueue,
    unqueue: (pod) => {
      const desk = desks.get(queued.get(pod) ?? NO_BUDGET);
      queued.delete(pod);
      if (desk?.seekers.delete(pod) === true) desk.actor.send({ type: 'pod.unqueued', pod });
    },
    answered: (pod, answer) => {
      const desk = calledFrom(pod);
      // A call that needed no slot may follow one that did, and has nothing to give back.
      if (desk === undefined) return;
      if (answer === 'BudgetRefused' || answer === 'Declined') holders.delete(pod);
      desk.actor.send({
        type: 'call.answered',
        pod,
        answer,
        nowMs: time.monotonic(),
      });
    },
    isCalling: (pod) => calledFrom(pod) !== undefined,
    sighted: (pod, at = NOWHERE) => {
      const key = holders.get(pod);
      if (key === undefined) return;
      desks.get(key)?.actor.send({
        type: 'pod.sighted',
        pod,
        revision: at,
        nowMs: time.monotonic(),
      });
    },
    forget: (pod) => {
      holders.delete(pod);
    },
    observe: (budget) => {
      desks.get(budget.key)?.actor.send({
        type: 'budget.observed',
        budget,
        nowMs: time.monotonic(),
      });
      review(budget.key);
    },
    vanish: (key) => {
      desks.get(key)?.actor.send({ type: 'budget.vanished' });
      review(key);
    },
    review,
    look: (key) => desks.get(key)?.actor.getSnapshot(),
    actors: () => [...desks.values()].map(({ actor }) => actor),
    stop: () => {
      for (const subscription of subscriptions) subscription.unsubscribe();
      for (const { actor } of desks.values()) actor.stop();
    },
  };
};
