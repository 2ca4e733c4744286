/**
 * Reclaim instructions on a cluster in memory, judged by the objects and the messages to the shard.
 */
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
const key = (fields: object): object => ({
  metadata: {
    name: 'n1',
    uid: 'u1',
    annotations: { [KEY]: JSON.stringify({ v: 1, ids: ['i1'], ...fields }) },
  },
});

describe('an instruction', () => {
  test('DR-11: every node of an instruction is cordoned before the first eviction and the ack', async () => {
    const { node, pods, order, log, time, replies } = rig();
    const names = Array.from({ length: 100 }, (_, index) => `n${index}`);
    for (const name of names) {
      node(name);
      pods.add({ node: name });
    }
    order('i1', names);
    await time.advance(5000);
    const lastCordon = log.findLastIndex((line) => line.startsWith('cordon'));
    const firstEviction = log.findIndex((line) => line.startsWith('evict'));
    const ack = log.findIndex((line) => line.startsWith('ack'));
    expect(log.filter((line) => line.startsWith('cordon'))).toHaveLength(100);
    expect(firstEviction).toBeGreaterThan(lastCordon);
    expect(ack).toBeGreaterThan(lastCordon);
    expect(replies).toEqual([{ id: 'i1', nodesStarted: 100 }]);
  });

  test('DR-11: Draining is requested before the ack, which does not wait for its write', async () => {
    const { node, pods, order, log, time, showingTakes } = rig();
    for (const name of ['n1', 'n2']) {
      node(name);
      pods.add({ node: name });
    }
    showingTakes(() => new Promise(() => {}));
    order('i1', ['n1', 'n2']);
    await time.advance(500);
    const ack = log.indexOf('ack i1 2');
    expect(ack).toBeGreaterThan(0);
    for (const name of ['n1', 'n2']) {
      expect(log.slice(0, ack)).toContain(`show ${name} Draining`);
    }
  });

  test('DR-11: at most 32 Nodes are cordoned at once', async () => {
    const { node, order, log, time, intercept } = rig();
    const names = Array.from({ length: 100 }, (_, index) => `n${index}`);
    for (const name of names) node(name);
    let atOnce = 0;
    let most = 0;
    intercept(({ body }) =>
      Effect.gen(function* () {
        if (!JSON.stringify(body).includes('"unschedulable":true')) return undefined;
        most = Math.max(most, atOnce += 1);
        yield* Effect.sleep(100);
        atOnce -= 1;
        return undefined;
      })
    );
    order('i1', names);
    await time.advance(10_000);
    expect([most, new Set(log.filter((line) => line.startsWith('cordon'))).size]).toEqual([
      32,
      100,
    ]);
  });

  test('DR-11: a cordon that fails for two seconds delays neither ack nor the other drains', async () => {
    const { node, pods, order, time, replies, intercept, annotation } = rig();
    for (const name of ['n1', 'n2']) {
      node(name);
      pods.add({ node: name });
    }
    let failing = true;
    intercept(({ path }) =>
      Effect.succeed(failing && path.endsWith('n2') ? { status: 500, body: {} } : undefined)
    );
    order('i1', ['n1', 'n2']);
    await time.advance(1900);
    expect(replies).toEqual([]);
    await time.advance(200);
    expect(replies).toEqual([{ id: 'i1', nodesStarted: 1 }]);
    await time.advance(5000);
    expect(annotation('n1')?.ended).toBe('Drained');
    expect(pods.names()).toHaveLength(1);
    failing = false;
    await time.advance(60_000);
    expect(annotation('n2')?.ended).toBe('Drained');
    expect(pods.names()).toEqual([]);
  });

  test('DR-02: a cordon is one patch with owner, instruction, deadline and its resourceVersion', async () => {
    const { node, order, nodes, time } = rig();
    node('n1');
    order('i1', ['n1'], 120);
    await time.settle();
    expect(nodes.calls[0]).toMatchObject({
      method: 'PATCH',
      path: '/api/v1/nodes/n1',
      body: {
        metadata: {
          resourceVersion: '101',
          annotations: {
            [KEY]: JSON.stringify({
              v: 1,
              ids: ['i1'],
              deadline: '2026-01-01T00:02:00.000Z',
              graceSeconds: 120,
              since: '2026-01-01T00:00:00.000Z',
            }),
          },
        },
        spec: { unschedulable: true },
      },
    });
  });

  test('DR-02: a conflict is retried at once when the cache is newer, else on the next event', async () => {
    const { node, nodes, order, log, time, annotation } = rig();
    node('n1');
    nodes.lag();
    node('n1', { spec: { taints: [] } });
    order('i1', ['n1']);
    await time.settle();
    expect(log).toEqual(['cordon n1 409']);
    nodes.catchUp();
    await time.settle();
    expect(log.slice(0, 2)).toEqual(['cordon n1 409', 'cordon n1 200']);
    expect(annotation('n1')?.ids).toEqual(['i1']);
  });

  test('DR-03: a second instruction joins, and the earlier deadline wins', async () => {
    const { node, pods, order, time, annotation, replies } = rig();
    node('n1');
    pods.add({ node: 'n1', name: 'a', goesAfterMs: Number.POSITIVE_INFINITY });
    order('i1', ['n1'], 600);
    await time.advance(1000);
    order('i2', ['n1'], 60);
    await time.advance(1000);
    expect(annotation('n1')).toMatchObject({
      ids: ['i1', 'i2'],
      graceSeconds: 60,
      deadlineMs: Date.UTC(2026, 0, 1, 0, 1, 1),
    });
    expect(replies).toEqual([{ id: 'i1', nodesStarted: 1 }, { id: 'i2', nodesStarted: 1 }]);
    await time.advance(60_000);
    expect(annotation('n1')?.ended).toBe('Failed');
  });

  test('DR-03: a repeated instruction is acked again and starts nothing', async () => {
    const { node, pods, order, time, replies, nodes } = rig();
    node('n1');
    pods.add({ node: 'n1' });
    order('i1', ['n1']);
    await time.advance(500);
    order('i1', ['n1']);
    await time.advance(5000);
    const writes = nodes.calls.length;
    order('i1', ['n1']);
    await time.advance(5000);
    expect(replies).toEqual(Array.from({ length: 3 }, () => ({ id: 'i1', nodesStarted: 1 })));
    expect(nodes.calls.length).toBe(writes);
  });

  test('DR-03: a repeated instruction that names other machines is reported, and starts nothing', async () => {
    const { node, pods, order, time, notes, annotation, log } = rig();
    for (const name of ['n1', 'n2']) {
      node(name);
      pods.add({ node: name });
    }
    order('i1', ['n1']);
    await time.advance(500);
    order('i1', ['n1']);
    await time.advance(500);
    expect(notes.map(({ reason }) => reason)).not.toContain('InstructionChanged');
    order('i1', ['n1', 'n2']);
    await time.advance(5000);
    expect(notes.filter(({ reason }) => reason === 'InstructionChanged')).toMatchObject([{
      regarding: { kind: 'UpcomingNode', name: 'un-n2' },
      note: 'Not reclaimed: instruction "i1" was already accepted without "n2"',
    }]);
    expect(annotation('n2')).toBeUndefined();
    expect(log.filter((line) => line.startsWith('cordon'))).toHaveLength(1);
  });

  test('DR-10: a Node that was known and is gone is counted and written as Drained', async () => {
    const { order, machineObjects, time, replies, reported } = rig();
    machineObjects.set('un-m1', { machineId: 'm1', nodeName: 'gone', nodeUid: 'u9' });
    order('i1', ['m1']);
    await time.settle();
    expect(replies).toEqual([{ id: 'i1', nodesStarted: 1 }]);
    expect(reported.map(({ machine, fact }) => [machine, fact._tag])).toEqual([['m1', 'Drained']]);
  });

  // A standby that was cut off led with old Nodes, and took those that had joined since for gone.
  test('DR-10: no Node is taken for gone while the Nodes cannot be read', async () => {
    let areNodesBehind = true;
    const { order, node, machineObjects, time, replies, reported, annotation } = rig({
      areNodesBehind: () => areNodesBehind,
    });
    machineObjects.set('un-n1', { machineId: 'n1', nodeName: 'n1', nodeUid: 'u1' });
    order('i1', ['n1'], 60);
    await time.settle();
    expect([replies, reported]).toEqual([[{ id: 'i1', nodesStarted: 0 }], []]);
    areNodesBehind = false;
    node('n1');
    await time.advance(1000);
    expect(annotation('n1')).toBeDefined();
  });

  // The name in the entry counted as the machine, so that the UpcomingNode of the Node's machine
  // stayed Ready to the end of the drain, or became Failed without an error.
  test('DR-10: an entry that names the Node is shown on the machine of that Node', async () => {
    const { order, node, pods, machineObjects, time, replies, reported, phases } = rig();
    machineObjects.set('un-m1', { machineId: 'm1', nodeName: 'n1', nodeUid: 'u1' });
    machineObjects.set('un-m2', { machineId: 'm2', nodeName: 'n2', nodeUid: 'u2' });
    machineObjects.set('un-m3', { machineId: 'm3', nodeName: 'gone', nodeUid: 'u3' });
    node('n1');
    node('n2');
    pods.add({ node: 'n1' });
    pods.add({ node: 'n2', goesAfterMs: Infinity });
    order('i1', ['n1', 'n2', 'gone'], 60);
    await time.advance(90_000);
    expect(replies).toEqual([{ id: 'i1', nodesStarted: 3 }]);
    expect(phases('m1')).toEqual(['Draining', 'Drained']);
    expect(phases('m2')).toEqual(['Draining', 'Failed']);
    expect(phases('m3')).toEqual(['Drained']);
    expect(new Set(reported.map(({ machine }) => machine))).toEqual(new Set(['m1', 'm2', 'm3']));
    expect(reported.find(({ fact }) => fact._tag === 'Failed')?.fact).toMatchObject({
      lastError: expect.stringContaining('1 pod remains'),
    });
  });

  test('DR-10: an unknown Node is recorded, not counted, and cordoned when it joins', async () => {
    const { order, node, time, replies, notes, annotation } = rig();
    order('i1', ['n1'], 600);
    await time.advance(60_000);
    expect(replies).toEqual([{ id: 'i1', nodesStarted: 0 }]);
    expect(notes.map(({ reason }) => reason)).toEqual(['MachineWithoutNode']);
    node('n1');
    await time.advance(1000);
    expect(annotation('n1')).toMatchObject({
      ids: ['i1'],
      deadlineMs: Date.UTC(2026, 0, 1, 0, 10),
    });
  });

  test('DR-10: a Node that never joins is given up at the deadline', async () => {
    const { order, time, phases, reclaims } = rig();
    order('i1', ['n1'], 60);
    await time.advance(61_000);
    expect(phases('n1')).toEqual(['Failed']);
    expect([...reclaims().actors()]).toEqual([]);
  });

  test('DR-12: an ack without a stream is kept until the next one opens', async () => {
    const { order, node, time, replies, session, shardEvents } = rig();
    session.open = false;
    node('n1');
    order('i1', ['n1']);
    await time.advance(60_000);
    expect(replies).toEqual([]);
    session.open = true;
    shardEvents.next({ _tag: 'StreamOpened', stream: 2 });
    await time.settle();
    expect(replies).toEqual([{ id: 'i1', nodesStarted: 1 }]);
  });

  test('DR-16: an absent grace is 30 s, and one above seven days is cut with a Warning', async () => {
    const { order, node, pods, time, notes, annotation } = rig();
    for (const name of ['n1', 'n2']) {
      node(name);
      pods.add({ node: name, goesAfterMs: Number.POSITIVE_INFINITY });
    }
    order('i1', ['n1'], 0);
    order('i2', ['n2'], 30 * 24 * 3600);
    await time.advance(100);
    expect(annotation('n1')?.graceSeconds).toBe(30);
    expect(annotation('n2')?.graceSeconds).toBe(7 * 24 * 3600);
    expect(notes.map(({ reason }) => reason)).toContain('GraceClamped');
  });

  test('DR-16: the deadline ignores jumps of the wall clock, and no timer is too long', async () => {
    const { order, node, pods, time, annotation } = rig();
    node('n1');
    pods.add({ node: 'n1', goesAfterMs: Number.POSITIVE_INFINITY });
    order('i1', ['n1'], 5 * 24 * 3600);
    await time.advance(1000);
    time.jumpWallClock(10 * 24 * 3600_000);
    await time.advance(5 * 24 * 3600_000 - 2000);
    expect(annotation('n1')?.ended).toBeNull();
    await time.advance(2000);
    expect(annotation('n1')?.ended).toBe('Failed');
  });
});

describe('a new process', () => {
  const unfinished = (deadline: string) =>
    key({ deadline, graceSeconds: 600, since: '2026-01-01T00:00:00Z' });

  test('DR-13: a drain found on a Node resumes with its deadline, and is acked once more', async () => {
    const { node, pods, time, annotation, replies, restart, log } = rig();
    node('n1', { ...unfinished('2026-01-01T00:05:00Z'), spec: { unschedulable: true } });
    pods.add({ node: 'n1', name: 'a', goesAfterMs: Number.POSITIVE_INFINITY });
    await restart();
    await time.advance(1000);
    expect(log).toContain('evict a');
    expect(replies).toEqual([{ id: 'i1', nodesStarted: 1 }]);
    await time.advance(298_000);
    expect(annotation('n1')?.ended).toBeNull();
    await time.advance(3000);
    expect(annotation('n1')?.ended).toBe('Failed');
  });

  test('DR-13: a deadline that passed without a leader ends the drain at once', async () => {
    const { node, pods, time, annotation, log, restart } = rig({ leads: false });
    node('n1', { ...unfinished('2025-12-31T23:00:00Z'), spec: { unschedulable: true } });
    pods.add({ node: 'n1', name: 'a' });
    await restart();
    await time.advance(1000);
    expect(annotation('n1')?.ended).toBe('Failed');
    expect(log).not.toContain('evict a');
  });

  test('DR-13: a drain that is killed anywhere ends as without the kill', async () => {
    for (let at = 0; at < 8000; at += 250) {
      const { node, pods, order, time, annotation, restart, replies, stop } = drainRig();
      for (const name of ['n1', 'n2']) {
        node(name);
        pods.add({ node: name, goesAfterMs: 2000 });
        pods.add({ node: name, goesAfterMs: 1000, priority: 10 });
      }
      order('i1', ['n1', 'n2'], 60);
      await time.advance(at);
      const deadline = annotation('n1')?.deadlineMs;
      await restart();
      await time.advance(120_000);
      expect([annotation('n1')?.ended, annotation('n2')?.ended, pods.names()]).toEqual([
        'Drained',
        'Drained',
        [],
      ]);
      if (deadline !== undefined) expect(annotation('n1')?.deadlineMs).toBe(deadline);
      expect(replies.every(({ nodesStarted }) => nodesStarted === 2)).toBe(true);
      await stop();
    }
  });

  test('DR-05: a key without end on a schedulable node was cancelled without a leader', async () => {
    const { node, pods, time, annotation, log, restart } = rig({ leads: false });
    node('n1', unfinished('2026-01-01T00:05:00Z'));
    pods.add({ node: 'n1', name: 'a' });
    await restart();
    await time.advance(1000);
    expect(annotation('n1')?.ended).toBe('Cancelled');
    expect(log).not.toContain('evict a');
  });

  test('DR-12: an instruction is acked again once per process, not per term of leadership', async () => {
    const { node, pods, order, time, setLeading, replies } = rig();
    node('n1');
    pods.add({ node: 'n1', goesAfterMs: Number.POSITIVE_INFINITY });
    order('i1', ['n1']);
    await time.advance(1000);
    setLeading(false);
    await time.advance(1000);
    setLeading(true);
    await time.advance(1000);
    expect(replies).toEqual([{ id: 'i1', nodesStarted: 1 }]);
  });

  test('DR-14: a machine that drains in a replay without an annotation is recovered', async () => {
    const { node, pods, shardEvents, frame, time, annotation, replies } = rig();
    for (const name of ['n1', 'n2', 'n3']) node(name);
    pods.add({ node: 'n1' });
    node('n2', {
      metadata: {
        name: 'n2',
        uid: 'u2',
        annotations: { [KEY]: '{"v":1,"ids":["i9"],"ended":"Cancelled"}' },
      },
    });
    shardEvents.next({ _tag: 'StreamOpened', stream: 1 });
    for (const name of ['n1', 'n2', 'n3', 'n4']) frame(name, 'Draining');
    frame('n3', 'Configured');
    shardEvents.next({ _tag: 'Resynced', stream: 1 });
    await time.advance(4900);
    expect(annotation('n1')).toBeUndefined();
    await time.advance(200);
    expect(annotation('n1')).toMatchObject({ ids: ['recovered-n1'], graceSeconds: 600 });
    expect([annotation('n2')?.ids, annotation('n3')]).toEqual([['i9'], undefined]);
    expect(replies).toEqual([]);
  });

  test('DR-14: a machine that the stream reported DRAINING before its hello ack is recovered', async () => {
    const { node, shardEvents, frame, time, annotation } = rig();
    for (const name of ['n1', 'n2']) node(name);
    frame('n2', 'Draining');
    shardEvents.next({ _tag: 'StreamEnded', stream: 1 });
    frame('n1', 'Draining');
    shardEvents.next({ _tag: 'StreamOpened', stream: 2 });
    shardEvents.next({ _tag: 'Resynced', stream: 2 });
    await time.advance(5100);
    expect(annotation('n1')).toMatchObject({ ids: ['recovered-n1'] });
    expect(annotation('n2')).toBeUndefined();
  });

  test('DR-14: a machine that begins to drain after the replay waits for its instruction', async () => {
    const { node, shardEvents, frame, time, annotation } = rig();
    node('n1');
    shardEvents.next({ _tag: 'StreamOpened', stream: 1 });
    shardEvents.next({ _tag: 'Resynced', stream: 1 });
    frame('n1', 'Draining');
    await time.advance(60_000);
    expect(annotation('n1')).toBeUndefined();
  });

  test('DR-15: after losing the lease nothing new begins and nothing is patched', async () => {
    const { node, pods, order, time, nodes, setLeading, log, drains } = rig();
    node('n1');
    pods.add({ node: 'n1', name: 'a' });
    pods.add({ node: 'n1', name: 'b', priority: 10 });
    order('i1', ['n1']);
    await time.advance(500);
    setLeading(false);
    const writes = nodes.calls.length;
    await time.advance(60_000);
    expect(log).not.toContain('evict b');
    expect(nodes.calls.length).toBe(writes);
    expect([...drains().actors()]).toEqual([]);
  });

  test('DR-33: a stop waits for Node patches in flight', async () => {
    const made = drainRig();
    made.node('n1');
    made.intercept(() => Effect.as(Effect.sleep(3000), undefined));
    made.order('i1', ['n1']);
    await made.time.settle();
    await made.stop();
    expect(made.annotation('n1')?.ids).toEqual(['i1']);
  });
});

describe('concurrent instructions', () => {
  test('DR-03: an instruction that finds a drain ending begins another one after it', async () => {
    const { node, nodes, pods, order, time, annotation, replies, showingTakes, log } = rig();
    node('n1');
    pods.add({ node: 'n1', name: 'a', goesAfterMs: Number.POSITIVE_INFINITY });
    showingTakes(() => new Promise((resolve) => void time.schedule(4000, resolve)));
    order('i1', ['n1']);
    await time.advance(500);
    nodes.put('n1', { spec: { unschedulable: false } });
    await time.settle();
    order('i2', ['n1']);
    await time.advance(3000);
    expect(annotation('n1')).toMatchObject({ ids: ['i1'], ended: null });
    expect(replies.at(-1)).toEqual({ id: 'i2', nodesStarted: 0 });
    pods.remove('a');
    pods.add({ node: 'n1', name: 'b' });
    await time.advance(20_000);
    expect(annotation('n1')).toMatchObject({ ids: ['i2'], ended: 'Drained' });
    expect(log).toContain('evict b');
  });

  test('DR-03: two instructions for a hundred nodes are each acked with every node once', async () => {
    const { node, order, pods, time, replies, annotation } = rig();
    const names = Array.from({ length: 100 }, (_, index) => `n${index}`);
    for (const name of names) {
      node(name);
      pods.add({ node: name, goesAfterMs: 10_000 });
    }
    order('i1', [...names, ...names]);
    order('i2', names);
    await time.advance(60_000);
    expect(replies.toSorted((left, right) => left.id.localeCompare(right.id))).toEqual([
      { id: 'i1', nodesStarted: 100 },
      { id: 'i2', nodesStarted: 100 },
    ]);
    for (const name of names) expect(annotation(name)).toMatchObject({ ids: ['i1', 'i2'] });
  });
});
