/** ConcurrencyLimit: every request gets a slot, with bounded concurrency, one per actor. */
import { expect, test } from 'vitest';
import { createActor, setup } from 'xstate';
import { startConcurrencyLimit } from '../../../src/actors/concurrency-limit.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

/** Acts while it holds a slot, until its work is done. */
const worker = setup({
  types: {
    events: {} as { type: 'slot.acquired' } | { type: 'work.done' },
    tags: {} as 'acting',
  },
}).createMachine({
  initial: 'resting',
  states: {
    resting: { on: { 'slot.acquired': 'busy' } },
    busy: { tags: 'acting', on: { 'work.done': 'resting' } },
  },
});

const rig = (atOnce: number) => {
  const workers = ['a', 'b', 'c'].map((name) => ({ name, actor: createActor(worker).start() }));
  const counts: number[] = [];
  const { settle } = simulatedTime();
  const slots = startConcurrencyLimit<(typeof workers)[number]>({
    atOnce,
    keyOf: ({ name }) => name,
    activate: ({ actor, name }) => (name === 'c' ? undefined : actor),
    onInUse: (count) => counts.push(count),
  });
  const busy = () =>
    workers.filter(({ actor }) => actor.getSnapshot().hasTag('acting')).map(({ name }) => name);
  return { workers, counts, slots, settle, busy };
};

test('concurrencyLimit: slots are granted in order of request, up to the limit', async () => {
  const { workers: [a, b], slots, settle, busy } = rig(1);
  if (a === undefined || b === undefined) throw new Error('No workers');
  slots.request(b);
  slots.request(a);
  slots.request(b);
  await settle();
  expect(busy()).toEqual(['b']);
  b.actor.send({ type: 'work.done' });
  expect(busy()).toEqual(['a']);
  a.actor.send({ type: 'work.done' });
  expect(busy()).toEqual([]);
});

test('concurrencyLimit: an actor may request another slot after releasing one', async () => {
  const { workers: [a], slots, settle, busy } = rig(1);
  if (a === undefined) throw new Error('No workers');
  for (let round = 0; round < 3; round += 1) {
    slots.request(a);
    await settle();
    expect(busy()).toEqual(['a']);
    a.actor.send({ type: 'work.done' });
  }
});

test('concurrencyLimit: an actor that stops releases its slot, and a missing one takes none', async () => {
  const { workers: [a, b, c], slots, settle, busy, counts } = rig(1);
  if (a === undefined || b === undefined || c === undefined) throw new Error('No workers');
  for (const each of [a, c, b]) slots.request(each);
  await settle();
  expect(busy()).toEqual(['a']);
  a.actor.stop();
  expect(busy()).toContain('b');
  expect(counts).toEqual([1, 0, 1, 0, 1]);
});

test('concurrencyLimit: grants nothing after it has stopped, neither anew nor to who waits', async () => {
  const { workers: [a, b], slots, settle, busy } = rig(1);
  if (a === undefined || b === undefined) throw new Error('No workers');
  slots.request(a);
  slots.request(b);
  await settle();
  slots.stop();
  a.actor.send({ type: 'work.done' });
  slots.request(a);
  await settle();
  expect(busy()).toEqual([]);
});

test('concurrencyLimit: is idle when no slot is in use or requested', async () => {
  const { workers: [a], slots, settle } = rig(1);
  if (a === undefined) throw new Error('No workers');
  await slots.idle();
  slots.request(a);
  let idle = false;
  const whenIdle = slots.idle().then(() => (idle = true));
  await settle();
  expect(idle).toBe(false);
  a.actor.send({ type: 'work.done' });
  await whenIdle;
});
