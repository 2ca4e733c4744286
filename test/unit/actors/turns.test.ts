/** ConcurrencyLimit: who asks gets one, a bounded number at once, and nobody has two. */
import { expect, test } from 'vitest';
import { createActor, setup } from 'xstate';
import { startConcurrencyLimit } from '../../../src/actors/concurrency-limit.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

/** Acts from its turn on until it is told to rest. */
const worker = setup({
  types: {
    events: {} as { type: 'turn.granted' } | { type: 'work.done' },
    tags: {} as 'acting',
  },
}).createMachine({
  initial: 'resting',
  states: {
    resting: { on: { 'turn.granted': 'busy' } },
    busy: { tags: 'acting', on: { 'work.done': 'resting' } },
  },
});

const rig = (atOnce: number) => {
  const workers = ['a', 'b', 'c'].map((name) => ({ name, actor: createActor(worker).start() }));
  const counts: number[] = [];
  const { settle } = simulatedTime();
  const turns = startConcurrencyLimit<(typeof workers)[number]>({
    atOnce,
    name: ({ name }) => name,
    wake: ({ actor, name }) => (name === 'c' ? undefined : actor),
    onTaking: (count) => counts.push(count),
  });
  const busy = () =>
    workers.filter(({ actor }) => actor.getSnapshot().hasTag('acting')).map(({ name }) => name);
  return { workers, counts, turns, settle, busy };
};

test('turns: are given in the order of asking, as many at once as there may be', async () => {
  const { workers: [a, b], turns, settle, busy } = rig(1);
  if (a === undefined || b === undefined) throw new Error('No workers');
  turns.ask(b);
  turns.ask(a);
  turns.ask(b);
  await settle();
  expect(busy()).toEqual(['b']);
  b.actor.send({ type: 'work.done' });
  expect(busy()).toEqual(['a']);
  a.actor.send({ type: 'work.done' });
  expect(busy()).toEqual([]);
});

test('turns: an actor may ask again when its turn is over', async () => {
  const { workers: [a], turns, settle, busy } = rig(1);
  if (a === undefined) throw new Error('No workers');
  for (let turn = 0; turn < 3; turn += 1) {
    turns.ask(a);
    await settle();
    expect(busy()).toEqual(['a']);
    a.actor.send({ type: 'work.done' });
  }
});

test('turns: an actor that stops gives its turn up, and one that is not there takes none', async () => {
  const { workers: [a, b, c], turns, settle, busy, counts } = rig(1);
  if (a === undefined || b === undefined || c === undefined) throw new Error('No workers');
  for (const each of [a, c, b]) turns.ask(each);
  await settle();
  expect(busy()).toEqual(['a']);
  a.actor.stop();
  expect(busy()).toContain('b');
  expect(counts).toEqual([1, 0, 1, 0, 1]);
});

test('turns: are idle when nobody has or wants one', async () => {
  const { workers: [a], turns, settle } = rig(1);
  if (a === undefined) throw new Error('No workers');
  await turns.idle();
  turns.ask(a);
  let idle = false;
  const whenIdle = turns.idle().then(() => (idle = true));
  await settle();
  expect(idle).toBe(false);
  a.actor.send({ type: 'work.done' });
  await whenIdle;
});
