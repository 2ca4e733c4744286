/** The slots of one budget, walked through every configuration. */
import { expect } from 'vitest';
import type { Budget } from '../../src/domain/drain/budget.ts';
import { textAt } from '../../src/domain/json.ts';
import { objectKey, resourceVersion, uid } from '../../src/domain/ids.ts';
import { budget, type BudgetContext, type SlotAnswer } from '../../src/machines/budget.ts';
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
}

const without = (pods: readonly string[], pod: string): readonly string[] =>
  pods.filter((one) => one !== pod);
const including = (pods: readonly string[], pod: string): readonly string[] =>
  [...without(pods, pod), pod].toSorted();

/** The pod that takes a slot. */
const takerIn = (event: Readonly<Record<string, unknown>>): string =>
  textAt(event, 'pod', 'uid') ?? '';

describeModel('budget', {
  machine: budget,
  inputs: [
    { budget: status(10, 1), callsAtOnce: 1, inFlight: [], nowMs: 0 },
    { budget: status(10, 2), callsAtOnce: 2, inFlight: [], nowMs: 0 },
  ],
  events: {
    'budget.observed': [
      { budget: FULL, nowMs: 0 },
      { budget: status(30, 1), nowMs: 0 },
    ],
    'pod.queued': [{ pod: P1 }, { pod: P2 }],
    'pod.unqueued': [{ pod: P1 }, { pod: P2 }],
    'slot.taken': [
      { pod: { uid: P1, name: 'p1' }, nowMs: 0 },
      { pod: { uid: P2, name: 'p2' }, nowMs: 0 },
    ],
    'call.answered': ANSWERS.map((answer) => ({ pod: P1, answer, nowMs: 0 })),
    'pod.departed': [{ pod: P1, resourceVersion: resourceVersion('25'), nowMs: 0 }],
    'pod.released': [{ pod: P1, nowMs: 0 }],
    'pod.wanted': [{ pod: P1 }],
    'watch.progressed': [{ resourceVersion: resourceVersion('40'), nowMs: 0 }],
    'watch.silenced': [{ nowMs: 0 }],
  },
  project: ({ budget: current, queue, calls, reservations, ...rest }: BudgetContext) => ({
    at: current.resourceVersion,
    queue: queue.toSorted(),
    calls,
    reservations: reservations.map(({ answeredMs: _, departedMs: __, ...kept }) => kept),
    watched: rest.watched,
    refusedAt: rest.refusedAt,
    silent: rest.silent,
    vanished: rest.vanished,
  }),
  invariant: (snapshot, actions) => {
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
    if (actions.includes('offerSlot')) expect(snapshot.hasTag('offering')).toBe(true);
  },
  crash: {
    world: { budget: status(10, 1), queued: [], called: [] } satisfies World,
    record: (world: World, { event, before }): World => {
      const pod = String(event['pod']);
      switch (event.type) {
        case 'budget.observed':
          return event['budget'] === FULL
            ? { ...world, budget: FULL }
            : { ...world, budget: status(30, 1) };
        case 'pod.queued':
          return { ...world, queued: including(world.queued, pod) };
        case 'pod.unqueued':
          return { ...world, queued: without(world.queued, pod) };
        case 'call.answered':
          return { ...world, called: without(world.called, pod) };
        case 'slot.taken':
          return before.hasTag('offering')
            ? {
              ...world,
              queued: without(world.queued, takerIn(event)),
              called: including(world.called, takerIn(event)),
            }
            : world;
        case 'offer.declined':
          return before.hasTag('offering') ? { ...world, queued: [] } : world;
        default:
          return world;
      }
    },
    restart: ({ budget: current, queued, called }) => ({
      input: { budget: current, callsAtOnce: 1, inFlight: [], nowMs: 0 },
      events: [...queued, ...called].map((pod) => ({ type: 'pod.queued', pod: uid(pod) })),
    }),
    obligations: ({ context }) =>
      [
        ...new Set([
          ...context.queue,
          ...context.calls.map(({ pod }: BudgetContext['calls'][number]) => pod),
        ]),
      ].toSorted(),
  },
  limit: 20_000,
});
