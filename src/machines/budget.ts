/**
 * The slots of one PodDisruptionBudget, shared by the pods of all drains that queue for them.
 *
 * Promises: a slot is offered only when the newest status minus the reservations has one, or when
 * the requesting pod already holds a reservation; calls in flight are limited; after a refusal no
 * slot is offered on the same status; a stale watch is probed by one call. The dispatcher, which
 * sees all drains, chooses the pod.
 */
import { assign, setup } from 'xstate';
import type { ReasonName } from '../api/reasons.ts';
import type { Budget } from '../domain/drain/budget.ts';
import {
  answerReservation,
  beginReservation,
  departReservation,
  freeSlots,
  nextReservationEndMs,
  openReservations,
  releaseReservation,
  type Reservation,
  retainReservation,
} from '../domain/drain/slots.ts';
import type { ResourceVersion, Uid } from '../domain/ids.ts';
import { isOlder } from '../domain/resource-versions.ts';

/**
 * No reservation expires by time alone: check again after a day, because timers may not be longer.
 */
const NO_END_MS = 24 * 3600 * 1000;

/** The effect of an answer on the slot of the call. */
export type SlotAnswer =
  /** The slot is taken; the status will include it. */
  | 'Accepted'
  /** The budget refused. */
  | 'BudgetRefused'
  /** Another refusal, or the call was not made: the slot is still free. */
  | 'Declined'
  | 'Unknown';

/** A pod that takes a slot. */
export interface SlotTaker {
  readonly uid: Uid;
  readonly name: string;
}

export interface BudgetInput {
  readonly budget: Budget;
  readonly callsAtOnce: number;
  /** Pods whose evictions are in flight already. */
  readonly inFlight: readonly SlotTaker[];
  readonly nowMs: number;
}

export interface BudgetContext extends Omit<BudgetInput, 'inFlight'> {
  /** The progress of the budget watch. */
  readonly watched: ResourceVersion;
  /** The pods that queue for a slot. */
  readonly queue: readonly Uid[];
  /** The pods that hold a slot without an answer yet, with the status at that time. */
  readonly calls: readonly { readonly pod: Uid; readonly on: ResourceVersion }[];
  readonly reservations: readonly Reservation[];
  /** The status at the last refusal. */
  readonly refusedAt: ResourceVersion | null;
  /** Its watch is stale and no probe was sent since. */
  readonly silent: boolean;
  readonly vanished: boolean;
}

/** Each has its time: what counts again measures the rest of a reservation from there. */
export type BudgetEvent =
  | { readonly type: 'budget.observed'; readonly budget: Budget; readonly nowMs: number }
  | { readonly type: 'budget.vanished'; readonly nowMs: number }
  | { readonly type: 'pod.queued'; readonly pod: Uid; readonly nowMs: number }
  | { readonly type: 'pod.unqueued'; readonly pod: Uid; readonly nowMs: number }
  /** An offer was taken: the pod holds the slot. */
  | {
    readonly type: 'slot.taken';
    readonly pod: SlotTaker;
    readonly nowMs: number;
  }
  /** No pod took the offer. */
  | { readonly type: 'offer.declined'; readonly nowMs: number }
  | {
    readonly type: 'call.answered';
    readonly pod: Uid;
    readonly answer: SlotAnswer;
    readonly nowMs: number;
  }
  /** A pod with a reservation was observed terminating or gone. */
  | {
    readonly type: 'pod.departed';
    readonly pod: Uid;
    readonly resourceVersion: ResourceVersion;
    readonly nowMs: number;
  }
  | { readonly type: 'pod.released'; readonly pod: Uid; readonly nowMs: number }
  /** A released pod must leave after all. */
  | { readonly type: 'pod.wanted'; readonly pod: Uid; readonly nowMs: number }
  | {
    readonly type: 'watch.progressed';
    readonly resourceVersion: ResourceVersion;
    readonly nowMs: number;
  }
  | { readonly type: 'watch.silenced'; readonly nowMs: number };

const free = ({ budget, reservations, refusedAt }: BudgetContext): number =>
  freeSlots(budget, reservations, refusedAt);

/** Pods that queue again after a lost answer: each still holds its slot. */
const slotHolders = ({ queue, reservations }: BudgetContext): readonly Uid[] =>
  queue.filter((pod) => reservations.some((reservation) => reservation.pod === pod));

/** The pods that may take the offered slot. */
export const eligiblePods = (context: BudgetContext, isProbe: boolean): readonly Uid[] =>
  isProbe || free(context) > 0 ? context.queue : slotHolders(context);

/** The context after a newer observation. */
const settled = (context: BudgetContext): Pick<BudgetContext, 'reservations'> => ({
  reservations: openReservations(context.reservations, context),
});

const newer = (
  left: ResourceVersion,
  right: ResourceVersion,
): ResourceVersion => (isOlder(left, right) ? right : left);

const outcomes = {
  Accepted: 'Accepted',
  Declined: 'Refused',
  BudgetRefused: 'Refused',
  Unknown: 'Unknown',
} as const;

/** The context after an answer. */
const afterAnswer = (
  context: BudgetContext,
  { pod, answer, nowMs }: {
    readonly pod: Uid;
    readonly answer: SlotAnswer;
    readonly nowMs: number;
  },
): Partial<BudgetContext> => {
  const call = context.calls.find((one) => one.pod === pod);
  if (call === undefined) return { nowMs };
  const refusedAt = answer === 'BudgetRefused' ? call.on : context.refusedAt;
  const outcome = outcomes[answer];
  const reservations = answerReservation(context.reservations, pod, { outcome, nowMs });
  const next = {
    ...context,
    nowMs,
    refusedAt,
    reservations,
    calls: context.calls.filter((one) => one !== call),
  };
  return { ...next, ...settled(next) };
};

/** A slot that a pod took. */
type Offer = Pick<Extract<BudgetEvent, { readonly type: 'slot.taken' }>, 'pod' | 'nowMs'>;

const taken = {
  target: 'counting',
  actions: { type: 'addCall', params: ({ event }: { readonly event: Offer }) => event },
} as const;

const declined = {
  target: 'counting',
  actions: {
    type: 'clearQueue',
    params: ({ event }: { readonly event: { readonly nowMs: number } }) => event,
  },
} as const;

/** The statechart of a budget's slots; `src/actors/pod-evictions` provides its action. */
export const budget = setup({
  types: {
    context: {} as BudgetContext,
    events: {} as BudgetEvent,
    input: {} as BudgetInput,
    meta: {} as { readonly reason: ReasonName },
    tags: {} as 'waiting' | 'acting' | 'settled' | 'offering',
  },
  actions: {
    /** To one of `eligiblePods`; answered by `slot.taken` or `offer.declined`. */
    offerSlot: () => {},
    addCall: assign(({ context }, { pod, nowMs }: Offer) => ({
      nowMs,
      queue: context.queue.filter((uid) => uid !== pod.uid),
      calls: [...context.calls, { pod: pod.uid, on: context.budget.resourceVersion }],
      reservations: beginReservation(context.reservations, pod, context.budget),
    })),
    /** No queued pod waits any more. */
    clearQueue: assign((_, { nowMs }: { readonly nowMs: number }) => ({ nowMs, queue: [] })),
    endReservations: assign(({ context }) => {
      const nowMs = nextReservationEndMs(context.reservations) ?? context.nowMs;
      return { nowMs, ...settled({ ...context, nowMs }) };
    }),
  },
  guards: {
    callsFull: ({ context }) => context.calls.length >= context.callsAtOnce,
    queueEmpty: ({ context }) => context.queue.length === 0 || context.vanished,
    slotFree: ({ context }) => free(context) > 0 || slotHolders(context).length > 0,
    probeDue: ({ context }) => context.silent,
  },
  delays: {
    reservationEnd: ({ context }) => {
      const endMs = nextReservationEndMs(context.reservations);
      return endMs === null ? NO_END_MS : Math.max(0, endMs - context.nowMs);
    },
  },
}).createMachine({
  id: 'budget',
  description: 'The slots of one PodDisruptionBudget.',
  context: ({ input: { inFlight, ...input } }) => ({
    ...input,
    watched: input.budget.resourceVersion,
    queue: [],
    calls: inFlight.map(({ uid }) => ({ pod: uid, on: input.budget.resourceVersion })),
    reservations: inFlight.reduce<readonly Reservation[]>(
      (reservations, pod) => beginReservation(reservations, pod, input.budget),
      [],
    ),
    refusedAt: null,
    silent: false,
    vanished: false,
  }),
  initial: 'counting',
  on: {
    'budget.observed': {
      target: '.counting',
      actions: assign(({ context, event: { budget: seen, nowMs } }) => {
        const watched = newer(context.watched, seen.resourceVersion);
        const next = { ...context, budget: seen, watched, nowMs, vanished: false };
        return { ...next, ...settled(next) };
      }),
    },
    'budget.vanished': {
      target: '.counting',
      actions: assign(({ event: { nowMs } }) => ({ nowMs, vanished: true })),
    },
    'pod.queued': {
      target: '.counting',
      actions: assign(({ context: { queue }, event: { pod, nowMs } }) => ({
        nowMs,
        queue: queue.includes(pod) ? queue : [...queue, pod],
      })),
    },
    'pod.unqueued': {
      target: '.counting',
      actions: assign(({ context, event: { pod: unqueued, nowMs } }) => ({
        nowMs,
        queue: context.queue.filter((pod) => pod !== unqueued),
      })),
    },
    'call.answered': {
      target: '.counting',
      actions: assign(({ context, event }) => afterAnswer(context, event)),
    },
    'pod.departed': {
      target: '.counting',
      actions: assign(({ context, event: { pod, resourceVersion, nowMs } }) => {
        const departure = { resourceVersion, nowMs };
        const reservations = departReservation(context.reservations, pod, departure);
        const next = { ...context, nowMs, reservations };
        return { nowMs, ...settled(next) };
      }),
    },
    'pod.released': {
      target: '.counting',
      actions: assign(({ context, event: { pod, nowMs } }) => {
        const reservations = releaseReservation(context.reservations, pod, nowMs);
        const next = { ...context, nowMs, reservations };
        return { nowMs, ...settled(next) };
      }),
    },
    'pod.wanted': {
      target: '.counting',
      actions: assign(({ context, event: { pod, nowMs } }) => ({
        nowMs,
        reservations: retainReservation(context.reservations, pod),
      })),
    },
    'watch.progressed': {
      target: '.counting',
      actions: assign(({ context, event: { resourceVersion, nowMs } }) => {
        const next = { ...context, nowMs, watched: newer(context.watched, resourceVersion) };
        return { ...next, silent: false, ...settled(next) };
      }),
    },
    'watch.silenced': {
      target: '.counting',
      actions: assign(({ event: { nowMs } }) => ({ nowMs, silent: true })),
    },
  },
  states: {
    counting: {
      description: 'Counts free slots, reservations and queued pods.',
      always: [
        { guard: 'callsFull', target: 'occupied' },
        { guard: 'queueEmpty', target: 'idle' },
        { guard: 'slotFree', target: 'offering' },
        { guard: 'probeDue', target: 'probing' },
        { target: 'exhausted' },
      ],
    },
    idle: {
      description: 'No pod waits for a slot.',
      tags: 'settled',
      after: { reservationEnd: { target: 'counting', actions: 'endReservations' } },
    },
    offering: {
      description: 'A slot is free; waiting for the dispatcher to assign it.',
      tags: ['acting', 'offering'],
      entry: 'offerSlot',
      on: { 'slot.taken': taken, 'offer.declined': declined },
    },
    occupied: {
      description: 'The maximum of evictions is in flight; waiting for their answers.',
      tags: 'acting',
      after: { reservationEnd: { target: 'counting', actions: 'endReservations' } },
    },
    exhausted: {
      description: 'No slot is free; waiting for the status of the budget to change.',
      meta: { reason: 'BlockedByBudget' },
      tags: 'waiting',
      after: { reservationEnd: { target: 'counting', actions: 'endReservations' } },
    },
    probing: {
      description: 'Watch stale: one eviction probes the API server.',
      tags: ['acting', 'offering'],
      entry: ['offerSlot', assign({ silent: false })],
      on: { 'slot.taken': taken, 'offer.declined': declined },
    },
  },
});
