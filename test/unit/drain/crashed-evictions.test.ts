/** Crashes of the actors of evictions: what they held is free again, and nothing is lost. */
import { Effect } from 'effect';
import { describe, expect, test } from 'vitest';
import { refusal } from '../../support/drains/eviction-refusals.ts';
import {
  budgetedApp,
  crash,
  evictionsOfTest,
  podsAsked,
} from '../../support/drains/eviction-test-rig.ts';

describe('after a crash', () => {
  test('evictions: pods that were chosen or waited take their turns again', async () => {
    const made = evictionsOfTest({ timing: { qps: 20 } });
    for (let at = 0; at < 20; at += 1) {
      made.cluster.addPod({ name: `p${at}`, node: 'n1', app: 'a' });
    }
    await made.ready();
    made.drain('n1');
    await made.time.advance(1);
    expect(made.registry.counts()).toMatchObject({ calling: 9, asking: 11 });
    crash(made, 'podEviction');
    expect(made.registry.counts()).toMatchObject({ crashed: 20 });
    await made.time.advance(30_000);
    expect(made.cluster.left('n1')).toBe(0);
  });

  test('evictions: a pod that had a slot keeps it for its own retry', async () => {
    const made = evictionsOfTest({ timing: { qps: 1 } });
    await budgetedApp(made, { size: 3, unavailable: 1 });
    made.drain('n1');
    await made.time.advance(10);
    expect(made.status('p0')?.state).toBe('calling');
    crash(made, 'podEviction', 'ns/p0');
    await made.time.advance(60_000);
    expect(made.cluster.left('n1')).toBe(0);
    expect(podsAsked(made)[0]).toBe('p0');
    expect([made.cluster.refused(), made.cluster.mostAtOnce()]).toEqual([0, 1]);
  });

  test('DR-37: evictions: another pod probes in place of the one that crashed', async () => {
    // Nothing was reported to the circuit: half-open, it waited for an answer that never came.
    const made = evictionsOfTest({ timing: { answerMs: 2000 } });
    for (const name of ['p1', 'p2', 'p3']) made.cluster.addPod({ name, node: 'n1', app: 'a' });
    await made.ready();
    const throttled = { ...refusal(429, 'slow down'), retryAfterSeconds: 5 };
    made.cluster.intercept(() => Effect.succeed(throttled));
    made.drain('n1');
    await made.time.advance(4000);
    made.cluster.intercept(() => Effect.succeed(undefined));
    await made.time.advance(2000);
    expect(podsAsked(made).slice(3)).toEqual(['p1']);
    crash(made, 'podEviction', 'ns/p1');
    await made.time.advance(1000);
    expect(podsAsked(made).slice(3)).toEqual(['p1', 'p2']);
    await made.time.advance(30_000);
    expect(made.cluster.left('n1')).toBe(0);
  });

  test('evictions: a budget keeps its queue and the evictions in flight', async () => {
    const made = evictionsOfTest({ timing: { answerMs: 5000 } });
    await budgetedApp(made, { size: 3, unavailable: 3 });
    made.drain('n1');
    await made.time.advance(500);
    expect(podsAsked(made)).toHaveLength(1);
    crash(made, 'budget');
    await made.time.advance(3000);
    expect(podsAsked(made)).toHaveLength(1);
    await made.time.advance(60_000);
    expect(made.cluster.left('n1')).toBe(0);
    expect(made.cluster.mostAtOnce()).toBe(1);
  });

  test('evictions: a budget goes on with its newest status', async () => {
    const made = evictionsOfTest();
    await budgetedApp(made, { size: 3, unavailable: 1 });
    made.cluster.changeBudget('db', { maxUnavailable: 0 });
    await made.ready();
    made.drain('n1');
    await made.time.advance(100);
    made.cluster.changeBudget('db', { maxUnavailable: 1 });
    made.cluster.changeBudget('db', { maxUnavailable: 0 });
    await made.time.advance(100);
    crash(made, 'budget');
    await made.time.advance(10_000);
    expect(podsAsked(made)).toEqual([]);
  });

  test('DR-22: a pod that disappears before the restart leaves nothing behind', async () => {
    const made = evictionsOfTest();
    await budgetedApp(made, { size: 1, unavailable: 0 });
    made.drain('n1');
    await made.time.advance(100);
    crash(made, 'podEviction');
    made.cluster.drop('p0');
    await made.time.advance(60_000);
    expect(made.registry.actors()).toEqual([]);
    expect(made.registry.counts()).toMatchObject({ crashed: 0, queued: 0 });
  });

  test('DR-20: a pod that has finished is not evicted', async () => {
    const made = evictionsOfTest();
    await budgetedApp(made, { size: 1, unavailable: 0 });
    made.drain('n1');
    await made.time.advance(100);
    made.cluster.change('p0', { phase: 'Succeeded', ready: false });
    await made.time.advance(100);
    crash(made, 'podEviction');
    await made.time.advance(60_000);
    expect(podsAsked(made)).toEqual([]);
    expect(made.registry.actors()).toEqual([]);
  });

  test('RS-14: a pod that was leaving its Services serves again until it goes on', async () => {
    const made = evictionsOfTest();
    made.cluster.addPod({ name: 'p1', node: 'n1', app: 'a', gate: 'open' });
    await made.ready();
    made.gates.keepListed(5000);
    made.drain('n1');
    await made.time.advance(1000);
    crash(made, 'podEviction');
    await made.time.advance(60_000);
    expect(made.gates.writes.map(({ isOpen }) => isOpen)).toEqual([false, true, false]);
    expect(podsAsked(made)).toEqual(['p1']);
  });
});
