/** The delays that run in the states of an actor. */
import { expect, test } from 'vitest';
import { createMachine, setup } from 'xstate';
import { pendingDelays } from '../../../src/view/pending-delays.ts';

const machine = setup({
  types: { context: {} as { readonly attempt: number } },
  delays: {
    backoff: ({ context }) => context.attempt * 1000,
    broken: () => {
      throw new Error('no such field');
    },
  },
}).createMachine({
  context: { attempt: 1 },
  initial: 'waiting',
  states: {
    waiting: {
      after: { backoff: 'done' },
      initial: 'inner',
      states: { inner: { after: { 500: 'other', broken: 'other' } }, other: {} },
    },
    done: {},
  },
});

const row = {
  id: 'x/1',
  kind: 'x',
  state: 'waiting.inner',
  reason: null,
  status: 'active' as const,
  sinceMs: 3000,
  bornMs: 1000,
};
const path = [
  { atMs: 1000, state: 'done', event: 'xstate.init' },
  { atMs: 2000, state: 'waiting.other', event: 'a' },
  { atMs: 3000, state: 'waiting.inner', event: 'b' },
];

test('a delay runs from the entry of its state, also of an outer one, as long as the data says', () => {
  expect(pendingDelays(machine, { row, path, context: { attempt: 4 } })).toEqual([
    { state: 'waiting', name: 'backoff', startMs: 2000, endMs: 6000 },
    { state: 'waiting.inner', name: '500', startMs: 3000, endMs: 3500 },
  ]);
});

test('an ended actor, a state of another version and unknown data have no delays', () => {
  const context = { attempt: 4 };
  expect(pendingDelays(machine, { row: { ...row, status: 'done' }, path, context })).toEqual([]);
  expect(pendingDelays(machine, { row: { ...row, state: 'no.such' }, path, context })).toEqual([]);
  expect(pendingDelays(machine, { row: { ...row, state: 'waiting' }, path, context: null }))
    .toEqual([]);
  expect(pendingDelays(createMachine({}), { row, path, context })).toEqual([]);
});
