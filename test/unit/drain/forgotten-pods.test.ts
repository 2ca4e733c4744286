/**
 * Regression: a pod that no drain wanted any more was kept until it died. A cancelled reclaim of
 * many Nodes left an actor for each of their pods; and the next drain of the Node went on with the
 * clocks of the one before: it called a budget closed for long, and waited minutes after the first
 * refusal of a webhook.
 */
import { Effect } from 'effect';
import { describe, expect, test } from 'vitest';
import { AnswerLost } from '../../../src/effects/kube-api.ts';
import { refusal } from '../../support/drains/eviction-refusals.ts';
import { budgetedApp, evictionsOfTest, podsAsked } from '../../support/drains/eviction-test-rig.ts';

const DENIED = refusal(403, 'admission webhook "guard" denied the request: no');

describe('a pod that no drain wants any more', () => {
  test('DR-05: is forgotten, and its budget with the last one', async () => {
    const made = evictionsOfTest();
    await budgetedApp(made, { size: 5, unavailable: 0 });
    made.drain('n1');
    made.drainBy('disabled')('n1');
    await made.time.advance(1000);
    expect(made.registry.actors()).toHaveLength(6);
    made.registry.release('n1', 'reclaim');
    await made.time.advance(1000);
    expect(made.registry.actors()).toHaveLength(6);
    made.registry.release('n1', 'disabled');
    await made.time.advance(1000);
    expect(made.registry.actors()).toEqual([]);
    expect(made.status('p0')).toBeUndefined();
  });

  test('DR-42: waits for its budget anew in the next drain', async () => {
    const made = evictionsOfTest();
    await budgetedApp(made, { size: 2, unavailable: 0 });
    made.drain('n1');
    await made.time.advance(60_000);
    expect(made.status('p0')?.noSlotMs).toBe(60_000);
    made.registry.release('n1', 'reclaim');
    await made.time.advance(5000);
    made.drain('n1');
    await made.time.advance(1000);
    expect(made.status('p0')?.noSlotMs).toBe(1000);
  });

  test('is tried soon after the first refusal of the next drain', async () => {
    const made = evictionsOfTest({ graceMs: 7_200_000 });
    made.cluster.addPod({ name: 'p1', node: 'n1', app: 'a' });
    await made.ready();
    made.cluster.intercept(() => Effect.succeed(DENIED));
    made.drain('n1');
    await made.time.advance(1_200_000);
    expect(podsAsked(made).length).toBeGreaterThan(6);
    made.registry.release('n1', 'reclaim');
    await made.time.advance(1000);
    const before = podsAsked(made).length;
    made.drain('n1');
    await made.time.advance(11_000);
    expect(podsAsked(made).length - before).toBe(2);
    expect(made.status('p1')?.refusals).toBe(2);
  });

  test('goes on when a drain wants it in the same moment', async () => {
    const made = evictionsOfTest();
    await budgetedApp(made, { size: 2, unavailable: 0 });
    made.drain('n1');
    await made.time.advance(60_000);
    made.registry.release('n1', 'reclaim');
    made.drain('n1');
    await made.time.advance(1000);
    expect(made.registry.counts()).toMatchObject({ queued: 2, released: 0 });
    expect(made.status('p0')?.noSlotMs).toBe(1000);
    made.cluster.changeBudget('db', { maxUnavailable: 1 });
    await made.untilEmpty(['n1'], 60_000);
    expect(podsAsked(made)).toHaveLength(2);
  });

  test('DR-32: is kept while an unanswered call may have taken a slot for it', async () => {
    const made = evictionsOfTest();
    await budgetedApp(made, { size: 2, unavailable: 1 });
    made.cluster.intercept(() => Effect.fail(new AnswerLost({ why: 'cut' })));
    made.drain('n1');
    await made.time.advance(100);
    expect(podsAsked(made)).toEqual(['p0']);
    made.registry.release('n1', 'reclaim');
    await made.time.advance(1000);
    expect(made.registry.counts()).toMatchObject({ released: 1 });
    await made.time.advance(1500);
    expect(made.registry.actors()).toEqual([]);
  });

  test('DR-32: holds the slot of its unanswered call for the retry when a drain wants it soon', async () => {
    const made = evictionsOfTest();
    const { cluster, time, registry } = made;
    cluster.addPod({ name: 'q0', node: 'n2', app: 'a' });
    cluster.node('n1', 'True');
    await budgetedApp(made, { size: 1, unavailable: 1 });
    cluster.intercept(() => Effect.fail(new AnswerLost({ why: 'cut' })));
    made.drain('n1');
    await time.advance(100);
    cluster.intercept(() => Effect.succeed(undefined));
    cluster.node('n1', 'Unknown');
    registry.release('n1', 'reclaim');
    await time.advance(1000);
    made.drain('n1');
    made.drain('n2');
    await time.advance(60_000);
    expect(podsAsked(made)).toEqual(['p0']);
  });

  test('DR-33: a call in flight is answered before its pod is forgotten', async () => {
    const made = evictionsOfTest({ timing: { answerMs: 5000 } });
    made.cluster.addPod({ name: 'p1', node: 'n1', app: 'a' });
    await made.ready();
    made.cluster.intercept(() => Effect.as(Effect.sleep(5000), DENIED));
    made.drain('n1');
    await made.time.advance(100);
    made.registry.release('n1', 'reclaim');
    await made.time.advance(1000);
    expect(made.registry.counts()).toMatchObject({ calling: 1 });
    await made.time.advance(10_000);
    expect(made.registry.actors()).toEqual([]);
    expect(podsAsked(made)).toEqual(['p1']);
    expect(made.defects).toEqual([]);
  });
});
