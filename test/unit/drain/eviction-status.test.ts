/** What a registry of evictions reports of its pods, and what it follows and keeps. */
import { Effect } from 'effect';
import { Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { NotSent } from '../../../src/effects/kube-api.ts';
import { refusal } from '../../support/drains/eviction-refusals.ts';
import { budgetedApp, evictionsOfTest, podsAsked } from '../../support/drains/eviction-test-rig.ts';

const FORBIDDEN = refusal(
  403,
  'pods "p1" is forbidden: User "tidegate" cannot create resource "pods/eviction" in API group ""',
);

/** One pod on `n1` that its finalizer keeps when it is evicted. */
const onePod = async (options: Parameters<typeof evictionsOfTest>[0] = {}) => {
  const made = evictionsOfTest(options);
  made.cluster.addPod({ name: 'p1', node: 'n1', app: 'a', finalizers: ['x.dev/keep'] });
  await made.ready();
  return made;
};

const progressOf = ({ registry, uidOf }: ReturnType<typeof evictionsOfTest>) => {
  const uid = uidOf('p1');
  return uid === undefined ? undefined : registry.progress(uid);
};

describe('the status of a pod that must leave', () => {
  test('DR-41: has its refusals, also when it was accepted in the end', async () => {
    const made = await onePod();
    let left = 2;
    made.cluster.intercept(() => Effect.succeed((left -= 1) < 0 ? undefined : FORBIDDEN));
    made.drain('n1');
    await made.time.advance(100);
    expect(made.status('p1')).toMatchObject({ refusals: 1, accepted: false, inFlight: false });
    expect(progressOf(made)).toEqual({
      accepted: false,
      refusal: expect.stringContaining('cannot create resource'),
    });
    await made.time.advance(120_000);
    expect(podsAsked(made)).toHaveLength(3);
    expect(made.status('p1')).toMatchObject({ refusals: 2, accepted: true, inFlight: false });
    expect(progressOf(made)).toEqual({ accepted: true, refusal: '' });
    expect(made.evictedOn).toEqual([{ node: 'n1' }]);
  });

  test('DR-41: is in flight until the answer', async () => {
    const made = await onePod({ timing: { answerMs: 5000 } });
    made.drain('n1');
    await made.time.advance(1000);
    expect(made.status('p1')).toMatchObject({ inFlight: true, state: 'calling' });
    await made.time.advance(5000);
    expect(made.status('p1')).toMatchObject({ inFlight: false });
  });

  test('DR-41: names what blocks the pod now, not its last refusal', async () => {
    const made = await onePod();
    made.cluster.intercept(() => Effect.succeed(FORBIDDEN));
    made.drain('n1');
    await made.time.advance(100);
    expect(made.status('p1')).toMatchObject({ reason: 'EvictionForbidden' });
    made.cluster.settle('a');
    made.cluster.addBudget({ name: 'db', app: 'a', maxUnavailable: 0 });
    await made.time.advance(60_000);
    expect(made.status('p1')).toMatchObject({ state: 'queued', reason: 'BudgetNeverAllows' });
    expect(progressOf(made)).toEqual({ accepted: false, refusal: '' });
  });

  test('DR-22: is unknown for a pod that another has replaced', async () => {
    const made = await onePod();
    const [pod] = made.cluster.onNode('n1');
    made.cluster.drop('p1');
    made.cluster.addPod({ name: 'p1', node: 'n1', app: 'a' });
    await made.ready();
    if (pod === undefined) return expect.fail('no pod');
    made.registry.want(pod, {
      owner: 'reclaim',
      node: 'n1',
      deadlineMonotonicMs: 1e6,
      drainSinceMs: 0,
      podsLeft: () => 1,
    });
    expect(made.registry.statusOf(pod.uid)).toBeUndefined();
    expect([...made.registry.actors()].map(({ id }) => id)).not.toContain(pod.uid);
  });
});

describe('an API server that was away', () => {
  for (const seen of ['podCache', 'budgetCache'] as const) {
    test(`DR-37: gets the next eviction as soon as a watch of the ${seen} delivers`, async () => {
      const made = await onePod();
      made.cluster.intercept(() => Effect.fail(new NotSent({ why: 'connection refused' })));
      made.drain('n1');
      await made.time.advance(1100);
      const before = podsAsked(made).length;
      if (seen === 'budgetCache') made.cluster.budgetCache.bookmark(1000);
      else made.cluster.addPod({ name: 'other', node: 'n2', app: 'b' });
      await made.time.advance(10);
      expect(podsAsked(made)).toHaveLength(before + 1);
    });
  }
});

test('DR-30: budgets count that were in the list', async () => {
  const budgetsListed = new Subject<void>();
  const made = evictionsOfTest({ budgetsListed });
  await budgetedApp(made, { size: 2, unavailable: 0 });
  made.drain('n1');
  budgetsListed.next();
  await made.time.advance(10_000);
  expect(podsAsked(made)).toEqual([]);
  expect(made.status('p0')).toMatchObject({ state: 'queued', reason: 'BudgetNeverAllows' });
});

test('DR-33: nothing is kept of a budget whose pods have left, nor of the pods', async () => {
  const made = evictionsOfTest();
  await budgetedApp(made, { size: 3, unavailable: 1 });
  made.drain('n1');
  await made.untilEmpty(['n1'], 60_000);
  made.cluster.removeBudget('db');
  await made.time.advance(60_000);
  expect([...made.registry.actors()]).toEqual([]);
});

test('DR-33: a registry that has stopped follows nothing, and takes no pod', async () => {
  const made = await onePod();
  const { pods, budgets } = {
    pods: made.cluster.podCache.isFollowed,
    budgets: made.cluster.budgetCache.isFollowed,
  };
  expect([pods(), budgets()]).toEqual([true, true]);
  await Promise.all([made.registry.stop(), made.requesters.stop()]);
  expect([pods(), budgets()]).toEqual([false, false]);
  made.drain('n1');
  await made.time.advance(10_000);
  expect(podsAsked(made)).toEqual([]);
  expect(made.status('p1')).toBeUndefined();
});
