/**
 * The invariant of one writer per machine distinguishes terms of leadership. Regression: a process
 * that lost its lease in an outage and reacquired it within the time of a request was reported as
 * two writers.
 */
import { expect, test } from 'vitest';
import type { Sent } from '../../simulation/invariant.ts';
import { oneWriterAMachine } from '../../simulation/write-invariants.ts';

const PATH = '/apis/bigfleet.lucy.sh/v1alpha1/upcomingnodes/un-m1/status';

const write = (process = 'process-1'): Sent => ({
  process,
  call: { method: 'PATCH', path: PATH, body: { status: { phase: 'Draining' } } },
});

/** The invariant, and its violations. */
const watched = () => {
  const found: string[] = [];
  const { leaves, answered, logged } = oneWriterAMachine({
    broken: (invariant) => found.push(invariant),
  });
  return {
    found,
    leaves: (sent: Sent) => leaves?.(sent),
    answered: (sent: Sent) => answered?.(sent, undefined),
    endTerm: (process = 'process-1') =>
      logged?.(process, {
        level: 'warn',
        message: 'Lost leadership',
        fields: undefined,
      }),
  };
};

test('one writer a machine: two concurrent writes in one term break it', () => {
  const { found, leaves } = watched();
  leaves(write());
  leaves(write());
  expect(found).toEqual(['one writer a machine']);
});

test('one writer a machine: consecutive writes keep it', () => {
  const { found, leaves, answered } = watched();
  const first = write();
  leaves(first);
  answered(first);
  leaves(write());
  expect(found).toEqual([]);
});

test('one writer a machine: a write that outlives its term does not belong to the next', () => {
  const { found, leaves, answered, endTerm } = watched();
  const abandoned = write();
  leaves(abandoned);
  endTerm();
  leaves(write());
  expect(found).toEqual([]);
  answered(abandoned);
  leaves(write());
  expect(found, 'its late answer ends no other write').toEqual(['one writer a machine']);
});

test('one writer a machine: the end of a term of another process excuses nobody', () => {
  const { found, leaves, endTerm } = watched();
  leaves(write());
  endTerm('process-2');
  leaves(write());
  expect(found).toEqual(['one writer a machine']);
});
