/** Evictions and what only a list shows: budgets that are listed late, and pods listed again. */
import { Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { budgetedApp, evictionsOfTest, podsAsked } from '../../support/drains/eviction-test-rig.ts';

/** A drained pod behind a budget, before the budgets are listed. */
const early = async (unavailable: number) => {
  const budgetsListed = new Subject<void>();
  const made = evictionsOfTest({ budgetsListed });
  await budgetedApp(made, { size: 2, unavailable });
  made.drain('n1');
  await made.time.advance(1000);
  return { made, budgetsListed };
};

describe('before the budgets are listed', () => {
  test('DR-30: a pod is requested, and then waits for a slot of its listed budget', async () => {
    const { made, budgetsListed } = await early(0);
    expect(made.registry.counts()).toEqual({});
    expect(made.status('p0')).toMatchObject({ state: 'early', accepted: false, refusals: 0 });
    budgetsListed.next();
    await made.time.advance(10_000);
    expect(podsAsked(made)).toEqual([]);
    expect(made.registry.counts()).toMatchObject({ queued: 2 });
  });

  test('DR-05: a pod is released, and is not evicted after it', async () => {
    const { made, budgetsListed } = await early(2);
    made.registry.release('n1', 'reclaim');
    budgetsListed.next();
    await made.time.advance(10_000);
    expect(podsAsked(made)).toEqual([]);
    expect(made.registry.actors()).toEqual([]);
    made.drain('n1');
    await made.time.advance(10_000);
    expect(made.cluster.left('n1')).toBe(0);
  });

  test('DR-22: a pod that disappears is forgotten', async () => {
    const { made, budgetsListed } = await early(0);
    const uid = made.uidOf('p0');
    const changed: string[] = [];
    made.registry.changes.subscribe((node) => changed.push(node));
    made.cluster.drop('p0');
    await made.time.advance(100);
    expect(uid && made.registry.statusOf(uid)).toBeUndefined();
    expect(changed).toEqual(['n1']);
    budgetsListed.next();
    await made.time.advance(1000);
    expect(made.registry.counts()).toMatchObject({ queued: 1 });
  });
});

describe('a new list of pods', () => {
  test('DR-22: shows that a pod is terminating', async () => {
    const made = evictionsOfTest();
    await budgetedApp(made, { size: 2, unavailable: 0 });
    made.drain('n1');
    await made.time.advance(100);
    const [known] = made.cluster.onNode('n1');
    if (known !== undefined) made.cluster.podCache.relist({ ...known, terminating: true });
    await made.time.advance(100);
    expect(made.status('p0')).toMatchObject({ state: 'terminating', accepted: true });
    expect(made.status('p1')?.state).toBe('queued');
  });

  test('RS-14: does not end the way of a listed pod out of its Services', async () => {
    const made = evictionsOfTest();
    made.cluster.addPod({ name: 'p1', node: 'n1', app: 'a', gate: 'open' });
    await made.ready();
    made.gates.keepListed(3000);
    made.drain('n1');
    await made.time.advance(1500);
    made.cluster.podCache.relist();
    await made.time.advance(3500);
    expect(podsAsked(made)).toEqual(['p1']);
    expect(made.gates.writes.map(({ isOpen }) => isOpen)).toEqual([false]);
  });
});
