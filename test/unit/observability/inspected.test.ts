/** Which snapshots are of acts, from the beginning of an actor to its end. */
import { expect, test } from 'vitest';
import { type AnyActorLogic, createActor, createMachine, fromCallback, fromPromise } from 'xstate';
import { isOfAct } from '../../../src/observability/inspected.ts';

/** What is told of the snapshots of an actor that begins and ends. */
const told = async (logic: AnyActorLogic): Promise<readonly boolean[]> => {
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
  expect(await told(logic)).toEqual([isAct]);
});
