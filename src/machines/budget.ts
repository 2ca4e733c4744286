/**
 * The slots of one PodDisruptionBudget, handed to the pods of all drains that queue for them.
 *
 * Promises: a slot is offered only when the newest status less what is reserved has one, or when
 * the pod that asks holds a reservation of its own; never more calls in flight than allowed; after
 * a refusal nothing is offered on the status that it was made on; a watch that has fallen silent is
 * probed by one call. Who gets the slot is decided where all drains are known.
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
  type Reservation,
} from '../domain/drain/slots.ts';
import type { Revision, Uid } from '../domain/ids.ts';
import { isOlder } from '../domain/revisions.ts';

/** Nothing ends by time alone: looked at again after a day, as timers may not be longer. */
const NO_END_MS = 24 * 3600 * 1000;

/** What an answer means for the slot that the call had in hand. */
export type SlotAnswer =
  /** The slot is taken; the status will show it. */
  | 'Accepted'
  /** The budget said no. */
  | 'BudgetRefused'
  /** Somebody else said no, or the call was not made: the slot is as free as before. */
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
  /** How far the watch of budgets has come. */
  readonly watched: Revision;
  /** The pods that queue for a slot. */
  readonly queue: readonly Uid[];
  /** The pods that have a slot in hand and no answer yet, with the status it was given on. */
  readonly calls: readonly { readonly pod: Uid; readonly on: Revision }[];
  readonly reservations: readonly Reservation[];
  /** The status on which the last call was refused. */
  readonly refusedAt: Revision | null;
  /** Its watch has said nothing for too long and no probe was sent since. */
  readonly silent: boolean;
  readonly vanished: boolean;
}

export type BudgetEvent =
  | { readonly type: 'budget.observed'; readonly budget: Budget; readonly nowMs: number }
  | { readonly type: 'budget.vanished' }
  | { readonly type: 'pod.queued'; readonly pod: Uid }
  | { readonly type: 'pod.unqueued'; readonly pod: Uid }
  /** An offer was taken: the pod has the slot in hand. */
  | {
    readonly type: 'slot.taken';
    readonly pod: SlotTaker;
    readonly nowMs: number;
  }
  /** An offer found nobody. */
  | { readonly type: 'offer.declined' }
  | {
    readonly type: 'call.answered';
    readonly pod: Uid;
    readonly answer: SlotAnswer;
    readonly nowMs: number;
  }
  /** A pod that has a reservation was seen terminating or gone. */
  | {
    readonly type: 'pod.departed';
    readonly pod: Uid;
    readonly revision: Revision;
    readonly nowMs: number;
  }
  | { readonly type: 'watch.progressed'; readonly revision: Revision; readonly nowMs: number }
  | { readonly type: 'watch.silenced'; readonly nowMs: number };

const free = ({ budget, reservations, refusedAt }: BudgetContext): number =>
  freeSlots(budget, reservations, refusedAt);

/** Pods that queue again after an answer that was lost: each still has its slot. */
const slotHolders = ({ queue, reservations }: BudgetContext): readonly Uid[] =>
  queue.filter((pod) => reservations.some((reservation) => reservation.pod === pod));

/** The pods that may be given the slot that is offered. */
export const eligiblePods = (context: BudgetContext, isProbe: boolean): readonly Uid[] =>
  isProbe || free(context) > 0 ? context.queue : slotHolders(context);

/** What of the context a newer view leaves. */
const settled = (context: BudgetContext): Pick<BudgetContext, 'reservations'> => ({
  reservations: openReservations(context.reservations, context),
});

const newer = (left: Revision, right: Revision): Revision => (isOlder(left, right) ? right : left);

const outcomes = {
  Accepted: 'Accepted',
  Declined: 'Refused',
  BudgetRefused: 'Refused',
  Unknown: 'Unknown',
} as const;

/** What the answer of a call leaves. */
const afterAnswer = (
  context: BudgetContext,
  { pod, answer, nowMs }: {
    readonly pod: Uid;
    readonly answer: SlotAnswer;
    readonly nowMs: number;
  },
): Partial<BudgetContext> => {
  const call = context.calls.find((one) => one.pod === pod);
  if (call === undefined) return {};
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

const declined = { target: 'counting', actions: 'clearQueue' } as const;

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
      calls: [...context.calls, { pod: pod.uid, on: context.budget.revision }],
      reservations: beginReservation(context.reservations, pod, context.budget),
    })),
    /** No queued pod waits any more. */
    clearQueue: assign({ queue: [] }),
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
    watched: input.budget.revision,
    queue: [],
    calls: inFlight.map(({ uid }) => ({ pod: uid, on: input.budget.revision })),
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
        const watched = newer(context.watched, seen.revision);
        const next = { ...context, budget: seen, watched, nowMs, vanished: false };
        return { ...next, ...settled(next) };
      }),
    },
    'budget.vanished': { target: '.counting', actions: assign({ vanished: true }) },
    'pod.queued': {
      target: '.counting',
      actions: assign(({ context, event }) =>
        context.queue.includes(event.pod) ? {} : { queue: [...context.queue, event.pod] }
      ),
    },
    'pod.unqueued': {
      target: '.counting',
      actions: assign(({ context, event }) => ({
        queue: context.queue.filter((pod) => pod !== event.pod),
      })),
    },
    'call.answered': {
      target: '.counting',
      actions: assign(({ context, event }) => afterAnswer(context, event)),
    },
    'pod.departed': {
      target: '.counting',
      actions: assign(({ context, event: { pod, revision, nowMs } }) => {
        const departure = { revision, nowMs };
        const reservations = departReservation(context.reservations, pod, departure);
        const next = { ...context, nowMs, reservations };
        return { nowMs, ...settled(next) };
      }),
    },
    'watch.progressed': {
      target: '.counting',
      actions: assign(({ context, event: { revision, nowMs } }) => {
        const next = { ...context, nowMs, watched: newer(context.watched, revision) };
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
      description: 'A slot is free; waiting for the dispatcher to give it to the first pod.',
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
