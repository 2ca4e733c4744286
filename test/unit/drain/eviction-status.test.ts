/** What drains, metrics and the status of a drain learn about the evictions of its pods. */
import { Effect } from 'effect';
import { describe, expect, test } from 'vitest';
import { refusal } from '../../support/drains/eviction-refusals.ts';
import { budgetedApp, evictionsOfTest } from '../../support/drains/eviction-test-rig.ts';

const POLICY = refusal(403, 'admission webhook "guard" denied the request: not today');
const FORBIDDEN = refusal(
  403,
  'User "x" cannot create resource "pods/eviction" in API group ""',
);

type Rig = ReturnType<typeof evictionsOfTest>;

/** Pods of one app each on the node `n1`, which a finalizer keeps there. */
const kept = async (...names: readonly string[]): Promise<Rig> => {
  const made = evictionsOfTest();
  for (const name of names) {
    made.cluster.addPod({ name, node: 'n1', app: name, finalizers: ['x.dev/keep'] });
  }
  await made.ready();
  return made;
};

const progress = ({ registry, uidOf }: Rig, name: string) => {
  const uid = uidOf(name);
  return uid === undefined ? undefined : registry.progress(uid);
};

describe('the status of an eviction', () => {
  test('DR-42: counts the refusals of its pod, and not the acceptance', async () => {
    const made = await kept('bad', 'good');
    made.cluster.intercept((pod) => Effect.succeed(pod === 'bad' ? POLICY : undefined));
    made.drain('n1');
    await made.time.advance(100);
    expect(made.status('bad')).toMatchObject({ refusals: 1, accepted: false, inFlight: false });
    expect(made.status('good')).toMatchObject({ refusals: 0, accepted: true, inFlight: false });
    made.cluster.intercept(() => Effect.succeed(undefined));
    await made.time.advance(11_000);
    expect(made.status('bad')).toMatchObject({ refusals: 1, accepted: true, reason: 'Finalizer' });
    expect(progress(made, 'bad')).toEqual({ accepted: true, refusal: '' });
  });

  test('DR-42: shows an answer only until the next call', async () => {
    const made = await kept('p1');
    made.cluster.intercept(() => Effect.succeed(POLICY));
    const changed: string[] = [];
    made.registry.changes.subscribe((node) => changed.push(node));
    made.drain('n1');
    await made.time.advance(100);
    expect(changed).toContain('n1');
    expect(made.status('p1')).toMatchObject({
      inFlight: false,
      reason: 'PolicyRefused',
      text: expect.not.stringContaining('not asked'),
    });
    made.cluster.intercept(() => Effect.andThen(Effect.sleep(5000), Effect.succeed(undefined)));
    await made.time.advance(11_000);
    expect(made.status('p1')).toMatchObject({ inFlight: true, reason: 'WaitingForTurn' });
  });

  test('DR-42: names a missing right, and no other refusal, as impossible', async () => {
    const made = await kept('bad', 'barred');
    made.cluster.intercept((pod) => Effect.succeed(pod === 'bad' ? POLICY : FORBIDDEN));
    expect(progress(made, 'bad')).toBeUndefined();
    made.drain('n1');
    await made.time.advance(100);
    expect(progress(made, 'bad')).toEqual({ accepted: false, refusal: '' });
    expect(progress(made, 'barred')).toEqual({
      accepted: false,
      refusal: expect.stringContaining('cannot create resource'),
    });
  });

  test('DR-37: names the budget without a slot also while the circuit is open', async () => {
    const made = evictionsOfTest();
    made.cluster.addPod({ name: 'free', node: 'n1', app: 'b' });
    await budgetedApp(made, { size: 2, unavailable: 0 });
    made.cluster.intercept(() =>
      Effect.succeed({ ...refusal(429, 'slow down'), retryAfterSeconds: 20 })
    );
    made.drain('n1');
    await made.time.advance(1000);
    expect(made.status('free')?.reason).toBe('ServerThrottling');
    expect(made.status('p0')?.reason).toBe('BudgetNeverAllows');
  });

  test('DR-42: counts the time without a slot from when a pod last left', async () => {
    const made = evictionsOfTest();
    await budgetedApp(made, { size: 3, unavailable: 0 });
    made.drain('n1');
    await made.time.advance(30_000);
    expect(made.status('p1')?.noSlotMs).toBe(30_000);
    made.cluster.drop('p0');
    await made.time.advance(1000);
    expect(made.status('p1')?.noSlotMs).toBeLessThan(1001);
    await made.time.advance(30_000);
    const leaving = made.cluster.known('p2');
    made.cluster.podCache.put(leaving && { ...leaving, terminating: true });
    await made.time.advance(1000);
    expect(made.status('p1')?.noSlotMs).toBeLessThan(1001);
    made.cluster.podCache.put(leaving && { ...leaving, terminating: true, deletionMs: 0 });
    const waiting = made.cluster.known('p1');
    made.cluster.podCache.put(waiting && { ...waiting, finalizers: ['x.dev/keep'] });
    await made.time.advance(1000);
    made.cluster.drop('p2');
    await made.time.advance(1000);
    expect(made.status('p1')?.noSlotMs).toBeGreaterThan(2900);
  });

  test('DR-42: changes with the state of a pod or budget, not with each fact', async () => {
    const made = evictionsOfTest();
    made.cluster.addPod({ name: 'q0', node: 'n2', app: 'a' });
    await budgetedApp(made, { size: 2, unavailable: 0 });
    for (const node of ['n1', 'n2']) made.drain(node);
    await made.time.advance(1000);
    const changed: string[] = [];
    made.registry.changes.subscribe((node) => changed.push(node));
    made.registry.bringForward('n1', 'reclaim', 300_000);
    made.cluster.changeBudget('db', { maxUnavailable: 0 });
    await made.time.advance(1000);
    expect(changed).toEqual([]);
    made.cluster.changeBudget('db', { maxUnavailable: 1 });
    await made.time.advance(500);
    expect(made.registry.counts()).toMatchObject({ queued: 2 });
    expect(new Set(changed)).toEqual(new Set(['n1', 'n2']));
  });

  test('ER-74: changes with the request of its pod', async () => {
    const made = evictionsOfTest({ mode: 'auto' });
    made.cluster.addPod({ name: 'p1', node: 'n1', app: 'a' });
    made.requests.register('p1', ['backup.db.example.com']);
    await made.ready();
    made.drain('n1');
    await made.time.advance(1000);
    const changed: string[] = [];
    made.registry.changes.subscribe((node) => changed.push(node));
    made.requests.change('p1', () => ({ requesters: ['other.example.com'] }));
    await made.time.advance(1000);
    expect(changed.length).toBeGreaterThan(0);
  });
});

test('RS-30: accepted evictions are counted by node, while the Node exists', async () => {
  const made = await kept('bad', 'good', 'fine');
  made.cluster.node('n1', 'True');
  made.cluster.intercept((pod) => Effect.succeed(pod === 'bad' ? POLICY : undefined));
  made.drain('n1');
  await made.time.advance(5000);
  expect(made.evicted).toEqual([{ by: 1, node: 'n1' }, { by: 1, node: 'n1' }]);
  expect(made.forgotten).toEqual([]);
  made.cluster.nodeCache.remove([...made.cluster.caches.nodes.values()][0]);
  await made.time.advance(100);
  expect(made.forgotten).toEqual([{ name: 'tidegate_node_evictions_total', node: 'n1' }]);
});

// The answer made the series of the deleted Node again, and nothing removed it.
test('RS-30: an eviction that is accepted after its Node is gone is not counted', async () => {
  const made = await kept('p1');
  made.cluster.node('n1', 'True');
  made.cluster.intercept(() => Effect.as(Effect.sleep(5000), undefined));
  made.drain('n1');
  await made.time.advance(1000);
  expect(made.status('p1')).toMatchObject({ inFlight: true });
  made.cluster.nodeCache.remove([...made.cluster.caches.nodes.values()][0]);
  await made.time.advance(10_000);
  expect(made.status('p1')).toMatchObject({ accepted: true });
  expect(made.forgotten).toEqual([{ name: 'tidegate_node_evictions_total', node: 'n1' }]);
  expect(made.evicted).toEqual([]);
});
