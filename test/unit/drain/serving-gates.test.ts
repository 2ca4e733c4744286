/** Pods with the readiness gate `tidegate.dev/serving`, on a small cluster in memory (RS-14). */
import { Effect } from 'effect';
import { describe, expect, test } from 'vitest';
import { refusal } from '../../support/drains/eviction-refusals.ts';
import type { PodSeed } from '../../support/drains/fake-pod-objects.ts';
import { evictionsOfTest, podsAsked } from '../../support/drains/eviction-test-rig.ts';

const ELSEWHERE_MS = 120_000;

/** A pod with the gate on the node `n1`. */
const gated = async (gate: PodSeed['gate'] = 'open') => {
  const made = evictionsOfTest();
  made.cluster.addPod({ name: 'p1', node: 'n1', app: 'a', gate, ready: gate === 'open' });
  await made.ready();
  return made;
};

const isServing = ({ cluster }: ReturnType<typeof evictionsOfTest>): boolean | undefined =>
  cluster.known('p1')?.gate?.isOpen;

describe('a pod with the serving gate', () => {
  test('RS-14: is set not-serving, and evicted when no EndpointSlice lists it as ready', async () => {
    const made = await gated();
    const { gates, time, drain, status, cluster } = made;
    gates.keepListed(5000);
    drain('n1');
    await time.advance(4000);
    expect(gates.writes).toMatchObject([{ pod: 'p1', isOpen: false }]);
    expect(cluster.known('p1')?.gate).toMatchObject({ isOpen: false, isEvicting: true });
    expect(podsAsked(made)).toEqual([]);
    expect(status('p1')).toMatchObject({ reason: 'LeavingBackends', state: 'leavingBackends' });
    await time.advance(3000);
    expect(podsAsked(made)).toEqual(['p1']);
    expect(cluster.left('n1')).toBe(0);
    expect(gates.writes).toHaveLength(1);
  });

  test('RS-14: is evicted after 30 s although an EndpointSlice still lists it', async () => {
    const made = await gated();
    made.gates.keepListed(Infinity);
    made.drain('n1');
    await made.time.advance(29_000);
    expect(podsAsked(made)).toEqual([]);
    await made.time.advance(2000);
    expect(podsAsked(made)).toEqual(['p1']);
  });

  test('RS-14: serves again when its drain is withdrawn meanwhile', async () => {
    const made = await gated();
    made.gates.keepListed(Infinity);
    made.drain('n1');
    await made.time.advance(5000);
    expect(isServing(made)).toBe(false);
    made.registry.release('n1', 'reclaim');
    await made.time.advance(100);
    expect(isServing(made)).toBe(true);
    await made.time.advance(60_000);
    expect(podsAsked(made)).toEqual([]);
    expect(made.gates.writes.map(({ isOpen }) => isOpen)).toEqual([false, true]);
    expect(made.warnings).toEqual([]);
    expect([...made.registry.gates.actors()]).toEqual([]);
  });

  test('RS-14: gives its slot and its turn back when it stays', async () => {
    const made = await gated();
    const throttled = { ...refusal(429, 'slow down'), retryAfterSeconds: 5 };
    made.cluster.addPod({ name: 'q1', node: 'n2', app: 'a' });
    made.cluster.settle('a');
    made.cluster.addBudget({ name: 'db', app: 'a', maxUnavailable: 1 });
    await made.ready();
    made.cluster.intercept(() => Effect.succeed(throttled));
    made.drain('n1');
    await made.time.advance(2000);
    expect(podsAsked(made)).toEqual(['p1']);
    made.cluster.intercept(() => Effect.succeed(undefined));
    made.gates.keepListed(Infinity);
    await made.time.advance(8000);
    expect(made.status('p1')?.state).toBe('leavingBackends');
    made.registry.release('n1', 'reclaim');
    made.drain('n2');
    await made.time.advance(2000);
    expect(podsAsked(made)).toEqual(['p1', 'q1']);
  });

  test('DR-37: leaves the probe of a half-open circuit to another pod', async () => {
    // The circuit waited for the pod in place of an answer, and no other eviction was sent.
    const made = await gated();
    const throttled = { ...refusal(429, 'slow down'), retryAfterSeconds: 5 };
    made.cluster.intercept(() => Effect.succeed(throttled));
    made.drain('n1');
    await made.time.advance(2000);
    expect(podsAsked(made)).toEqual(['p1']);
    for (const name of ['q1', 'q2']) made.cluster.addPod({ name, node: 'n1', app: 'b' });
    await made.time.advance(100);
    made.drain('n1');
    made.gates.keepListed(Infinity);
    await made.time.advance(5000);
    expect(made.status('p1')?.state).toBe('leavingBackends');
    expect(podsAsked(made)).toEqual(['p1', 'q1']);
    made.cluster.intercept(() => Effect.succeed(undefined));
    await made.time.advance(8000);
    expect(podsAsked(made).toSorted()).toEqual(['p1', 'q1', 'q1', 'q2']);
  });

  test('RS-14: holds up no other pod while it leaves its Services', async () => {
    const made = evictionsOfTest();
    for (let at = 0; at < 12; at += 1) {
      made.cluster.addPod({ name: `p${at}`, node: 'n1', app: 'a', gate: 'open' });
    }
    await made.ready();
    made.gates.keepListed(Infinity);
    made.drain('n1');
    await made.time.advance(1000);
    expect(made.gates.writes).toHaveLength(12);
  });

  test('RS-14: serves again while its eviction is refused', async () => {
    const made = await gated();
    made.cluster.intercept(() =>
      Effect.succeed(
        podsAsked(made).length > 1 ? undefined : refusal(403, 'cannot create pods/eviction'),
      )
    );
    made.drain('n1');
    await made.time.advance(3000);
    expect(podsAsked(made)).toEqual(['p1']);
    expect(isServing(made)).toBe(true);
    await made.time.advance(20_000);
    expect(podsAsked(made)).toEqual(['p1', 'p1']);
    expect(made.gates.writes.map(({ isOpen }) => isOpen)).toEqual([false, true, false]);
  });

  test('RS-14: holds no eviction up when its gate cannot be written', async () => {
    const made = await gated();
    made.gates.answer('Refused');
    made.drain('n1');
    await made.time.advance(500);
    expect(podsAsked(made)).toEqual(['p1']);
    expect(made.warnings).toEqual(['Cannot write the serving gate of a pod: refused']);
  });

  test('RS-14: is not set not-serving before its budget has a slot', async () => {
    const made = evictionsOfTest();
    for (const name of ['p1', 'p2']) {
      made.cluster.addPod({ name, node: 'n1', app: 'a', gate: 'open' });
    }
    made.cluster.settle('a');
    made.cluster.addBudget({ name: 'db', app: 'a', maxUnavailable: 0 });
    await made.ready();
    made.drain('n1');
    await made.time.advance(60_000);
    expect(made.gates.writes).toEqual([]);
    made.cluster.changeBudget('db', { maxUnavailable: 1 });
    await made.time.advance(400);
    expect(made.gates.writes.map(({ isOpen }) => isOpen)).toEqual([false]);
    await made.untilEmpty(['n1'], 60_000);
    expect(podsAsked(made).toSorted()).toEqual(['p1', 'p2']);
    expect(made.cluster.violations).toEqual([]);
  });

  test('RS-14: the last pod of a budget that requires none is evicted without its gate', async () => {
    const made = await gated();
    made.cluster.settle('a');
    made.cluster.addBudget({ name: 'db', app: 'a', maxUnavailable: 1 });
    await made.time.advance(100);
    made.drain('n1');
    await made.time.advance(500);
    expect(podsAsked(made)).toEqual(['p1']);
    expect(made.gates.writes).toEqual([]);
  });

  test('RS-14: a pod of two under such a budget leaves its Services before its eviction', async () => {
    // Its closed gate left one healthy pod: it was then evicted as if it were the last one.
    const made = await gated();
    made.cluster.addPod({ name: 'p2', node: 'n2', app: 'a', gate: 'open' });
    made.cluster.settle('a');
    made.cluster.addBudget({ name: 'db', app: 'a', maxUnavailable: 2 });
    await made.time.advance(100);
    made.gates.keepListed(10_000);
    made.drain('n1');
    await made.time.advance(9000);
    expect(made.gates.writes).toMatchObject([{ pod: 'p1', isOpen: false }]);
    expect(podsAsked(made)).toEqual([]);
    await made.time.advance(3000);
    expect(podsAsked(made)).toEqual(['p1']);
    expect(made.cluster.violations).toEqual([]);
  });

  test('RS-14: a pod without the gate is evicted at once, and no EndpointSlice is read', async () => {
    const made = evictionsOfTest();
    made.cluster.addPod({ name: 'p1', node: 'n1', app: 'a' });
    await made.ready();
    made.registry.gates.onLeading();
    made.drain('n1');
    await made.time.advance(500);
    expect(podsAsked(made)).toEqual(['p1']);
    expect(made.gates.writes).toEqual([]);
    expect(made.gates.reads()).toBe(0);
  });
});

test('RS-14: a process that lost the lease does not go on with a gate', async () => {
  const made = await gated('absent');
  made.gates.answer('NotLeader');
  made.registry.gates.onLeading();
  await made.time.advance(60_000);
  expect(made.gates.writes).toHaveLength(1);
  expect([...made.registry.gates.actors()]).toEqual([]);
});

describe('the operator that opens serving gates', () => {
  test('RS-14: opens the gate when the containers are ready, as a leader only', async () => {
    const made = await gated('absent');
    await made.time.advance(60_000);
    expect(made.gates.writes).toEqual([]);
    made.registry.gates.onLeading();
    await made.time.advance(100);
    expect(isServing(made)).toBe(true);
    expect(made.gates.writes).toHaveLength(1);
    expect([...made.registry.gates.actors()]).toEqual([]);
  });

  test('RS-14: opens a gate that another process closed when no eviction followed', async () => {
    const made = await gated('evicting');
    made.registry.gates.onLeading();
    await made.time.advance(ELSEWHERE_MS - 1000);
    expect(made.gates.writes).toEqual([]);
    await made.time.advance(2000);
    expect(isServing(made)).toBe(true);
  });

  test('RS-14: tries again after a failed write, and writes nothing after its term', async () => {
    const made = await gated('absent');
    made.gates.answer('Fault');
    made.registry.gates.onLeading();
    await made.time.advance(1000);
    expect(made.gates.writes.length).toBeGreaterThan(0);
    made.gates.answer('Written');
    await made.time.advance(5000);
    expect(isServing(made)).toBe(true);
    made.registry.gates.onLeadershipLost();
    made.cluster.addPod({ name: 'p2', node: 'n1', app: 'a', gate: 'absent' });
    const before = made.gates.writes.length;
    await made.time.advance(60_000);
    expect(made.gates.writes).toHaveLength(before);
  });

  test.each(['absent', 'evicting'] as const)(
    'RS-14: leaves a gate that is %s to the next leader after its term',
    async (gate) => {
      const made = await gated(gate);
      made.gates.answer('Fault');
      made.registry.gates.onLeading();
      await made.time.advance(60_000);
      const before = made.gates.writes.length;
      made.registry.gates.onLeadershipLost();
      await made.time.advance(300_000);
      expect(made.gates.writes).toHaveLength(before);
      expect([...made.registry.gates.actors()]).toEqual([]);
    },
  );

  test('RS-14: opens no gate of a pod that is terminating or has finished', async () => {
    for (const change of [{ terminating: true }, { finished: true }]) {
      const made = await gated('absent');
      const known = made.cluster.known('p1');
      made.cluster.podCache.put(known && { ...known, ...change });
      await made.time.advance(100);
      made.registry.gates.onLeading();
      await made.time.advance(1000);
      expect(made.gates.writes).toEqual([]);
    }
  });

  test('RS-14: ends its tries when the pod is terminating or gone', async () => {
    for (const isGone of [true, false]) {
      const made = await gated('absent');
      made.gates.answer('Fault');
      made.registry.gates.onLeading();
      await made.time.advance(100);
      expect([...made.registry.gates.actors()]).toHaveLength(1);
      const known = made.cluster.known('p1');
      if (isGone) made.cluster.drop('p1');
      else made.cluster.podCache.put(known && { ...known, terminating: true });
      await made.time.advance(100);
      expect([...made.registry.gates.actors()]).toEqual([]);
    }
  });

  test('RS-14: does not write a gate that the other process opened again', async () => {
    const made = await gated('evicting');
    made.registry.gates.onLeading();
    await made.time.advance(60_000);
    made.cluster.setGate('p1', 'open');
    await made.time.advance(ELSEWHERE_MS);
    expect(made.gates.writes).toEqual([]);
  });

  test('RS-14: closes a gate that it was about to open, until its pod stays', async () => {
    const made = await gated('absent');
    made.gates.answer('Fault');
    made.registry.gates.onLeading();
    await made.time.advance(100);
    made.gates.answer('Written');
    made.gates.keepListed(Infinity);
    made.drain('n1');
    await made.time.advance(5000);
    expect(made.cluster.known('p1')?.gate).toMatchObject({ isOpen: false, isEvicting: true });
    made.registry.release('n1', 'reclaim');
    await made.time.advance(1000);
    expect(isServing(made)).toBe(true);
    expect(podsAsked(made)).toEqual([]);
  });

  test('RS-14: follows no gate that is open', async () => {
    const made = await gated();
    made.registry.gates.onLeading();
    made.cluster.change('p1', { ready: true });
    await made.time.advance(100);
    const ofGates = expect.objectContaining({ name: 'tidegate_serving_gates' });
    expect(made.gauges).not.toContainEqual(ofGates);
  });
});
