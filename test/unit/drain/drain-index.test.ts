/** Decisions about one drain that need its entry only: deadlines, states, named instructions. */
import { expect, test } from 'vitest';
import {
  deadlineOfAnnotation,
  drainStateOf,
  isEarlier,
  isNamedIn,
} from '../../../src/actors/node-drains/drain-index.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

test('DR-03: of two deadlines the earlier one wins, over none and not over its equal', () => {
  const [none, early, late] = [null, 1, 2].map((atMs) => ({ atMs, graceSeconds: 30 }));
  if (none === undefined || early === undefined || late === undefined) throw new Error('no terms');
  expect([isEarlier(early, late), isEarlier(early, none)]).toEqual([true, true]);
  expect([isEarlier(late, early), isEarlier(early, early)]).toEqual([false, false]);
  expect([isEarlier(none, early), isEarlier(none, none)]).toEqual([false, false]);
});

test('DR-16: a reclaim without a deadline on its Node has its grace, another owner none', () => {
  const time = simulatedTime();
  const annotation = {
    ids: ['i1'],
    deadlineMs: null,
    graceSeconds: 60,
    sinceMs: time.now(),
    ended: null,
  };
  expect(deadlineOfAnnotation(time, 'reclaim', annotation).atMs).toBe(time.monotonic() + 60_000);
  expect(deadlineOfAnnotation(time, 'disabled', annotation).atMs).toBeNull();
});

test('DR-05: an annotation names its instructions until it is cancelled', () => {
  const annotation = { ids: ['i1'], deadlineMs: null, graceSeconds: 60, sinceMs: 0 };
  expect(isNamedIn({ ...annotation, ended: 'Drained' }, 'i1')).toBe(true);
  expect(isNamedIn({ ...annotation, ended: 'Cancelled' }, 'i1')).toBe(false);
  expect(isNamedIn({ ...annotation, ended: null }, 'i2')).toBe(false);
  expect(isNamedIn(undefined, 'i1')).toBe(false);
});

test('the state of a drain is that of its work', () => {
  expect(drainStateOf({ value: { work: { underway: 'draining' }, pause: 'off' } })).toBe(
    'draining',
  );
  expect(drainStateOf({ value: 'lost' })).toBe('lost');
});
