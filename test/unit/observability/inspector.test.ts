/** What inspectors receive, and what is skipped. */
import { expect, test } from 'vitest';
import { type AnyActorLogic, createActor, createMachine, fromCallback, fromPromise } from 'xstate';
import { type Inspector, inspectWith, isOfAct } from '../../../src/observability/inspector.ts';

/** Records the snapshots of an actor that starts and ends. */
const lines = async (logic: AnyActorLogic): Promise<readonly boolean[]> => {
  const seen: boolean[] = [];
  const actor = createActor(logic, {
    id: 'one',
    inspect: (event) => {
      if (event.type === '@xstate.snapshot') seen.push(isOfAct(event.snapshot));
    },
  });
  actor.subscribe({ error: () => {} });
  actor.start();
  await Promise.resolve();
  actor.stop();
  return [...new Set(seen)];
};

test.each<[what: string, logic: AnyActorLogic, isAct: boolean]>([
  ['a promise', fromPromise(() => Promise.resolve(1)), true],
  ['a promise that breaks', fromPromise(() => Promise.reject(new Error('no'))), true],
  ['a callback', fromCallback(() => {}), true],
  ['a statechart', createMachine({ initial: 'on', states: { on: {} } }), false],
  [
    'a statechart that ends',
    createMachine({ initial: 'on', states: { on: { type: 'final' } } }),
    false,
  ],
])('%s', async (_what, logic, isAct) => {
  expect(await lines(logic)).toEqual([isAct]);
});

test('without inspectors, actors are inspected by the tap of logs and metrics itself', () => {
  const tap = (): void => {};
  expect(inspectWith(tap, [])).toBe(tap);
});

test('inspectors receive the transitions of statecharts, and the tap all events', async () => {
  const act = fromPromise(() => Promise.resolve(1));
  const gate = createMachine({
    id: 'door',
    initial: 'shut',
    invoke: { id: 'knock', src: act, onDone: '.open' },
    states: { shut: {}, open: {} },
  });
  const received: string[] = [];
  const look = (who: string): Inspector => ({ id, event, snapshot }) => {
    received.push([who, id, event.type, 'value' in snapshot ? snapshot.value : 'none'].join(' '));
  };
  const tapped = new Set<string>();
  const inspect = inspectWith(({ type }) => void tapped.add(type), [
    look('board'),
    look('recording'),
  ]);
  createActor(gate, { id: 'door/1', inspect }).start();
  await Promise.resolve();
  expect(received).toEqual([
    'board door/1 xstate.init shut',
    'recording door/1 xstate.init shut',
    'board door/1 xstate.done.actor.knock open',
    'recording door/1 xstate.done.actor.knock open',
  ]);
  expect(tapped).toContain('@xstate.microstep');
  expect(tapped).not.toContain('@xstate.snapshot');
});
