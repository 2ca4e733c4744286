/** The promises of the actor registry, tested on a minimal lifecycle. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Effect } from 'effect';
import { registryRig } from '../../support/actors/registry-rig.ts';

test('actorRegistry activates an entry with pending work, and feeds an active actor', async () => {
  const { want, registry, time, written } = registryRig();
  want('a', 0);
  expect(registry.get('a')).toBeUndefined();
  expect(registry.counts()).toEqual({ passive: 1 });
  want('a', 1);
  const actor = registry.get('a');
  want('a', 2);
  expect(registry.get('a')).toBe(actor);
  await time.advance(1000);
  expect(written).toEqual(['a=1', 'a=2']);
  expect(registry.counts()).toMatchObject({ passive: 0, settled: 1, writing: 0 });
});

test('actorRegistry passivates the least recently used settled actor', async () => {
  const { want, registry, time } = registryRig(2);
  for (const key of ['a', 'b']) {
    want(key, 1);
    await time.advance(1000);
  }
  want('a', 2);
  await time.advance(1000);
  want('c', 1);
  await time.advance(1000);
  expect(['a', 'b', 'c'].filter((key) => registry.get(key) !== undefined)).toEqual(['a', 'c']);
  expect(registry.stateOf('b')).toBe('passive');
});

test('actorRegistry keeps an actor whose knowledge is not in the cluster', async () => {
  const { want, registry, time, cluster } = registryRig(0);
  want('a', 1);
  await time.advance(50);
  const counter = cluster.get('a');
  cluster.set('a', { key: 'a', wanted: 1, current: 0 });
  await time.advance(1000);
  expect(counter?.current).toBe(0);
  expect(registry.get('a')).toBeDefined();
});

test('actorRegistry restarts a crashed actor after a backoff that grows to half a minute', async () => {
  const { want, crash, registry, time, cluster, crashed, defects } = registryRig();
  for (let round = 1; round <= 8; round += 1) {
    want('a', round);
    crash('a');
    expect(registry.get('a')).toBeUndefined();
    expect(registry.stateOf('a')).toBe('crashed');
    await time.advance(30_000);
    expect(cluster.get('a')?.current).toBe(round);
  }
  expect(crashed).toHaveLength(8);
  expect(defects).toEqual(Array(8).fill('tidegate_actor_defects_total {"machine":"counter"}'));
});

test('actorRegistry ends the operation of an actor that crashed', async () => {
  const { want, crash, registry, time, written } = registryRig();
  want('a', 1);
  await time.advance(50);
  crash('a');
  await time.advance(200);
  expect(written).toEqual([]);
  expect(registry.stateOf('a')).toBe('crashed');
  await time.advance(30_000);
  expect(written).toEqual(['a=1']);
});

test('actorRegistry logs a crash with the actor, the times in a row and the stack', () => {
  const { want, crash, logs } = registryRig();
  want('a', 1);
  crash('a');
  expect(logs).toEqual([{
    message: 'Actor crashed',
    fields: {
      machine: 'counter',
      actor: 'counter/a',
      crashes: 1,
      problem: expect.stringContaining('planted'),
    },
  }]);
});

test('actorRegistry does not restart a crashed actor that was removed', async () => {
  const { want, crash, registry, time } = registryRig();
  want('a', 1);
  crash('a');
  registry.remove('a');
  await time.advance(60_000);
  expect(registry.has('a')).toBe(false);
  expect([...registry.actors()]).toEqual([]);
});

test('actorRegistry waits for operations in flight when it stops, and starts none', async () => {
  const { want, registry, time, written } = registryRig();
  want('a', 1);
  await time.settle();
  let stopped = false;
  const stopping = registry.stop().then(() => {
    stopped = true;
  });
  want('b', 1);
  await time.settle();
  expect(stopped).toBe(false);
  expect(registry.get('b')).toBeUndefined();
  expect(await Effect.runPromise(registry.inFlight(Effect.succeed(1), 'refused'))).toBe('refused');
  await time.advance(200);
  await stopping;
  expect(written).toEqual(['a=1']);
});

test('actorRegistry suspends: passivation activates no other actor', async () => {
  const { want, registry, time, cluster } = registryRig();
  want('a', 1);
  want('b', 1);
  registry.suspend(cluster.values(), (entry) => {
    entry.wanted = entry.current;
    for (const other of cluster.values()) registry.consider(other);
  });
  await time.advance(1000);
  expect([...registry.actors()]).toEqual([]);
  expect(registry.counts()['passive']).toBe(2);
});

test('actorRegistry stops when the last of several operations has ended', async () => {
  const { want, registry, time, written } = registryRig();
  want('a', 1);
  await time.advance(50);
  want('b', 1);
  await time.settle();
  let stopped = false;
  void registry.stop().then(() => {
    stopped = true;
  });
  await time.advance(75);
  expect([written, stopped]).toEqual([['a=1'], false]);
  await time.advance(50);
  expect([written, stopped]).toEqual([['a=1', 'b=1'], true]);
  await registry.idle();
});

test('actorRegistry restarts no crashed actor after it has closed', async () => {
  const { want, crash, registry, time, defects } = registryRig();
  for (const key of ['a', 'b']) want(key, 1);
  crash('a');
  registry.close();
  crash('b');
  await time.advance(60_000);
  expect([...registry.actors()]).toEqual([]);
  expect(registry.counts()).toMatchObject({ crashed: 1, writing: 0 });
  expect(defects.length).toBe(2);
});

test('actorRegistry counts crashes in a row, and anew after an actor ran for a while', async () => {
  const { want, crash, time, logs } = registryRig();
  want('a', 1);
  for (const [round, waitMs] of [20_000, 10 * 60_000, 20_000].entries()) {
    crash('a');
    want('a', round + 2);
    await time.advance(waitMs);
  }
  crash('a');
  expect(logs.map(({ fields }) => fields)).toMatchObject(
    [1, 2, 1, 2].map((crashes) => ({ crashes })),
  );
});

test('actorRegistry restarts an actor once, however often it is considered meanwhile', async () => {
  const { want, crash, registry, time, crashed } = registryRig();
  want('a', 1);
  crash('a');
  want('a', 2);
  const entry = registry.entry('a');
  if (entry === undefined) throw new Error('no entry');
  expect(registry.activate(entry)).toBeUndefined();
  expect(registry.stateOf('a')).toBe('crashed');
  await time.advance(30_000);
  expect(registry.get('a')).toBeDefined();
  expect(crashed).toEqual(['a']);
});

test('actorRegistry passivates an entry once, and knows no unknown one', () => {
  const { want, registry, cluster } = registryRig();
  want('a', 1);
  const entry = registry.entry('a');
  if (entry === undefined) throw new Error('no entry');
  expect(registry.passivateIfSafe(entry)).toBe(true);
  expect(registry.passivateIfSafe(entry)).toBe(true);
  const stranger = { key: 'x', wanted: 1, current: 0 };
  registry.passivate(stranger);
  expect(registry.passivateIfSafe(stranger)).toBe(true);
  expect([registry.has('x'), registry.counts(), cluster.size]).toEqual([
    false,
    { passive: 1, writing: 0 },
    1,
  ]);
  registry.remove('x');
  registry.remove('a');
  expect(registry.counts()).toEqual({ passive: 0, writing: 0 });
});

const KEYS = ['a', 'b', 'c', 'd'] as const;
const step = fc.oneof(
  fc.record({
    type: fc.constant('want' as const),
    key: fc.constantFrom(...KEYS),
    wanted: fc.nat(3),
  }),
  fc.record({ type: fc.constant('crash' as const), key: fc.constantFrom(...KEYS) }),
  fc.record({ type: fc.constant('wait' as const), ms: fc.constantFrom(1, 99, 101, 2000, 40_000) }),
);

test('actorRegistry loses no work, whichever actors crash', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), fc.nat(3), async (steps, activeMax) => {
      const { want, crash, registry, time, cluster } = registryRig(activeMax);
      for (const one of steps) {
        if (one.type === 'want') want(one.key, one.wanted);
        else if (one.type === 'crash') crash(one.key);
        else await time.advance(one.ms);
        const counted = Object.values(registry.counts()).reduce((sum, count) => sum + count, 0);
        expect(counted).toBe(cluster.size);
      }
      await time.advance(120_000);
      for (const { wanted, current } of cluster.values()) expect(current).toBe(wanted);
      expect(registry.counts()['crashed'] ?? 0).toBe(0);
    }),
    { numRuns: 40 },
  );
});
