/** The transitions of an actor that its chart lights and greys. */
import { expect, test } from 'vitest';
import { MACHINES } from '../../../src/machines/index.ts';
import { catalogueText } from '../../../src/view/catalogue.ts';
import { possibleMoves, takenMoves } from '../../../src/web/page/moves.ts';

const moves = catalogueText(MACHINES)['podEviction']?.moves ?? [];

const taken = (before: string, now: string, event: string): readonly string[] =>
  takenMoves(moves, { before: [before], now: [now], event }).map(([from, , to]) => `${from} ${to}`);

test('an event lights its transition', () => {
  expect(taken('queued', 'calling', 'eviction.dispatched')).toEqual(['queued calling']);
});

test('an event lights the transitions through states that only decide', () => {
  expect(taken('calling', 'heldUp.unsettled', 'xstate.done.actor.evictPod'))
    .toEqual(['calling evaluating', 'evaluating heldUp.unsettled']);
  expect(taken('heldUp.unsettled', 'queued', 'xstate.after.recheckDelay.podEviction.heldUp'))
    .toContain('deciding queued');
});

test('an event that leads nowhere, and an actor that stays, light nothing', () => {
  expect(taken('queued', 'queued', 'eviction.dispatched')).toEqual([]);
  expect(taken('queued', 'calling', 'no.such.event')).toEqual([]);
});

test('possible moves are those of the state and of the states around it, with an event', () => {
  const causes = possibleMoves(moves, ['heldUp.unsettled']).map(([, cause]) => cause);
  expect(causes).toContain('after recheckDelay');
  expect(causes).not.toContain('');
  expect(possibleMoves(moves, ['gone'])).toEqual([]);
});
