/** Slots of budgets: which pod gets one, in which order, and which waits. */
import { Effect } from 'effect';
import { describe, expect, test } from 'vitest';
import { AnswerLost } from '../../../src/effects/kube-api.ts';
import { refusal } from '../../support/drains/eviction-refusals.ts';
import { budgetedApp, evictionsOfTest, podsAsked } from '../../support/drains/eviction-test-rig.ts';

describe('slots', () => {
  test('DR-32: after a refusal no eviction is sent until the status is newer', async () => {
    const made = evictionsOfTest();
    await budgetedApp(made, { size: 3, unavailable: 1 });
    let refusals = 0;
    made.cluster.intercept(() => {
      refusals += 1;
      return Effect.succeed(refusal(429, 'no', { cause: 'DisruptionBudget' }));
    });
    made.drain('n1');
    await made.time.advance(60_000);
    expect(refusals).toBe(1);
    made.cluster.intercept(() => Effect.succeed(undefined));
    made.cluster.changeBudget('db', { maxUnavailable: 2 });
    await made.time.advance(500);
    expect(podsAsked(made).length).toBe(3);
    expect(made.cluster.violations).toEqual([]);
  });

  test('DR-35: a budget that closes stops evictions, which resume when it opens', async () => {
    const made = evictionsOfTest();
    await budgetedApp(made, { size: 4, unavailable: 1 });
    made.drain('n1');
    await made.time.advance(1000);
    made.cluster.changeBudget('db', { maxUnavailable: 0 });
    await made.time.advance(100);
    const before = podsAsked(made).length;
    for (let minute = 0; minute < 10; minute += 1) {
      made.cluster.bookmark();
      await made.time.advance(60_000);
    }
    expect(podsAsked(made).length).toBe(before);
    made.cluster.changeBudget('db', { maxUnavailable: 1 });
    await made.time.advance(60_000);
    expect(podsAsked(made).length).toBe(4);
    expect(made.cluster.refused()).toBe(0);
  });

  test('DR-35: a watch that is silent for 120 s is probed by one call for each budget', async () => {
    const made = evictionsOfTest();
    await budgetedApp(made, { size: 4, unavailable: 0 });
    made.drain('n1');
    await made.time.advance(1000);
    made.cluster.budgetCache.silence();
    await made.time.advance(110_000);
    expect(podsAsked(made).length).toBe(0);
    await made.time.advance(15_000);
    expect(podsAsked(made).length).toBe(1);
    await made.time.advance(120_000);
    expect(podsAsked(made).length).toBe(2);
  });

  test('DR-35: a recovered watch ends the probing of budgets without a queue', async () => {
    const made = evictionsOfTest();
    await budgetedApp(made, { size: 3, unavailable: 0 });
    made.drain('n1');
    await made.time.advance(100);
    made.registry.release('n1', 'reclaim');
    await made.time.advance(130_000);
    made.cluster.bookmark();
    await made.ready();
    made.drain('n1');
    await made.time.advance(1000);
    expect(podsAsked(made)).toEqual([]);
  });

  test('DR-32: a call whose answer was lost keeps its slot for its own retry', async () => {
    const made = evictionsOfTest();
    await budgetedApp(made, { size: 3, unavailable: 1 });
    let lost = 0;
    made.cluster.intercept(() => {
      lost += 1;
      if (lost > 1) return Effect.succeed(undefined);
      return Effect.fail(new AnswerLost({ why: 'cut' }));
    });
    made.drain('n1');
    await made.time.advance(1000);
    const [first = ''] = podsAsked(made);
    expect(made.status(first)).toMatchObject({ reason: 'EvictionUnanswered' });
    expect(podsAsked(made).length).toBe(1);
    await made.time.advance(2000);
    expect(podsAsked(made)).toEqual([first, first]);
    await made.time.advance(60_000);
    expect(made.cluster.left('n1')).toBe(0);
    expect(made.cluster.refused()).toBe(0);
    expect(made.cluster.violations).toEqual([]);
  });

  test('DR-32: a lost answer keeps its slot when its drain stopped and resumed meanwhile', async () => {
    const made = evictionsOfTest();
    await budgetedApp(made, { size: 3, unavailable: 1 });
    made.cluster.intercept(() => {
      made.cluster.intercept(() => Effect.succeed(undefined));
      return Effect.andThen(
        Effect.sleep(10_000),
        Effect.fail(new AnswerLost({ why: 'no answer in time' })),
      );
    });
    made.drain('n1');
    await made.time.advance(5000);
    made.registry.release('n1', 'reclaim');
    await made.time.advance(1000);
    made.drain('n1');
    await made.time.advance(7000);
    const [first = '', ...others] = podsAsked(made);
    expect(others).toEqual([first]);
    await made.time.advance(60_000);
    expect(made.cluster.left('n1')).toBe(0);
    expect(made.cluster.refused()).toBe(0);
    expect(made.cluster.violations).toEqual([]);
  });

  test('DR-32: an accepted eviction keeps its slot after its release until it is watched', async () => {
    const made = evictionsOfTest();
    await budgetedApp(made, { size: 3, unavailable: 1 });
    const { podCache, budgetCache } = made.cluster;
    podCache.hold();
    budgetCache.hold();
    made.drain('n1');
    await made.time.advance(1000);
    made.registry.release('n1', 'reclaim');
    await made.time.advance(60_000);
    made.drain('n1');
    await made.time.advance(1000);
    expect(podsAsked(made)).toHaveLength(1);
    podCache.letThrough();
    budgetCache.letThrough();
    await made.time.advance(60_000);
    expect(made.cluster.left('n1')).toBe(0);
    expect(made.cluster.refused()).toBe(0);
  });

  test('DR-32: the lost answer of a landed call is not retried', async () => {
    const made = evictionsOfTest();
    await budgetedApp(made, { size: 2, unavailable: 1 });
    const { cluster } = made;
    cluster.intercept((pod) => {
      cluster.charged('db', pod);
      cluster.drop(pod);
      cluster.intercept(() => Effect.succeed(undefined));
      return Effect.fail(new AnswerLost({ why: 'cut' }));
    });
    made.drain('n1');
    await made.time.advance(60_000);
    expect(podsAsked(made)).toEqual(['p0']);
  });

  test('DR-32: a pod that became ready while its call waited does not leave without a slot', async () => {
    const made = evictionsOfTest({ timing: { qps: 1 } });
    for (const name of ['p0', 'p1', 'p2']) made.cluster.addPod({ name, node: 'n1', app: 'a' });
    made.cluster.settle('a');
    made.cluster.change('p1', { ready: false });
    made.cluster.addBudget({ name: 'db', app: 'a', maxUnavailable: 1, alwaysAllow: true });
    await made.ready();
    made.drain('n1');
    await made.time.advance(10);
    expect(made.status('p1')?.state).toBe('calling');
    made.cluster.change('p1', { ready: true });
    await made.time.advance(60_000);
    expect(made.cluster.mostAtOnce()).toBe(1);
    expect(made.cluster.refused()).toBe(0);
    expect(made.cluster.left('n1')).toBe(0);
    expect(made.cluster.violations).toEqual([]);
  });

  test('DR-37: no slot is assigned while the circuit is open, and that is reported', async () => {
    const made = evictionsOfTest();
    await budgetedApp(made, { size: 2, unavailable: 2 });
    made.cluster.intercept(() =>
      Effect.succeed({ ...refusal(429, 'slow down'), retryAfterSeconds: 20 })
    );
    made.drain('n1');
    await made.time.advance(1000);
    expect(podsAsked(made).length).toBe(1);
    for (const name of ['p0', 'p1']) {
      expect(made.status(name)).toMatchObject({ state: 'queued', reason: 'ServerThrottling' });
    }
    expect(made.warnings).toEqual(['Eviction circuit opened']);
    made.cluster.intercept(() => Effect.succeed(undefined));
    await made.time.advance(30_000);
    expect(made.cluster.left('n1')).toBe(0);
    expect(made.cluster.violations).toEqual([]);
  });

  test('DR-34: a slot goes first to the interrupted eviction', async () => {
    const made = evictionsOfTest();
    await budgetedApp(made, { size: 4, unavailable: 2 });
    made.cluster.charged('db', 'p3');
    await made.ready();
    made.drain('n1');
    await made.time.advance(100);
    expect(podsAsked(made)[0]).toBe('p3');
  });

  test('DR-34: a slot held by an interrupted eviction is reported, with its end', async () => {
    const made = evictionsOfTest();
    await budgetedApp(made, { size: 3, unavailable: 1 });
    made.cluster.charged('db', 'p2');
    await made.ready();
    made.drain('n1');
    await made.time.advance(1000);
    expect(podsAsked(made)).toEqual([]);
    expect(made.status('p0')).toMatchObject({
      reason: 'SlotHeldByInterruptedEviction',
      text: expect.stringContaining('2026-01-01T00:02:00Z'),
    });
    await made.time.advance(125_000);
    expect(made.cluster.left('n1')).toBeLessThan(3);
  });

  test('DR-34: an interrupted eviction on a node that stays holds its slot as well', async () => {
    const made = evictionsOfTest();
    await budgetedApp(made, { size: 3, unavailable: 1 });
    made.cluster.addPod({ name: 'elsewhere', node: 'n2', app: 'a' });
    made.cluster.settle('a');
    await made.ready();
    made.cluster.charged('db', 'elsewhere');
    await made.ready();
    made.drain('n1');
    await made.time.advance(1000);
    expect(podsAsked(made)).toEqual([]);
    expect(made.status('p0')?.reason).toBe('SlotHeldByInterruptedEviction');
    await made.time.advance(125_000);
    expect(podsAsked(made).length).toBeGreaterThan(0);
  });

  test('DR-34: the node with the fewest pods left comes first', async () => {
    const made = evictionsOfTest();
    for (const name of ['x1', 'x2', 'x3']) made.cluster.addPod({ name, node: 'full', app: 'a' });
    made.cluster.addPod({ name: 'y1', node: 'nearly-empty', app: 'a' });
    made.cluster.settle('a');
    made.cluster.addBudget({ name: 'db', app: 'a', maxUnavailable: 0 });
    await made.ready();
    made.drain('full');
    made.drain('nearly-empty');
    await made.time.advance(100);
    made.cluster.changeBudget('db', { maxUnavailable: 1 });
    await made.time.advance(100);
    expect(podsAsked(made)).toEqual(['y1']);
  });

  test('DR-33: one call is in flight under one budget, and different budgets run in parallel', async () => {
    const made = evictionsOfTest({ timing: { answerMs: 1000 } });
    await budgetedApp(made, { size: 3, unavailable: 3 });
    for (const name of ['q0', 'q1']) made.cluster.addPod({ name, node: 'n1', app: 'b' });
    made.cluster.settle('b');
    made.cluster.addBudget({ name: 'other', app: 'b', maxUnavailable: 2 });
    await made.ready();
    made.drain('n1');
    await made.time.advance(500);
    expect(podsAsked(made).length).toBe(2);
    await made.time.advance(10_000);
    expect(made.cluster.mostAtOnce()).toBe(1);
    expect(made.cluster.left('n1')).toBe(0);
  });

  test('DR-33: the flag sets the number of calls in flight', async () => {
    const made = evictionsOfTest({ callsPerBudget: 3, timing: { answerMs: 1000 } });
    await budgetedApp(made, { size: 5, unavailable: 5 });
    made.drain('n1');
    await made.time.advance(500);
    expect(podsAsked(made).length).toBe(3);
  });
});
