/** The slots of one budget, walked through every configuration. */
import { expect } from 'vitest';
import type { Budget } from '../../src/domain/drain/budget.ts';
import { freeSlots, nextReservationEndMs, openReservations } from '../../src/domain/drain/slots.ts';
import { textAt } from '../../src/domain/json.ts';
import { objectKey, resourceVersion, uid } from '../../src/domain/ids.ts';
import { isOlder } from '../../src/domain/resource-versions.ts';
import { budget, type BudgetContext, type SlotAnswer } from '../../src/machines/budget.ts';
import type { Received } from './harness/crash.ts';
import type { Step } from './harness/interpreter.ts';
import { exactly, isTimer, must } from './harness/step-invariants.ts';
import { describeModel } from './model.ts';

const [P1, P2] = [uid('u1'), uid('u2')];

const status = (at: number, allowed: number, more: Partial<Budget> = {}): Budget => ({
  key: objectKey('db', 'ns'),
  uid: uid('b1'),
  resourceVersion: resourceVersion(`${at}`),
  namespace: 'ns',
  name: 'db',
  selector: [],
  unhealthyPods: 'IfHealthyBudget',
  generation: 1,
  observedGeneration: 1,
  disruptionsAllowed: allowed,
  currentHealthy: 4,
  desiredHealthy: 3,
  expectedPods: 4,
  limit: null,
  disruptedPods: {},
  countsControllers: false,
  syncProblem: '',
  ...more,
});

const FULL = status(20, 0, { disruptedPods: { p1: 1 } });

const ANSWERS: readonly SlotAnswer[] = ['Accepted', 'BudgetRefused', 'Declined', 'Unknown'];

/** What outlives the process: the budget, and the pods that still are to leave. */
interface World {
  readonly budget: Budget;
  /** Queued pods and pods with an eviction in flight, none of them observed as gone. */
  readonly queued: readonly string[];
  readonly called: readonly string[];
  /** The last thing that was heard led to an offer. */
  readonly offered: boolean;
}

const without = (pods: readonly string[], pod: string): readonly string[] =>
  pods.filter((one) => one !== pod);
const including = (pods: readonly string[], pod: string): readonly string[] =>
  [...without(pods, pod), pod].toSorted();

/** Each answer is for one call. */
const withoutOne = (pods: readonly string[], pod: string): readonly string[] =>
  pods.filter((_, at) => at !== pods.indexOf(pod));

/** The pod that takes a slot. */
const takerIn = (event: Readonly<Record<string, unknown>>): string =>
  textAt(event, 'pod', 'uid') ?? '';

const FIRST = status(10, 1);
const INPUTS = [
  { budget: FIRST, callsAtOnce: 1, inFlight: [], nowMs: 0 },
  { budget: status(10, 2), callsAtOnce: 2, inFlight: [], nowMs: 0 },
];
const NEWER = status(30, 1);

const recorded = (world: World, { event, actions }: Received): World => {
  const pod = String(event['pod']);
  const now = { ...world, offered: actions.includes('offerSlot') };
  switch (event.type) {
    case 'budget.observed':
      return { ...now, budget: event['budget'] === FULL ? FULL : NEWER };
    case 'pod.queued':
      return { ...now, queued: including(world.queued, pod) };
    case 'pod.unqueued':
      return { ...now, queued: without(world.queued, pod) };
    case 'call.answered':
      return { ...now, called: withoutOne(world.called, pod) };
    case 'slot.taken':
      return !world.offered ? world : {
        ...now,
        queued: without(world.queued, takerIn(event)),
        called: [...world.called, takerIn(event)].toSorted(),
      };
    case 'offer.declined':
      return world.offered ? { ...now, queued: [] } : world;
    default:
      return now;
  }
};

const free = ({ budget: current, reservations, refusedAt }: BudgetContext): number =>
  freeSlots(current, reservations, refusedAt);

/** Where it must be: a slot is offered exactly when there is one for a pod that queues. */
const stateOf = (context: BudgetContext, wasSilent: boolean): string => {
  const { calls, callsAtOnce, queue, vanished, reservations } = context;
  if (calls.length >= callsAtOnce) return 'occupied';
  if (queue.length === 0 || vanished) return 'idle';
  const holds = reservations.some(({ pod }) => queue.includes(pod));
  if (holds || free(context) > 0) return 'offering';
  return wasSilent ? 'probing' : 'exhausted';
};

const moves = (step: Step): void => {
  const { event, before, after, transitions } = step;
  if (event.type !== 'xstate.init' && transitions.length === 0) return;
  const context: BudgetContext = after.context;
  const hasProgressed = event.type === 'watch.progressed';
  const wasSilent = event.type === 'watch.silenced' || (!hasProgressed && before.context.silent);
  const state = stateOf(context, wasSilent);
  must(after.matches(state), `"${event.type}" leads to ${String(after.value)}, not to ${state}`);
  exactly(step, 'offerSlot', state === 'offering' || state === 'probing');
  must(context.silent === (wasSilent && state !== 'probing'), 'one probe for each silence');
  must(
    openReservations(context.reservations, context).length === context.reservations.length,
    'a reservation ends when the status includes it',
  );
  if (isTimer(step, 'reservationEnd')) {
    const next = nextReservationEndMs(context.reservations);
    must(next === null || next > context.nowMs, 'a reservation outlives its time');
  }
};

/** What was heard last is what is known. */
const remembers = ({ event, before, after, transitions }: Step): void => {
  const was: BudgetContext = before.context;
  const now: BudgetContext = after.context;
  const pod = textAt(event, 'pod') ?? takerIn(event);
  const has = (pods: readonly { readonly pod: string }[]) => pods.some((one) => one.pod === pod);
  if (typeof event['nowMs'] === 'number' && transitions.length > 0) {
    must(now.nowMs === event['nowMs'], 'the rest of a reservation is measured from the event');
  }
  switch (event.type) {
    case 'budget.observed':
      must(now.budget === event['budget'] && !now.vanished, 'the budget is as it was seen last');
      return;
    case 'budget.vanished':
      return must(now.vanished, 'a deleted budget has no slots');
    case 'pod.queued':
      return must(now.queue.some((one) => one === pod), 'a pod queues');
    case 'pod.unqueued':
      return must(!now.queue.some((one) => one === pod), 'a pod queues no more');
    case 'slot.taken':
      if (transitions.length === 0) return;
      must(has(now.calls) && has(now.reservations), 'whoever takes a slot holds it');
      return must(!now.queue.some((one) => one === pod), 'a pod with a slot queues no more');
    case 'offer.declined':
      return must(transitions.length === 0 || now.queue.length === 0, 'nobody wants a slot');
    case 'call.answered': {
      const callsOf = ({ calls }: BudgetContext) => calls.filter((one) => one.pod === pod).length;
      must(
        callsOf(now) === Math.max(0, callsOf(was) - 1),
        'an answered call is in flight no more',
      );
      if (!has(was.calls)) return;
      const isRefusal = event['answer'] === 'Declined' || event['answer'] === 'BudgetRefused';
      if (isRefusal && !has(now.calls)) {
        must(!has(now.reservations), 'a refusal gives the slot back');
      }
      if (event['answer'] === 'BudgetRefused') must(now.refusedAt !== null, 'a budget refused');
      return;
    }
    case 'pod.departed': {
      const held = now.reservations.find((one) => one.pod === pod);
      return must(held === undefined || held.departedAt !== null, 'a departure is noted');
    }
    case 'watch.progressed':
      return must(
        now.watched === event['resourceVersion'] ||
          isOlder(resourceVersion(String(event['resourceVersion'])), now.watched),
        'the watch has progressed',
      );
  }
};

/** A refusal on a version that the budget has left says nothing any more. */
const isPast = (
  refusedAt: BudgetContext['refusedAt'],
  current: BudgetContext['watched'],
): boolean => refusedAt !== null && isOlder(refusedAt, current);

describeModel('budget', {
  machine: budget,
  inputs: INPUTS,
  events: {
    'budget.observed': [
      { budget: FULL, nowMs: 0 },
      { budget: NEWER, nowMs: 0 },
    ],
    'budget.vanished': [{ nowMs: 0 }],
    'offer.declined': [{ nowMs: 0 }],
    'pod.queued': [{ pod: P1, nowMs: 0 }, { pod: P2, nowMs: 0 }],
    'pod.unqueued': [{ pod: P1, nowMs: 0 }, { pod: P2, nowMs: 0 }],
    'slot.taken': [
      { pod: { uid: P1, name: 'p1' }, nowMs: 0 },
      { pod: { uid: P2, name: 'p2' }, nowMs: 0 },
    ],
    'call.answered': [
      ...ANSWERS.map((answer) => ({ pod: P1, answer, nowMs: 0 })),
      { pod: P2, answer: 'Declined', nowMs: 0 },
    ],
    'pod.departed': [{ pod: P1, resourceVersion: resourceVersion('25'), nowMs: 0 }],
    'pod.released': [{ pod: P1, nowMs: 0 }],
    'pod.wanted': [{ pod: P1, nowMs: 0 }],
    'watch.progressed': [{ resourceVersion: resourceVersion('40'), nowMs: 0 }],
    'watch.silenced': [{ nowMs: 0 }],
  },
  project: ({ budget: current, queue, calls, reservations, ...rest }: BudgetContext) => ({
    at: current.resourceVersion,
    queue: queue.toSorted(),
    calls,
    reservations: reservations.map(({ answeredMs: _, departedMs: __, ...kept }) => kept),
    watched: rest.watched,
    refusedAt: isPast(rest.refusedAt, current.resourceVersion) ? null : rest.refusedAt,
    silent: rest.silent,
    vanished: rest.vanished,
  }),
  invariant: (snapshot) => {
    const { budget: current, reservations, calls, callsAtOnce, refusedAt }: BudgetContext =
      snapshot.context;
    expect(calls.length, 'calls in flight under one budget').toBeLessThanOrEqual(callsAtOnce);
    if (snapshot.matches('offering')) {
      const inherits = reservations.some(({ pod }) => snapshot.context.queue.includes(pod));
      expect(
        inherits || current.disruptionsAllowed > reservations.length,
        'a slot was offered that is not there',
      ).toBe(true);
      if (!inherits) {
        expect(refusedAt, 'asked again on the same status').not.toBe(current.resourceVersion);
      }
    }
  },
  stepInvariant: (step) => {
    moves(step);
    remembers(step);
  },
  crash: {
    world: { budget: FIRST, queued: [], called: [], offered: false },
    record: recorded,
    restart: ({ budget: current, queued, called }) => ({
      input: { budget: current, callsAtOnce: 1, inFlight: [], nowMs: 0 },
      events: [...queued, ...called].map((pod) => ({
        type: 'pod.queued',
        pod: uid(pod),
        nowMs: 0,
      })),
    }),
    obligations: ({ context: { budget: current, queue, calls } }: {
      readonly context: BudgetContext;
    }) => ({
      on: current.resourceVersion,
      pods: [...new Set([...queue, ...calls.map(({ pod }) => pod)])].toSorted(),
    }),
    expected: ({ budget: current, queued, called }) => ({
      on: current.resourceVersion,
      pods: [...new Set([...queued, ...called])].toSorted(),
    }),
  },
  forgets: 'pod.queued',
  limit: 20_000,
});
