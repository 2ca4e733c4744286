/** Slots of budgets after calls whose effect this process learns late, or never. */
import { Effect } from 'effect';
import { describe, expect, test } from 'vitest';
import { resourceVersion, uid } from '../../../src/domain/ids.ts';
import { AnswerLost } from '../../../src/effects/kube-api.ts';
import { refusal } from '../../support/drains/eviction-refusals.ts';
import {
  budgetedApp,
  evictionsOfTest,
  movesOf,
  podsAsked,
} from '../../support/drains/eviction-test-rig.ts';

describe('the slot of an eviction', () => {
  test('DR-32: a slot stays reserved when only a relist shows that its pod is gone', async () => {
    const made = evictionsOfTest({ timing: { terminationMs: 100 } });
    const { cluster, time } = made;
    await budgetedApp(made, { size: 2, unavailable: 1 });
    const last = cluster.known('p0');
    cluster.budgetCache.silence();
    cluster.podCache.silence();
    made.drain('n1');
    await time.advance(500);
    const [first] = podsAsked(made);
    expect([podsAsked(made).length, cluster.left('n1')]).toEqual([1, 1]);
    cluster.podCache.relistWithout(first === 'p0' ? last : cluster.known('p1'));
    await time.advance(1000);
    expect(podsAsked(made)).toEqual([first]);
    expect(cluster.refused()).toBe(0);
  });

  test('DR-32: the slot of an unanswered call is free soon after its pod is released', async () => {
    const made = evictionsOfTest();
    const { cluster, time, registry } = made;
    cluster.addPod({ name: 'q0', node: 'n2', app: 'a' });
    await budgetedApp(made, { size: 1, unavailable: 1 });
    cluster.intercept(() => Effect.fail(new AnswerLost({ why: 'cut' })));
    made.drain('n1');
    await time.advance(100);
    registry.release('n1', 'reclaim');
    cluster.intercept(() => Effect.succeed(undefined));
    made.drain('n2');
    await time.advance(10_000);
    expect(podsAsked(made)).toEqual(['p0', 'q0']);
    expect(cluster.left('n2')).toBe(0);
  });

  test('DR-32: a slot stays taken when the API server refused the UID after it charged the budget', async () => {
    const made = evictionsOfTest({ timing: { watchMs: 400 } });
    const { cluster, time } = made;
    await budgetedApp(made, { size: 2, unavailable: 1 });
    await time.advance(2000);
    for (const name of ['p0', 'p1']) {
      cluster.drop(name);
      cluster.addPod({ name, node: 'n1', app: 'a' });
    }
    made.drain('n1');
    await time.advance(300);
    expect(cluster.calls.map(({ status }) => status)).toEqual([409]);
  });

  test('DR-22: an eviction is not sent when its pod began to terminate meanwhile', async () => {
    const made = evictionsOfTest({ timing: { qps: 1 } });
    const { cluster, time } = made;
    cluster.addPod({ name: 'p0', node: 'n1', app: 'a' });
    await made.ready();
    made.drain('n1');
    await time.advance(10);
    expect(made.status('p0')?.state).toBe('calling');
    const known = cluster.known('p0');
    cluster.podCache.put(known && { ...known, terminating: true });
    await time.advance(5000);
    expect(podsAsked(made)).toEqual([]);
    expect(made.status('p0')?.state).toBe('terminating');
  });

  test('DR-32: a slot stays reserved after the last pod of a drain left its budget', async () => {
    const made = evictionsOfTest({ timing: { terminationMs: 100 } });
    const { cluster, time } = made;
    cluster.addPod({ name: 'q0', node: 'n2', app: 'a' });
    await budgetedApp(made, { size: 1, unavailable: 1 });
    const last = cluster.known('p0');
    cluster.budgetCache.silence();
    cluster.podCache.silence();
    made.drain('n1');
    await time.advance(500);
    cluster.podCache.relistWithout(last);
    await time.settle();
    made.drain('n2');
    await time.advance(1000);
    expect(podsAsked(made)).toEqual(['p0']);
  });

  test('DR-32: the slot of a pod that was deleted is free when a bookmark is newer', async () => {
    const made = evictionsOfTest();
    const { cluster, time } = made;
    await budgetedApp(made, { size: 2, unavailable: 1 });
    const last = cluster.known('p0');
    cluster.intercept(() => {
      cluster.intercept(() => Effect.as(Effect.sleep(30_000), undefined));
      cluster.podCache.remove(last && { ...last, resourceVersion: resourceVersion('5000') });
      return Effect.andThen(Effect.sleep(10), Effect.fail(new AnswerLost({ why: 'cut' })));
    });
    made.drain('n1');
    await time.advance(1000);
    expect(podsAsked(made)).toEqual(['p0']);
    cluster.budgetCache.bookmark(4999);
    await time.advance(100);
    expect(podsAsked(made)).toEqual(['p0']);
    const seen = movesOf(made, 'budget/');
    cluster.budgetCache.bookmark(5000);
    await time.advance(100);
    expect(podsAsked(made)).toEqual(['p0', 'p1']);
    expect(seen.length).toBeGreaterThan(0);
    const before = seen.length;
    cluster.budgetCache.bookmark(5001);
    await time.advance(100);
    expect(seen).toHaveLength(before);
  });

  test('DR-35: bookmarks reach no budget that waits for none', async () => {
    const made = evictionsOfTest();
    await budgetedApp(made, { size: 2, unavailable: 0 });
    made.drain('n1');
    await made.time.advance(100);
    const seen = movesOf(made, 'budget/');
    made.cluster.bookmark();
    await made.time.advance(100);
    expect(seen).toEqual([]);
  });

  test('DR-32: the slot of a pod whose name another one has is free soon', async () => {
    const made = evictionsOfTest();
    const { cluster, time, registry } = made;
    await budgetedApp(made, { size: 2, unavailable: 1 });
    const old = cluster.known('p0');
    cluster.intercept(() => {
      cluster.podCache.put(old && { ...old, uid: uid('other') });
      cluster.intercept(() => Effect.succeed(undefined));
      const conflict = refusal(409, 'the UID in the precondition (x) does not match', {
        details: { kind: 'Pod' },
      });
      return Effect.andThen(Effect.sleep(100), Effect.succeed(conflict));
    });
    made.drain('n1');
    await time.advance(1000);
    expect(podsAsked(made)).toEqual(['p0']);
    expect(old && registry.statusOf(old.uid)).toBeUndefined();
    await time.advance(2000);
    expect(podsAsked(made)).toEqual(['p0', 'p1']);
  });

  test('DR-32: no further request of its pod prolongs the slot of a lost answer', async () => {
    const made = evictionsOfTest();
    const { cluster, time } = made;
    cluster.addPod({ name: 'q0', node: 'n2', app: 'a' });
    cluster.node('n1', 'True');
    await budgetedApp(made, { size: 1, unavailable: 1 });
    cluster.intercept(() => Effect.fail(new AnswerLost({ why: 'cut' })));
    made.drain('n1');
    await time.advance(100);
    cluster.intercept(() => Effect.succeed(undefined));
    cluster.node('n1', 'Unknown');
    made.drain('n2');
    for (let at = 0; at < 12; at += 1) {
      made.drain('n1');
      cluster.bookmark();
      await time.advance(9000);
    }
    expect(podsAsked(made)).toEqual(['p0']);
    await time.advance(13_000);
    expect(podsAsked(made)).toEqual(['p0', 'q0']);
  });

  test('DR-30: a budget has an actor only while it covers a pod of a drain', async () => {
    const made = evictionsOfTest();
    await budgetedApp(made, { size: 3, unavailable: 1 });
    made.drain('n1');
    await made.untilEmpty(['n1'], 60_000);
    await made.time.advance(5000);
    expect(made.registry.actors()).toEqual([]);
    expect(made.registry.counts()).toMatchObject({ queued: 0, calling: 0, gone: 0 });
  });

  test('DR-30: a budget has no actor after its queue was released and deleted', async () => {
    const made = evictionsOfTest();
    await budgetedApp(made, { size: 2, unavailable: 0 });
    made.drain('n1');
    await made.time.advance(100);
    expect(made.registry.actors()).toHaveLength(3);
    made.registry.release('n1', 'reclaim');
    for (const name of ['p0', 'p1']) made.cluster.drop(name);
    await made.time.advance(1000);
    expect(made.registry.actors()).toEqual([]);
  });
});
