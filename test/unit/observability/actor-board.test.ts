/** The board of actors: the history of active ones, and the eviction of ended ones. */
import { assign, createActor, setup } from 'xstate';
import { expect, test } from 'vitest';
import { simulatedTime } from '../../support/time/simulated-time.ts';
import { makeActorBoard } from '../../../src/observability/actor-board.ts';
import { inspectWith } from '../../../src/observability/inspector.ts';

const START_MS = Date.UTC(2026, 0, 1);

const gate = setup({
  types: {
    context: {} as { readonly seen: number; readonly verdict: object | null },
    events: {} as
      | { readonly type: 'gate.seen' }
      | { readonly type: 'tide.came' }
      | { readonly type: 'gate.explained'; readonly verdict: object | null }
      | { readonly type: 'gate.removed' },
  },
}).createMachine({
  id: 'gate',
  type: 'parallel',
  context: { seen: 0, verdict: null },
  on: {
    'gate.seen': {},
    'gate.explained': { actions: assign({ verdict: ({ event }) => event.verdict }) },
  },
  states: {
    lamp: { initial: 'dark', states: { dark: {} } },
    water: {
      initial: 'low',
      states: {
        low: { on: { 'tide.came': 'high' } },
        high: {
          initial: 'rising',
          meta: { reason: 'BlockedByBudget' },
          states: { rising: { on: { 'tide.came': 'falling' } }, falling: {} },
        },
      },
    },
  },
});

const watched = () => {
  const time = simulatedTime(START_MS);
  const board = makeActorBoard({ time, kinds: new Set(['gate', 'lock']) });
  const begin = (id: string) =>
    createActor(gate, { id, inspect: inspectWith(() => {}, [board.observe]) }).start();
  return { time, board, begin };
};

test('a board has state, reason and age of each actor of the catalogue, and of no other', async () => {
  const { time, board, begin } = watched();
  const actor = begin('gate/north');
  begin('ferry/1');
  await time.advance(5000);
  actor.send({ type: 'tide.came' });
  expect(board.rows()).toEqual([{
    id: 'gate/north',
    kind: 'gate',
    state: 'lamp.dark water.high.rising',
    reason: 'BlockedByBudget',
    status: 'active',
    sinceMs: START_MS + 5000,
    bornMs: START_MS,
  }]);
});

test("the reason of an actor's verdict takes precedence over that of its state", () => {
  const { board, begin } = watched();
  const actor = begin('gate/north');
  actor.send({ type: 'tide.came' });
  actor.send({ type: 'gate.explained', verdict: { reason: 'TwoBudgets' } });
  expect(board.row('gate/north')?.reason).toBe('TwoBudgets');
  actor.send({ type: 'gate.explained', verdict: null });
  expect(board.row('gate/north')?.reason).toBe('BlockedByBudget');
});

test('of parallel regions the reason is the one that a person can act on', () => {
  const ferry = setup({}).createMachine({
    id: 'ferry',
    type: 'parallel',
    states: {
      crossing: {
        initial: 'waitingForHighWater',
        states: { waitingForHighWater: { meta: { reason: 'WaitingForPods' } } },
      },
      log: { initial: 'refused', states: { refused: { meta: { reason: 'WriteRefused' } } } },
    },
  });
  const board = makeActorBoard({ time: simulatedTime(START_MS), kinds: new Set(['ferry']) });
  createActor(ferry, { id: 'ferry/1', inspect: inspectWith(() => {}, [board.observe]) }).start();
  expect(board.row('ferry/1')?.reason).toBe('WriteRefused');
});

test('a board keeps the last states and events of an actor', () => {
  const { board, begin } = watched();
  const actor = begin('gate/north');
  for (let seen = 0; seen < 100; seen += 1) actor.send({ type: 'gate.seen' });
  actor.send({ type: 'tide.came' });
  const detail = board.detail('gate/north');
  expect(detail?.path.map(({ state, event }) => [state, event])).toEqual([
    ['lamp.dark water.low', 'xstate.init'],
    ['lamp.dark water.high.rising', 'tide.came'],
  ]);
  expect(detail?.log).toHaveLength(50);
  expect(detail?.log.at(-1)).toMatchObject({
    event: 'tide.came',
    state: 'lamp.dark water.high.rising',
  });
  expect(detail?.log.at(-2)).toMatchObject({ event: 'gate.seen', state: null });
  expect(detail?.context).toEqual({ seen: 0, verdict: null });
});

test('a board shows how an actor ended, and a new actor with the same id', async () => {
  const { time, board, begin } = watched();
  begin('gate/north').stop();
  expect(board.row('gate/north')).toMatchObject({ status: 'stopped', reason: null });
  await time.advance(1000);
  begin('gate/north');
  expect(board.row('gate/north')).toMatchObject({ status: 'active', bornMs: START_MS + 1000 });
});

test('a board evicts the oldest ended actor, and no active one', () => {
  const { board, begin } = watched();
  begin('gate/alive');
  for (let at = 0; at < 600; at += 1) begin(`gate/${at}`).stop();
  expect(board.rows()).toHaveLength(501);
  expect(board.row('gate/alive')?.status).toBe('active');
  expect(board.row('gate/99')).toBeUndefined();
  expect(board.row('gate/100')?.status).toBe('stopped');
});

test('ended actors of one lifecycle displace none of another', () => {
  const { board, begin } = watched();
  begin('lock/south').stop();
  for (let at = 0; at < 600; at += 1) begin(`gate/${at}`).stop();
  expect(board.rows()).toHaveLength(501);
  expect(board.row('lock/south')?.status).toBe('stopped');
});

test('a board notifies subscribers of changed actors', () => {
  const { board, begin } = watched();
  const changed: string[] = [];
  const leave = board.subscribe((id) => changed.push(id));
  const actor = begin('gate/north');
  actor.send({ type: 'tide.came' });
  leave();
  actor.send({ type: 'tide.came' });
  expect(changed).toEqual(['gate/north', 'gate/north']);
});
