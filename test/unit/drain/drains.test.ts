/** Drains and reclaim instructions on a cluster in memory, judged by the resulting objects. */
import { Effect } from 'effect';
import { afterEach, describe, expect, test } from 'vitest';
import { drainRig, type DrainRigOptions } from '../../support/drains/drain-rig.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const rig = (options?: DrainRigOptions) => {
  const made = drainRig(options);
  stops.push(made.stop);
  return made;
};

const KEY = 'cordon.tidegate.dev/reclaim';

/** The Node of each answer is not cordoned; its version is given by the number of calls. */
const isRetried = async (versionAt: (calls: number) => string | undefined): Promise<void> => {
  const { order, node, nodes, time, reported, intercept, notes } = rig();
  node('n1');
  const { uid, resourceVersion } = nodes.known('n1') ?? expect.fail('There is no Node');
  intercept(() => {
    const version = versionAt(nodes.calls.length) ?? resourceVersion;
    const metadata = { name: 'n1', uid, resourceVersion: version };
    return Effect.delay(Effect.succeed({ status: 200, body: { metadata } }), 10);
  });
  order('i1', ['n1'], 30);
  await time.advance(31_000);
  expect(nodes.calls.length).toBeGreaterThan(1);
  expect(nodes.calls.length).toBeLessThan(10);
  expect(reported.map(({ fact }) => fact)).toMatchObject([{
    _tag: 'Failed',
    lastError: expect.stringContaining('accepted the patch, and the Node does not show it'),
  }]);
  expect(notes.map(({ reason }) => reason)).toContain('CordonFailing');
};

describe('a drain', () => {
  test('DR-50: a drain of N pods writes the Node twice, writes two phases and reads nothing', async () => {
    const { order, node, pods, time, nodes, phases, log, annotation } = rig();
    node('n1');
    for (let index = 0; index < 100; index += 1) pods.add({ node: 'n1' });
    order('i1', ['n1']);
    await time.advance(10_000);
    expect(annotation('n1')?.ended).toBe('Drained');
    expect(nodes.calls.map(({ method }) => method)).toEqual(['PATCH', 'PATCH']);
    expect(phases('n1')).toEqual(['Draining', 'Drained']);
    expect(log.filter((line) => line.startsWith('evict'))).toHaveLength(100);
  });

  test('DR-04: the end is on the UpcomingNode before it is on the Node, and the cordon stays', async () => {
    const { order, node, pods, nodes, time, annotation, showingTakes } = rig();
    node('n1');
    pods.add({ node: 'n1' });
    showingTakes(() => new Promise((resolve) => void time.schedule(5000, resolve)));
    order('i1', ['n1']);
    await time.advance(4000);
    expect(annotation('n1')?.ended).toBeNull();
    await time.advance(5000);
    expect(annotation('n1')?.ended).toBe('Drained');
    expect(nodes.known('n1')?.unschedulable).toBe(true);
  });

  test('DR-20: pods that stay do not block, and pods that arrive after the cordon leave as well', async () => {
    const { order, node, pods, time, annotation, log } = rig();
    node('n1');
    pods.add({ node: 'n1', name: 'daemon', controller: { kind: 'DaemonSet', name: 'd' } });
    pods.add({ node: 'n1', name: 'done', phase: 'Succeeded' });
    pods.add({ node: 'n1', name: 'a', goesAfterMs: 5000 });
    order('i1', ['n1']);
    await time.advance(2000);
    pods.add({ node: 'n1', name: 'late' });
    await time.advance(10_000);
    expect(annotation('n1')?.ended).toBe('Drained');
    expect(pods.names()).toEqual(['daemon', 'done']);
    expect(log).toContain('evict late');
  });

  test('DR-20: a pod that is rescheduled past the cordon stays', async () => {
    const { order, node, pods, time, annotation, log } = rig();
    const tolerations = [{ operator: 'Exists' }];
    node('n1');
    pods.add({ node: 'n1', name: 'a', tolerations });
    pods.add({ node: 'n1', name: 'b', goesAfterMs: 4000 });
    order('i1', ['n1']);
    await time.advance(2000);
    pods.add({ node: 'n1', name: 'again', tolerations });
    await time.advance(10_000);
    expect(log).not.toContain('evict again');
    expect(annotation('n1')?.ended).toBe('Drained');
  });

  test('DR-20: a restart leaves a pod alone that came back before it, and the end names it', async () => {
    const { order, node, pods, time, annotation, log, notes, restart } = rig();
    const tolerations = [{ operator: 'Exists' }];
    node('n1');
    pods.add({ node: 'n1', name: 'a', tolerations });
    pods.add({ node: 'n1', name: 'b', goesAfterMs: 20_000 });
    order('i1', ['n1']);
    await time.advance(5000);
    const created = new Date(time.now()).toISOString();
    pods.add({ node: 'n1', name: 'again', tolerations, created });
    for (let times = 0; times < 2; times += 1) {
      await time.advance(1000);
      await restart();
    }
    await time.advance(30_000);
    expect(log).not.toContain('evict again');
    expect(annotation('n1')?.ended).toBe('Drained');
    expect(notes.at(-1)?.note).toContain('stays, because it tolerates the cordon: ns/again');
  });

  test('DR-20: the operator leaves last', async () => {
    const { order, node, pods, time, log } = rig({ own: { namespace: 'ns', name: 'us' } });
    node('n1');
    pods.add({ node: 'n1', name: 'us', priority: -5 });
    pods.add({ node: 'n1', name: 'a', goesAfterMs: 4000 });
    order('i1', ['n1']);
    await time.advance(4000);
    expect(log).not.toContain('evict us');
    await time.advance(2000);
    expect(log).toContain('evict us');
  });

  test('DR-21: a blocked tier lets the others start after the tier wait', async () => {
    const { order, node, pods, time, log } = rig();
    node('n1');
    pods.add({ node: 'n1', name: 'low', priority: 0 });
    pods.add({ node: 'n1', name: 'middle', priority: 10 });
    pods.add({ node: 'n1', name: 'high', priority: 20 });
    pods.block('low', { reason: 'BlockedByBudget', text: 'budget ns/db', subject: 'ns/db' });
    order('i1', ['n1'], 600);
    await time.advance(29_000);
    expect(log).not.toContain('evict middle');
    await time.advance(2000);
    expect(log).toContain('evict middle');
    expect(log).not.toContain('evict high');
    await time.advance(40_000);
    expect(log).toContain('evict high');
  });

  test('DR-21: a tier starts as soon as the earlier ones are gone', async () => {
    const { order, node, pods, time, log } = rig();
    node('n1');
    pods.add({ node: 'n1', name: 'low', priority: 0 });
    pods.add({ node: 'n1', name: 'high', priority: 10 });
    order('i1', ['n1']);
    await time.advance(900);
    expect(log).not.toContain('evict high');
    await time.advance(200);
    expect(log).toContain('evict high');
  });

  test('DR-21: the tier wait restarts when one of its pods makes progress', async () => {
    const { order, node, pods, time, log } = rig();
    node('n1');
    pods.add({ node: 'n1', name: 'low', priority: 0 });
    pods.add({ node: 'n1', name: 'slow', priority: 0, goesAfterMs: 25_000 });
    pods.add({ node: 'n1', name: 'high', priority: 10 });
    pods.block('low', { reason: 'BlockedByBudget', text: '', subject: '' });
    order('i1', ['n1'], 600);
    await time.advance(50_000);
    expect(log).not.toContain('evict high');
    await time.advance(10_000);
    expect(log).toContain('evict high');
  });

  test('DR-21: in the last quarter of the grace no tier waits', async () => {
    const { order, node, pods, time, log } = rig({ tierWaitMs: 3600_000 });
    node('n1');
    pods.add({ node: 'n1', name: 'low', priority: 0 });
    pods.add({ node: 'n1', name: 'high', priority: 10 });
    pods.block('low', { reason: 'BlockedByBudget', text: '', subject: '' });
    order('i1', ['n1'], 100);
    await time.advance(74_000);
    expect(log).not.toContain('evict high');
    await time.advance(2000);
    expect(log).toContain('evict high');
  });

  test('DR-24: terminating pods are waited for, and attached volumes are named', async () => {
    const { order, node, pods, time, annotation, notes } = rig({ volumes: ['pv-1'] });
    node('n1');
    pods.add({ node: 'n1', goesAfterMs: 60_000 });
    order('i1', ['n1']);
    await time.advance(59_000);
    expect(annotation('n1')?.ended).toBeNull();
    await time.advance(2000);
    expect(annotation('n1')?.ended).toBe('Drained');
    expect(notes.at(-1)).toMatchObject({
      reason: 'DrainFinished',
      note: 'Drained in 60 s; still attached: pv-1',
    });
  });

  test('DR-41: Failed reports how many pods remain, the first five by name, and why each', async () => {
    const { order, node, pods, time, reported, annotation } = rig();
    node('n1');
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
      pods.add({ node: 'n1', name });
      pods.block(name, { reason: 'BlockedByBudget', text: 'budget ns/db', subject: 'ns/db' });
    }
    pods.add({ node: 'n1', name: 'high', priority: 10 });
    order('i1', ['n1'], 30);
    await time.advance(31_000);
    expect(annotation('n1')?.ended).toBe('Failed');
    expect(reported.at(-1)?.fact).toEqual({
      _tag: 'Failed',
      lastError: '6 pods remain: ns/a (budget ns/db), ns/b (budget ns/db), ns/c (budget ns/db), ' +
        'ns/d (budget ns/db), ns/e (budget ns/db), and 1 more',
    });
  });

  test('DR-41: lastError and Event give the reasons from before evictions were released', async () => {
    const { order, node, pods, time, reported, notes } = rig();
    node('n1');
    const text = 'refused by guard: not today';
    pods.add({ node: 'n1', name: 'a', goesAfterMs: 5000 });
    pods.block('a', { reason: 'PolicyRefused', text, subject: 'guard' });
    order('i1', ['n1'], 30);
    await time.advance(31_000);
    const lastError = `1 pod remains: ns/a (${text})`;
    expect(reported.at(-1)?.fact).toEqual({ _tag: 'Failed', lastError });
    expect(notes.at(-1)?.note).toBe(`Cannot drain the node within 30 s: ${lastError}`);
  });

  test('DR-41: a node that was not cordoned until the deadline fails with the cause', async () => {
    const { order, node, time, reported, intercept, notes, pods, log } = rig();
    node('n1');
    pods.add({ node: 'n1' });
    intercept(() => Effect.succeed({ status: 403, body: { message: 'no patch for you' } }));
    order('i1', ['n1'], 30);
    await time.advance(31_000);
    expect(reported.map(({ fact }) => fact)).toEqual([{
      _tag: 'Failed',
      lastError: 'cannot cordon the node: 403 no patch for you',
    }]);
    expect(notes.map(({ reason }) => reason)).toContain('CordonFailing');
    expect(log.some((line) => line.startsWith('evict'))).toBe(false);
  });

  test('DR-41: a patch that the API server accepts and drops is retried with a backoff', () =>
    isRetried(() => undefined));

  test('DR-41: so is one that a webhook takes back while it changes something else', () =>
    isRetried((calls) => `${900 + calls}`));

  test('DR-42: a budget that gives slots is no Event, and those that gave none for 30 s are one', async () => {
    const { order, node, pods, time, notes } = rig();
    node('n1');
    const closed = { reason: 'BlockedByBudget', text: 'budget ns/x allows 0 disruptions' } as const;
    const noted = () =>
      notes.filter(({ reason }) => reason === 'BlockedByBudget').map(({ note }) => note);
    for (let at = 0; at < 7; at += 1) {
      pods.add({ node: 'n1', name: `p${at}` });
      pods.block(`p${at}`, { ...closed, subject: `ns/b${at}`, noSlotMs: at === 6 ? 0 : 5000 });
    }
    order('i1', ['n1'], 600);
    await time.advance(14_000);
    expect(noted()).toEqual([]);
    for (let at = 0; at < 6; at += 1) {
      pods.block(`p${at}`, { ...closed, subject: `ns/b${at}`, noSlotMs: 25_000 });
    }
    pods.changed('n1');
    await time.advance(9000);
    expect(noted()).toEqual([]);
    await time.advance(3000);
    expect(noted()).toEqual([
      '6 pods cannot leave: 6 budgets allow 0 disruptions: ns/b0, ns/b1, ns/b2, ns/b3, ns/b4 and ' +
      '1 more (ns/p0, ns/p1, ns/p2, ns/p3, ns/p4 and 1 more). The owner of the application: Make ' +
      'the pods of the budgets healthy, add replicas, or relax the budgets',
    ]);
  });

  test('DR-42: a budget that opens while its Event is due is no Event', async () => {
    const { order, node, pods, time, notes } = rig();
    node('n1');
    pods.add({ node: 'n1', name: 'a' });
    const closed = { reason: 'BlockedByBudget', text: 'budget ns/x', subject: 'ns/x' } as const;
    pods.block('a', { ...closed, noSlotMs: 25_000 });
    order('i1', ['n1'], 600);
    await time.advance(8000);
    pods.block('a', { ...closed, noSlotMs: 0 });
    await time.advance(12_000);
    expect(notes.map(({ reason }) => reason)).toEqual(['DrainStarted']);
  });

  test('DR-42: one Event at the start, one for all budgets that block for 10 s, one at the end', async () => {
    const { order, node, pods, time, notes } = rig();
    node('n1');
    for (const name of ['a', 'b']) {
      const subject = `ns/${name}`;
      pods.add({ node: 'n1', name });
      pods.block(name, { reason: 'BlockedByBudget', text: `budget ${subject}`, subject });
    }
    const reasons = () => notes.map(({ reason }) => reason);
    order('i1', ['n1'], 60);
    await time.advance(9000);
    expect(reasons()).toEqual(['DrainStarted']);
    await time.advance(2000);
    expect(reasons()).toEqual(['DrainStarted', 'BlockedByBudget']);
    await time.advance(60_000);
    expect(reasons()).toEqual(['DrainStarted', 'BlockedByBudget', 'DeadlinePassed']);
    expect(notes.every(({ regarding }) => regarding.kind === 'Node')).toBe(true);
    expect(notes.map(({ isUnlimited = false }) => isUnlimited)).toEqual([true, false, true]);
  });

  test('DR-45: a paused node sends no new eviction, reports it, and keeps its deadline', async () => {
    const { order, node, pods, time, log, notes, annotation } = rig();
    const paused = (value: string) => ({
      metadata: { name: 'n1', uid: 'u1', annotations: { 'tidegate.dev/pause': value } },
    });
    node('n1', paused('true'));
    pods.add({ node: 'n1', name: 'a' });
    order('i1', ['n1'], 60);
    await time.advance(30_000);
    expect(log).not.toContain('evict a');
    expect(notes.map(({ reason }) => reason)).toContain('DrainPaused');
    await time.advance(31_000);
    expect(annotation('n1')?.ended).toBe('Failed');
  });

  test('DR-45: --pause-drains pauses every drain', async () => {
    const { order, node, pods, time, log, reported } = rig({ paused: true });
    node('n1');
    pods.add({ node: 'n1', name: 'a' });
    order('i1', ['n1'], 60);
    await time.advance(61_000);
    expect(log.filter((line) => line.startsWith('evict'))).toEqual([]);
    expect(reported.at(-1)?.fact).toMatchObject({
      lastError: '1 pod remains: ns/a (the drain is paused)',
    });
  });

  test('DR-06: a Node deleted during its drain is Drained', async () => {
    const { order, node, pods, nodes, time, phases, drains } = rig();
    node('n1');
    pods.add({ node: 'n1', goesAfterMs: Number.POSITIVE_INFINITY });
    order('i1', ['n1']);
    await time.advance(1000);
    nodes.remove('n1');
    await time.settle();
    expect(phases('n1')).toEqual(['Draining', 'Drained']);
    expect([...drains().actors()]).toEqual([]);
  });

  test('drains end as Failed with the missing permission when evictions are forbidden', async () => {
    const { order, node, pods, time, annotation, reported, notes } = rig();
    node('n1');
    pods.add({ node: 'n1', name: 'a' });
    pods.block('a', { reason: 'EvictionForbidden', text: 'cannot create pods/eviction' });
    order('i1', ['n1'], 600);
    await time.settle();
    pods.changed('n1');
    await time.advance(1000);
    expect(annotation('n1')?.ended).toBe('Failed');
    expect(reported.at(-1)?.fact).toMatchObject({
      lastError: expect.stringMatching(/^cannot create pods\/eviction; 1 pod/),
    });
    expect(notes.at(-1)?.reason).toBe('EvictionForbidden');
  });
});

describe('cancelling', () => {
  test('DR-05: an uncordoned node is cancelled, and nothing is evicted after that', async () => {
    const { order, node, nodes, pods, time, annotation, phases, log, notes } = rig();
    node('n1');
    pods.add({ node: 'n1', name: 'a' });
    pods.add({ node: 'n1', name: 'b', priority: 10 });
    order('i1', ['n1']);
    await time.advance(500);
    nodes.put('n1', { spec: { unschedulable: false } });
    await time.advance(60_000);
    expect(log).not.toContain('evict b');
    expect(annotation('n1')?.ended).toBe('Cancelled');
    expect(phases('n1').at(-1)).toBe('Cancelled');
    expect(nodes.known('n1')?.unschedulable).toBe(false);
    expect(notes.map(({ reason }) => reason)).toContain('DrainCancelled');
  });

  test('DR-05: a key that a person removed is written back with its end', async () => {
    const { order, node, nodes, pods, time, annotation } = rig();
    node('n1');
    pods.add({ node: 'n1', goesAfterMs: Number.POSITIVE_INFINITY });
    order('i1', ['n1']);
    await time.advance(500);
    nodes.put('n1', { metadata: { name: 'n1', uid: nodes.known('n1')?.uid, annotations: {} } });
    await time.advance(1000);
    expect(annotation('n1')).toMatchObject({ ids: ['i1'], ended: 'Cancelled' });
  });

  test('DR-05: a repeated cancelled instruction starts nothing; another one does', async () => {
    const { order, node, nodes, pods, time, annotation, replies } = rig();
    node('n1');
    pods.add({ node: 'n1', goesAfterMs: Number.POSITIVE_INFINITY });
    order('i1', ['n1']);
    await time.advance(500);
    nodes.put('n1', { spec: { unschedulable: false } });
    await time.advance(1000);
    order('i1', ['n1']);
    await time.advance(1000);
    expect(annotation('n1')?.ended).toBe('Cancelled');
    expect(replies.at(-1)).toEqual({ id: 'i1', nodesStarted: 0 });
    order('i2', ['n1']);
    await time.advance(1000);
    expect(annotation('n1')).toMatchObject({ ids: ['i2'], ended: null });
  });

  test('DR-01: a key of another version is left unchanged and reported', async () => {
    const { order, node, nodes, time, notes, phases } = rig();
    node('n1', { metadata: { name: 'n1', uid: 'u1', annotations: { [KEY]: '{"v":2}' } } });
    order('i1', ['n1'], 60);
    await time.advance(10_000);
    expect(nodes.calls).toEqual([]);
    expect(notes.map(({ reason }) => reason)).toEqual(['CordonLeftAlone']);
    await time.advance(60_000);
    expect(phases('n1')).toEqual(['Failed']);
    expect(nodes.calls).toEqual([]);
  });
});
