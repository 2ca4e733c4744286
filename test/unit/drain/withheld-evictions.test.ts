/** Evictions that were chosen and are not sent, and what a stop leaves behind. */
import { Effect } from 'effect';
import { describe, expect, test } from 'vitest';
import { refusal } from '../../support/drains/eviction-refusals.ts';
import { evictionsOfTest, podsAsked } from '../../support/drains/eviction-test-rig.ts';
import type { RigOptions } from '../../support/drains/eviction-rig.ts';

/** A drain of `size` pods without a budget. */
const draining = async (size: number, options: RigOptions = {}) => {
  const made = evictionsOfTest(options);
  for (let at = 0; at < size; at += 1) {
    made.cluster.addPod({ name: `p${at}`, node: 'n1', app: 'a' });
  }
  await made.ready();
  made.drain('n1');
  await made.time.advance(10);
  return made;
};

const SCARCE = { timing: { qps: 1 } };

describe('an eviction that waits for the write budget', () => {
  test('DR-33: is not sent after a stop, which leaves nothing subscribed', async () => {
    const made = await draining(3, SCARCE);
    made.cluster.addPod({ name: 'q0', node: 'n2', app: 'b' });
    made.cluster.settle('b');
    made.cluster.addBudget({ name: 'db', app: 'b', maxUnavailable: 0 });
    await made.time.advance(100);
    made.drain('n2');
    await made.time.advance(10);
    const { cluster, registry, requesters, time } = made;
    expect(registry.counts()).toMatchObject({ calling: 3, queued: 1 });
    const stopped = Promise.all([registry.stop(), requesters.stop()]);
    await time.advance(60_000);
    await stopped;
    expect(podsAsked(made)).toEqual([]);
    const { podCache, budgetCache, nodeCache } = cluster;
    expect([podCache, budgetCache, nodeCache].map((each) => each.isFollowed()))
      .toEqual([false, false, false]);
    expect(time.pending()).toBe(0);
  });

  test('DR-05: is not sent after its release, and holds no other up', async () => {
    const made = await draining(2, SCARCE);
    made.cluster.addPod({ name: 'q0', node: 'n2', app: 'b' });
    await made.time.advance(10);
    made.registry.release('n1', 'reclaim');
    made.drain('n2');
    await made.time.advance(10_000);
    expect(podsAsked(made)).toEqual(['q0']);
    expect(made.warnings).toEqual([]);
  });

  test('DR-37: opens the circuit when it cannot be sent the next time', async () => {
    const made = await draining(1, SCARCE);
    made.registry.release('n1', 'reclaim');
    await made.time.advance(5000);
    made.cluster.cutLine(true);
    made.drain('n1');
    await made.time.advance(2000);
    expect(made.warnings).toEqual(['Eviction circuit opened']);
    expect(made.status('p0')?.reason).toBe('EvictionFailing');
    made.cluster.cutLine(false);
    await made.time.advance(10_000);
    expect(podsAsked(made)).toEqual(['p0']);
  });

  test('DR-34: makes room for others when it is sent or fails, not when answered', async () => {
    const made = await draining(20, { timing: { answerMs: 8000 } });
    expect(podsAsked(made)).toHaveLength(20);
    made.cluster.cutLine(true);
    for (let at = 0; at < 20; at += 1) {
      made.cluster.addPod({ name: `q${at}`, node: 'n2', app: 'b' });
    }
    await made.time.advance(10);
    made.drain('n2');
    await made.time.advance(1000);
    made.cluster.cutLine(false);
    await made.time.advance(30_000);
    expect(made.cluster.left('n2')).toBe(0);
  });
});

test('DR-05: a process that stops takes no further pod, and asks for none', async () => {
  const made = evictionsOfTest({ mode: 'auto' });
  made.cluster.addPod({ name: 'p1', node: 'n1', app: 'a' });
  made.requests.register('p1', ['backup.db.example.com']);
  await made.ready();
  await made.registry.stop();
  made.drain('n1');
  await made.time.advance(1000);
  expect(made.status('p1')).toBeUndefined();
  expect(made.requests.writes).toEqual([]);
});

describe('the circuit', () => {
  const throttled = { ...refusal(429, 'slow down'), retryAfterSeconds: 5 };

  test('DR-37: closes when no pod waits that could probe', async () => {
    const made = evictionsOfTest();
    for (const node of ['n1', 'n2']) made.cluster.addPod({ name: node, node, app: node });
    await made.ready();
    made.cluster.intercept(() => Effect.succeed(throttled));
    made.drain('n1');
    await made.time.advance(100);
    made.registry.release('n1', 'reclaim');
    await made.time.advance(10_000);
    made.cluster.intercept(() => Effect.succeed(undefined));
    made.drain('n2');
    await made.time.advance(100);
    expect(podsAsked(made)).toEqual(['n1', 'n2']);
  });

  test('DR-37: is logged once while probes fail', async () => {
    const made = evictionsOfTest();
    made.cluster.addPod({ name: 'p1', node: 'n1', app: 'a' });
    await made.ready();
    made.cluster.intercept(() => Effect.succeed(throttled));
    made.drain('n1');
    await made.time.advance(21_000);
    expect(podsAsked(made)).toHaveLength(5);
    expect(made.warnings).toEqual(['Eviction circuit opened']);
  });

  test('DR-37: ends the wait for a connection with an event of the pods alone', async () => {
    const made = evictionsOfTest();
    made.cluster.addPod({ name: 'p1', node: 'n1', app: 'a' });
    made.cluster.addPod({ name: 'busy', node: 'n2', app: 'b' });
    await made.ready();
    made.cluster.cutLine(true);
    made.drain('n1');
    await made.time.advance(500);
    made.cluster.cutLine(false);
    made.cluster.change('busy', { ready: false });
    await made.time.advance(500);
    expect(podsAsked(made)).toEqual(['p1']);
  });

  test('DR-37: counts as open while its actor restarts after a crash', async () => {
    let hasCrashed = false;
    const made = evictionsOfTest({
      onWarning: () => {
        if (hasCrashed) return;
        hasCrashed = true;
        throw new Error('planted');
      },
    });
    for (const node of ['n1', 'n2']) made.cluster.addPod({ name: node, node, app: node });
    await made.ready();
    made.cluster.intercept(() => Effect.succeed(throttled));
    made.drain('n1');
    await made.time.advance(10);
    made.cluster.intercept(() => Effect.succeed(undefined));
    made.drain('n2');
    await made.time.advance(100);
    expect(podsAsked(made)).toEqual(['n1']);
    expect(made.status('n2')).toMatchObject({
      reason: 'EvictionFailing',
      text: 'the eviction circuit is restarting',
    });
    await made.time.advance(10_000);
    expect(podsAsked(made).toSorted()).toEqual(['n1', 'n1', 'n2']);
  });
});
