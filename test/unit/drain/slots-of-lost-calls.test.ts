/** Slots of budgets after calls whose effect this process learns late, or never. */
import { Effect } from 'effect';
import { describe, expect, test } from 'vitest';
import { AnswerLost } from '../../../src/effects/kube-api.ts';
import { budgetedApp, evictionsOfTest, podsAsked } from '../../support/drains/eviction-test-rig.ts';

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
});
