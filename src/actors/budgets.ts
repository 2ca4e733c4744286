/**
 * The budgets that cover pods of drains: one root actor each, and the pods that queue at them.
 *
 * Promises: a budget has an actor while a pod of a drain is covered by it and queued at it once; a
 * free slot goes to the first in line over all drains (seed: drains, DR-34); a budget hears how far
 * the watch has come only while it waits for that, so that a thousand budgets cost nothing.
 */
import { type Observable, startWith, type Subscription, switchMap, timer } from 'rxjs';
import type { ActorRefFrom, SnapshotFrom } from 'xstate';
import type { Budget } from '../domain/drain/budget.ts';
import { nextInLine, type Petition } from '../domain/drain/queue.ts';
import { type ObjectKey, objectKey, type Revision, revision, type Uid } from '../domain/ids.ts';
import { budget as budgetChart, eligiblePods, type SlotAnswer } from '../machines/budget.ts';
import type { Afterwards } from './afterwards.ts';
import type { World } from './world.ts';

/** Longer than two bookmarks of the watch (DR-35). */
const SILENCE_MS = 120_000;
/** After a defect of ours: long enough not to be a hot loop. */
const RESTART_MS = 30_000;
/** A sighting that no watch gave: only time ends the reservation. */
const NOWHERE = revision('');
const NO_BUDGET = objectKey('');

/** A pod that queues for a slot. */
export interface SlotSeeker {
  /** False when it does not wait any more and has not said so yet. */
  readonly isWaiting: () => boolean;
  readonly petition: () => Petition;
  /** The slot is in hand. */
  readonly grant: () => void;
}

/** What budgets are started with. */
export interface BudgetsOptions {
  /** How far the watch of budgets has come. */
  readonly progress: Observable<Revision>;
  readonly callsPerBudget: number;
  readonly later: Afterwards;
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
  state: string;
}

/** Nobody queues at first. */
export const startBudgets = <Services>(
  world: World<Services>,
  { progress, callsPerBudget, later, isCovering, onChange }: BudgetsOptions,
): Budgets => {
  const { time, telemetry } = world;
  const desks = new Map<ObjectKey, Desk>();
  /** Where a pod queues. */
  const queued = new Map<Uid, ObjectKey>();
  /** Where a pod has or had a slot in hand that may still be counted. */
  const holders = new Map<Uid, ObjectKey>();
  /** Budgets that wait for their watch to pass a sighting, or to say anything at all. */
  const expectant = new Set<ObjectKey>();

  const offer = (key: ObjectKey): void => {
    const desk = desks.get(key);
    const snapshot = desk?.actor.getSnapshot();
    // Something came between that took the offer back.
    if (desk === undefined || snapshot?.hasTag('offering') !== true) return;
    const nowMs = time.monotonic();
    const pods = eligiblePods(snapshot.context, snapshot.matches('probing'));
    const petitions = pods.flatMap((pod) => {
      const seeker = desk.seekers.get(pod);
      return seeker?.isWaiting() === true ? [seeker.petition()] : [];
    });
    const first = nextInLine(petitions, { budget: snapshot.context.budget, nowMs });
    const seeker = first === undefined ? undefined : desk.seekers.get(first.pod);
    if (first === undefined || seeker === undefined) {
      return desk.actor.send({ type: 'offer.declined' });
    }
    holders.set(first.pod, key);
    queued.delete(first.pod);
    desk.seekers.delete(first.pod);
    desk.actor.send({ type: 'slot.taken', pod: { uid: first.pod, name: first.podName }, nowMs });
    seeker.grant();
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
    const actor = world.actor(logic, `budget/${key}`, {
      budget,
      callsAtOnce: callsPerBudget,
      nowMs: time.monotonic(),
    });
    const desk: Desk = { actor, seekers: new Map(), state: 'counting' };
    desks.set(key, desk);
    actor.subscribe({
      next: (snapshot) => moved(key, snapshot),
      error: (cause) => {
        telemetry.count('tidegate_actor_defects_total', 1, { machine: 'budget' });
        telemetry.log('error', 'The actor of a budget failed by a defect', {
          budget: key,
          problem: cause instanceof Error ? cause.stack : String(cause),
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
  const subscriptions: readonly Subscription[] = [
    progress.subscribe(tellProgress),
    progress.pipe(
      startWith(NOWHERE),
      switchMap(() => timer(SILENCE_MS, SILENCE_MS, world.scheduler)),
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
      const key = holders.get(pod);
      const desk = key === undefined ? undefined : desks.get(key);
      // A call that needed no slot may follow one that did, and has nothing to give back.
      if (desk?.actor.getSnapshot().context.calls.some((call) => call.pod === pod) !== true) return;
      if (answer === 'BudgetRefused' || answer === 'Declined') holders.delete(pod);
      desk.actor.send({
        type: 'call.answered',
        pod,
        answer,
        nowMs: time.monotonic(),
      });
    },
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
