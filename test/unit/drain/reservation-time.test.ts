/** How long a reserved slot counts while pods come and go in the queue of its budget. */
import { expect, test } from 'vitest';
import { createActor, SimulatedClock } from 'xstate';
import { resourceVersion, uid } from '../../../src/domain/ids.ts';
import { budget as budgetChart, type BudgetEvent } from '../../../src/machines/budget.ts';
import { budgetOf } from '../../support/drains/drain-facts.ts';

const FULL = budgetOf({
  resourceVersion: '10',
  status: { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1 },
});
const P1 = uid('p1');
const P2 = uid('p2');
const P3 = uid('p3');

/** The budget after its only slot was used by a pod that has gone, at the time 0. */
const afterOneEviction = () => {
  const clock = new SimulatedClock();
  const actor = createActor(budgetChart, {
    clock,
    input: { budget: FULL, callsAtOnce: 1, inFlight: [], nowMs: 0 },
  }).start();
  const send = (...events: readonly BudgetEvent[]): void => events.forEach(actor.send, actor);
  send(
    { type: 'pod.queued', pod: P1, nowMs: 0 },
    { type: 'slot.taken', pod: { uid: P1, name: 'p1' }, nowMs: 0 },
    { type: 'call.answered', pod: P1, answer: 'Accepted', nowMs: 0 },
    { type: 'pod.departed', pod: P1, resourceVersion: resourceVersion('20'), nowMs: 0 },
    { type: 'pod.queued', pod: P2, nowMs: 0 },
  );
  return { actor, clock, send };
};

const MEANWHILE: readonly BudgetEvent[] = [
  { type: 'pod.queued', pod: P3, nowMs: 1500 },
  { type: 'pod.unqueued', pod: P3, nowMs: 1500 },
  { type: 'pod.wanted', pod: P1, nowMs: 1500 },
  { type: 'call.answered', pod: P3, answer: 'Accepted', nowMs: 1500 },
  { type: 'watch.progressed', resourceVersion: resourceVersion('5'), nowMs: 1500 },
  { type: 'budget.observed', budget: FULL, nowMs: 1500 },
];

test('DR-32: a reservation ends no later because of what happens meanwhile', () => {
  for (const event of MEANWHILE) {
    const { actor, clock, send } = afterOneEviction();
    const held = () => actor.getSnapshot().context.reservations.length;
    clock.increment(1500);
    send(event);
    clock.increment(499);
    expect(held(), event.type).toBe(1);
    clock.increment(1);
    expect(held(), event.type).toBe(0);
  }
});
