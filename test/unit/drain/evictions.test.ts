/** The registry of pods that must leave, on a small cluster in memory. */
import { Effect } from 'effect';
import { Subject } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { refusal } from '../../support/drains/eviction-refusals.ts';
import { budgetedApp, evictionsOfTest, podsAsked } from '../../support/drains/eviction-test-rig.ts';

describe('which pods are evicted', () => {
  test('DR-22: a terminating pod is not evicted, and is watched until it is gone', async () => {
    const made = evictionsOfTest();
    made.cluster.addPod({ name: 'p1', node: 'n1', app: 'a' });
    await made.ready();
    const uid = made.uidOf('p1') ?? expect.fail('There is no pod');
    made.drain('n1');
    await made.time.advance(100);
    made.drain('n1');
    expect(made.status('p1')).toMatchObject({ reason: 'Terminating', accepted: true });
    await made.time.advance(2000);
    expect(podsAsked(made)).toEqual(['p1']);
    expect(made.registry.statusOf(uid)).toBeUndefined();
    expect(made.cluster.violations).toEqual([]);
  });

  test('DR-22: nothing is sent when another UID has the name', async () => {
    const made = evictionsOfTest();
    made.cluster.addPod({ name: 'p1', node: 'n1', app: 'a' });
    await made.ready();
    const [old = expect.fail('There is no pod')] = made.cluster.onNode('n1');
    made.cluster.drop('p1');
    made.cluster.addPod({ name: 'p1', node: 'n2', app: 'a' });
    await made.ready();
    made.registry.want(old, {
      owner: 'reclaim',
      node: 'n1',
      deadlineMonotonicMs: 1e6,
      drainSinceMs: 0,
      podsLeft: () => 1,
    });
    await made.time.advance(10_000);
    expect(podsAsked(made)).toEqual([]);
    expect(made.registry.statusOf(old.uid)).toBeUndefined();
  });

  test('DR-22: a pod that was recreated while its eviction waited is not evicted', async () => {
    const made = evictionsOfTest();
    await budgetedApp(made, { size: 2, unavailable: 0 });
    made.drain('n1');
    await made.time.advance(100);
    made.cluster.drop('p0');
    made.cluster.addPod({ name: 'p0', node: 'n2', app: 'a' });
    made.cluster.changeBudget('db', { maxUnavailable: 5 });
    await made.time.advance(5000);
    expect(podsAsked(made)).toEqual(['p1']);
    expect(made.cluster.has('p0')).toBe(true);
  });

  test('DR-31: Pending and unready pods leave at once behind a budget without a slot', async () => {
    const made = evictionsOfTest();
    made.cluster.addPod({ name: 'pending', node: 'n1', app: 'a', phase: 'Pending', ready: false });
    made.cluster.addPod({ name: 'unready', node: 'n1', app: 'a', ready: false });
    await budgetedApp(made, { size: 3, unavailable: 2 });
    made.drain('n1');
    await made.time.advance(1000);
    expect(podsAsked(made).toSorted()).toEqual(['pending', 'unready']);
    expect(made.status('p0')).toMatchObject({ state: 'queued', reason: 'BlockedByBudget' });
  });

  test('DR-20: a pod that finishes while it waits is not evicted', async () => {
    const made = evictionsOfTest();
    await budgetedApp(made, { size: 2, unavailable: 0 });
    made.drain('n1');
    await made.time.advance(100);
    made.cluster.change('p0', { phase: 'Succeeded', ready: false });
    await made.time.advance(60_000);
    expect(podsAsked(made)).toEqual([]);
    expect(made.cluster.has('p0')).toBe(true);
  });

  test('DR-30: no pod is evicted before the budgets are known', async () => {
    const budgetsListed = new Subject<void>();
    const made = evictionsOfTest({ budgetsListed });
    made.cluster.addPod({ name: 'p1', node: 'n1', app: 'a' });
    await made.ready();
    made.drain('n1');
    await made.time.advance(60_000);
    expect(podsAsked(made)).toEqual([]);
    budgetsListed.next();
    await made.time.advance(1000);
    expect(podsAsked(made)).toEqual(['p1']);
  });

  test('DR-31: a pod under two budgets is not evicted until one of them is gone', async () => {
    const made = evictionsOfTest();
    await budgetedApp(made, { size: 3, unavailable: 3 });
    made.cluster.addBudget({ name: 'other', app: 'a', maxUnavailable: 3 });
    await made.ready();
    made.drain('n1');
    await made.time.advance(60_000);
    expect(podsAsked(made)).toEqual([]);
    expect(made.status('p0')).toMatchObject({ reason: 'TwoBudgets' });
    made.cluster.removeBudget('other');
    await made.time.advance(100);
    expect(podsAsked(made).length).toBe(3);
  });

  test('DR-30: pods join and leave the queue of a budget as its coverage changes', async () => {
    const made = evictionsOfTest();
    await budgetedApp(made, { size: 2, unavailable: 0 });
    made.cluster.addPod({ name: 'free', node: 'n2', app: 'b' });
    made.cluster.addBudget({ name: 'late', app: 'b', maxUnavailable: 0 });
    made.cluster.settle('b');
    await made.ready();
    made.drain('n1');
    made.drain('n2');
    await made.time.advance(1000);
    expect(podsAsked(made)).toEqual([]);
    expect(made.registry.counts()).toMatchObject({ queued: 3 });
    made.cluster.removeBudget('db');
    await made.time.advance(100);
    expect(podsAsked(made).toSorted()).toEqual(['p0', 'p1']);
    expect(made.status('free')).toMatchObject({ reason: 'BudgetNeverAllows', subject: 'ns/late' });
  });
});

describe('after a release', () => {
  test('DR-05: no new eviction is sent, and a sent one completes', async () => {
    const made = evictionsOfTest({ timing: { deleteMs: 500 } });
    await budgetedApp(made, { size: 6, unavailable: 2 });
    made.drain('n1');
    await made.time.advance(100);
    expect(podsAsked(made).length).toBe(1);
    made.registry.release('n1', 'reclaim');
    await made.time.advance(60_000);
    expect(podsAsked(made).length).toBe(1);
    expect(made.cluster.calls[0]?.status).toBe(201);
    expect(made.registry.actors()).toEqual([]);
    expect(made.cluster.left('n1')).toBe(5);
    expect(made.cluster.violations).toEqual([]);
  });

  test('DR-45: a released pod continues when it is requested again', async () => {
    const made = evictionsOfTest();
    await budgetedApp(made, { size: 3, unavailable: 1 });
    made.drain('n1');
    made.registry.release('n1', 'reclaim');
    await made.time.advance(10_000);
    expect(podsAsked(made)).toEqual([]);
    made.drain('n1');
    await made.time.advance(60_000);
    expect(made.cluster.left('n1')).toBe(0);
  });

  test('DR-33: a stop waits for the answers of sent calls', async () => {
    const made = evictionsOfTest({ timing: { answerMs: 8000 } });
    made.cluster.addPod({ name: 'p1', node: 'n1', app: 'a' });
    await made.ready();
    made.drain('n1');
    await made.time.advance(10);
    let ended = false;
    const stopped = made.registry.stop().then(() => {
      ended = true;
    });
    await made.time.advance(5000);
    expect(ended).toBe(false);
    await made.time.advance(5000);
    await stopped;
    expect(made.cluster.calls.map(({ status }) => status)).toEqual([201]);
    expect(made.cluster.violations).toEqual([]);
  });
});

describe('pods that cannot leave', () => {
  test('DR-44: under an unresponsive kubelet each pod is evicted once', async () => {
    const made = evictionsOfTest();
    for (const name of ['p1', 'p2']) made.cluster.addPod({ name, node: 'n1', app: 'a' });
    made.cluster.node('n1', 'Unknown');
    await made.ready();
    made.cluster.intercept(() => Effect.succeed(refusal(500, 'trouble')));
    made.drain('n1');
    await made.time.advance(600_000);
    expect(podsAsked(made).toSorted()).toEqual(['p1', 'p2']);
    expect(made.status('p1')).toMatchObject({ state: 'stranded', reason: 'KubeletSilent' });
    made.cluster.intercept(() => Effect.succeed(undefined));
    made.cluster.node('n1', 'True');
    await made.time.advance(5000);
    expect(made.cluster.left('n1')).toBe(0);
  });

  test('DR-41: a stuck finalizer is named', async () => {
    const made = evictionsOfTest();
    made.cluster.addPod({ name: 'p1', node: 'n1', app: 'a', finalizers: ['x.dev/keep'] });
    await made.ready();
    made.drain('n1');
    await made.time.advance(60_000);
    expect(made.status('p1')).toMatchObject({
      state: 'heldByFinalizer',
      reason: 'Finalizer',
      subject: 'x.dev/keep',
    });
    made.cluster.clearFinalizers('p1');
    await made.time.advance(100);
    expect(made.cluster.left('n1')).toBe(0);
    expect(podsAsked(made)).toEqual(['p1']);
  });

  test('DR-42: emits the node of each pod whose status changes, once for many', async () => {
    const made = evictionsOfTest();
    for (let at = 0; at < 50; at += 1) {
      made.cluster.addPod({ name: `p${at}`, node: 'n1', app: 'a' });
    }
    await made.ready();
    const changed: string[] = [];
    const listening = made.registry.changes.subscribe((node) => changed.push(node));
    made.drain('n1');
    await made.time.advance(5000);
    listening.unsubscribe();
    expect(new Set(changed)).toEqual(new Set(['n1']));
    expect(changed.length).toBeLessThan(250);
    expect(made.cluster.left('n1')).toBe(0);
    expect(made.defects).toEqual([]);
  });
});
