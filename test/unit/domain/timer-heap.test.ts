/** Timers fire in order, however they were set and cancelled. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type Timer,
  timerHeap,
} from '../../../packages/embedded-kubernetes/src/values/timer-heap.ts';

const comesBefore = (one: Timer, other: Timer): number =>
  one.dueMs - other.dueMs || one.order - other.order;

/** Sets a timer, cancels one, or fires the first. */
const steps = fc.array(
  fc.oneof(
    fc.record({ _tag: fc.constant('arm' as const), dueMs: fc.nat(50) }),
    fc.record({ _tag: fc.constant('cancel' as const), pick: fc.nat() }),
    fc.record({ _tag: fc.constant('fire' as const) }),
  ),
  { maxLength: 500, size: 'max' },
);

test('timerHeap gives the earliest timer, and of two equal ones the first set', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const heap = timerHeap();
      let armed: Timer[] = [];
      for (const [order, step] of all.entries()) {
        const first = armed.toSorted(comesBefore)[0];
        expect(heap.first()).toBe(first);
        if (step._tag === 'arm') {
          const timer: Timer = { dueMs: step.dueMs, order, run: () => {}, armed: true };
          heap.add(timer);
          armed.push(timer);
          continue;
        }
        const chosen = step._tag === 'fire' ? first : armed[step.pick % armed.length];
        if (chosen === undefined) continue;
        heap.disarm(chosen);
        armed = armed.filter((timer) => timer !== chosen);
      }
      expect(heap.size()).toBe(armed.length);
    }),
    { numRuns: 20 },
  );
});

test('timerHeap keeps its order when it removes cancelled timers', () => {
  const heap = timerHeap();
  const timers = Array.from({ length: 5000 }, (_, order): Timer => ({
    dueMs: order * 7919 % 5000,
    order,
    run: () => {},
    armed: true,
  }));
  for (const timer of timers) heap.add(timer);
  for (const timer of timers) if (timer.dueMs % 10 !== 0) heap.disarm(timer);
  for (const timer of timers) heap.disarm({ ...timer, armed: false });
  expect(heap.size()).toBe(500);
  const fired: number[] = [];
  for (let next = heap.first(); next !== undefined; next = heap.first()) {
    fired.push(next.dueMs);
    heap.disarm(next);
  }
  expect(fired).toEqual(Array.from({ length: 500 }, (_, at) => at * 10));
});
