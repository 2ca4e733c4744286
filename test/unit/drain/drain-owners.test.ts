/** Drains of several owners on one node: overlap, deadlines, withdrawal, and a crash. */
import { Effect } from 'effect';
import { afterEach, describe, expect, test } from 'vitest';
import { annotationOf } from '../../../src/domain/drain/cordon.ts';
import type { DrainOwner } from '../../../src/domain/drain/cordon.ts';
import { drainRig } from '../../support/drains/drain-rig.ts';
import { evictionRig } from '../../support/drains/eviction-rig.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const OWNER = 'maintenance-0123456789ab';
const OTHER = 'maintenance-ba9876543210';

const rig = () => {
  const made = drainRig();
  stops.push(made.stop);
  const annotation = (owner: DrainOwner) => {
    const node = made.nodes.known('n1');
    return node === undefined ? undefined : annotationOf(node, owner);
  };
  return {
    ...made,
    annotation,
    /** A second owner drains the node. */
    maintain: (owner: Exclude<DrainOwner, 'reclaim'>, graceMs: number | null = null) => {
      const node = made.nodes.known('n1');
      const sinceMs = made.time.now();
      if (node === undefined) return;
      made.drains().order(node, {
        owner,
        id: owner,
        machineId: '',
        deadlineMs: graceMs === null ? null : sinceMs + graceMs,
        graceSeconds: (graceMs ?? 0) / 1000,
        sinceMs,
      });
      made.drains().release('n1', owner, owner);
    },
  };
};

describe('drains of several owners', () => {
  test('DR-01: each owner has its own annotation, and each drain its own end', async () => {
    const { node, pods, order, maintain, annotation, time, phases, drains } = rig();
    node('n1');
    pods.add({ node: 'n1', goesAfterMs: 5000 });
    order('i1', ['n1']);
    maintain(OWNER);
    await time.advance(2000);
    expect(annotation('reclaim')).toMatchObject({ ids: ['i1'], ended: null });
    expect(annotation(OWNER)).toMatchObject({ ids: [OWNER], deadlineMs: null, ended: null });
    expect([...drains().actors()]).toHaveLength(2);
    await time.advance(10_000);
    expect(annotation('reclaim')?.ended).toBe('Drained');
    expect(annotation(OWNER)?.ended).toBe('Drained');
    expect(phases('n1'), 'only the reclaim shows on the UpcomingNode').toEqual([
      'Draining',
      'Drained',
    ]);
  });

  test('DR-16: each drain has its own deadline, and one without a deadline continues', async () => {
    const { node, pods, maintain, annotation, time } = rig();
    node('n1');
    pods.add({ node: 'n1', name: 'a' });
    pods.block('a', { reason: 'BlockedByBudget', text: 'budget ns/db', subject: 'ns/db' });
    maintain(OWNER, 60_000);
    maintain(OTHER);
    await time.advance(61_000);
    expect(annotation(OWNER)?.ended).toBe('Failed');
    expect(annotation(OTHER)?.ended).toBeNull();
    await time.advance(3 * 24 * 3600 * 1000);
    expect(annotation(OTHER)?.ended).toBeNull();
  });

  test('DR-42: a node that goes back into service after its drain keeps the end that it shows', async () => {
    const { node, nodes, pods, maintain, time, drains, conditions } = rig();
    node('n1');
    pods.add({ node: 'n1', name: 'a', goesAfterMs: 1000 });
    maintain(OWNER);
    await time.advance(10_000);
    expect(conditions).toMatchObject([{ status: 'False', reason: 'DrainFinished' }]);
    expect(nodes.known('n1')?.showsDraining).toBe(false);
    drains().withdraw('n1', OWNER);
    await time.advance(5000);
    expect(nodes.known('n1')?.unschedulable).toBe(false);
    expect(conditions).toHaveLength(1);
  });

  test.each([
    ['finished, when no pod is left', 0, 'DrainFinished'],
    ['cancelled, when pods are left', 1, 'DrainCancelled'],
  ])('DR-42: an owner that leaves early leaves a drain that is %s', async (_, left, reason) => {
    const { node, pods, maintain, time, drains, conditions } = rig();
    node('n1');
    if (left > 0) pods.add({ node: 'n1', goesAfterMs: Infinity });
    maintain(OWNER);
    await time.advance(500);
    drains().withdraw('n1', OWNER);
    await time.advance(1000);
    expect(conditions.at(-1)).toMatchObject({ reason });
  });

  test('DR-04: an owner that leaves in the moment in which its drain ends leaves no key', async () => {
    const { node, nodes, pods, maintain, annotation, time, drains } = rig();
    node('n1');
    pods.add({ node: 'n1', name: 'a', goesAfterMs: 1000 });
    maintain(OWNER);
    let wasEnded = false;
    drains().get('n1', OWNER)?.subscribe((snapshot) => {
      if (wasEnded || !snapshot.hasTag('settled')) return;
      wasEnded = annotation(OWNER)?.ended === 'Drained';
      drains().withdraw('n1', OWNER);
    });
    await time.advance(20_000);
    expect(wasEnded).toBe(true);
    expect(annotation(OWNER)).toBeUndefined();
    expect(nodes.known('n1')?.unschedulable).toBe(false);
    expect([...drains().actors()]).toEqual([]);
  });

  test('DR-04: the last owner that leaves uncordons, and not before', async () => {
    const { node, nodes, pods, maintain, annotation, time, drains } = rig();
    node('n1');
    pods.add({ node: 'n1', name: 'a', goesAfterMs: Number.POSITIVE_INFINITY });
    maintain(OWNER);
    maintain(OTHER);
    await time.advance(2000);
    drains().withdraw('n1', OWNER);
    await time.advance(2000);
    expect(annotation(OWNER)).toBeUndefined();
    expect(annotation(OTHER)?.ended).toBeNull();
    expect(nodes.known('n1')?.unschedulable).toBe(true);
    drains().withdraw('n1', OTHER);
    await time.advance(2000);
    expect(annotation(OTHER)).toBeUndefined();
    expect(nodes.known('n1')?.unschedulable).toBe(false);
    expect([...drains().actors()]).toEqual([]);
  });

  test('DR-04: an owner that leaves while its end is written leaves no key', async () => {
    const { node, nodes, maintain, annotation, time, drains, intercept } = rig();
    node('n1');
    maintain(OWNER);
    intercept(({ body }) =>
      JSON.stringify(body).includes('Drained')
        ? Effect.promise(() =>
          new Promise((resolve) => void time.schedule(1000, () => resolve(undefined)))
        )
        : Effect.succeed(undefined)
    );
    await time.advance(800);
    expect(annotation(OWNER)?.ended).toBeNull();
    drains().withdraw('n1', OWNER);
    await time.advance(10_000);
    expect(annotation(OWNER)).toBeUndefined();
    expect(nodes.known('n1')?.unschedulable).toBe(false);
    expect([...drains().actors()]).toEqual([]);
  });

  test('DR-04: an owner that leaves after its drain leaves the cordon of a reclaim', async () => {
    const { node, nodes, order, maintain, annotation, time, drains } = rig();
    node('n1');
    maintain(OWNER);
    await time.advance(2000);
    expect(annotation(OWNER)?.ended).toBe('Drained');
    order('i1', ['n1']);
    await time.advance(3000);
    drains().withdraw('n1', OWNER);
    await time.advance(2000);
    expect(annotation(OWNER)).toBeUndefined();
    expect(annotation('reclaim')?.ended).toBe('Drained');
    expect(nodes.known('n1')?.unschedulable).toBe(true);
  });

  test('DR-04: an owner that left twice, the second time by an old Node, may drain it again', async () => {
    const { node, nodes, pods, maintain, annotation, time, drains } = rig();
    node('n1');
    pods.add({ node: 'n1', name: 'a', goesAfterMs: 1000 });
    maintain(OWNER);
    await time.advance(10_000);
    nodes.lag();
    drains().withdraw('n1', OWNER);
    await time.advance(5000);
    drains().withdraw('n1', OWNER);
    nodes.catchUp();
    await time.advance(5000);
    expect([annotation(OWNER), nodes.known('n1')?.unschedulable]).toEqual([undefined, false]);
    const key = JSON.stringify({ v: 1, ids: [OWNER], since: new Date(time.now()).toISOString() });
    node('n1', {
      metadata: {
        name: 'n1',
        uid: nodes.known('n1')?.uid,
        annotations: { [`cordon.tidegate.dev/${OWNER}`]: key },
      },
      spec: { unschedulable: true },
    });
    await time.advance(10_000);
    expect(annotation(OWNER)?.ended).toBe('Drained');
    expect(nodes.known('n1')?.unschedulable).toBe(true);
  });

  test('DR-13: after a crash both drains resume from their annotations', async () => {
    const { node, pods, order, maintain, annotation, time, restart, drains } = rig();
    node('n1');
    pods.add({ node: 'n1', goesAfterMs: 20_000 });
    order('i1', ['n1']);
    maintain(OWNER);
    await time.advance(2000);
    const before = { reclaim: annotation('reclaim'), other: annotation(OWNER) };
    await restart();
    await time.advance(1000);
    expect([...drains().actors()]).toHaveLength(2);
    expect({ reclaim: annotation('reclaim'), other: annotation(OWNER) }).toEqual(before);
    await time.advance(30_000);
    expect(annotation('reclaim')?.ended).toBe('Drained');
    expect(annotation(OWNER)?.ended).toBe('Drained');
  });
});

describe('actors that crash', () => {
  test('DR-13: a crashed drain resumes from its Node, and its instruction ends', async () => {
    const { node, pods, order, annotation, time, crashOn, replies, reclaims, phases } = rig();
    node('n1');
    pods.add({ node: 'n1', goesAfterMs: 5000 });
    crashOn('DrainStarted');
    order('i1', ['n1']);
    await time.advance(60_000);
    expect(annotation('reclaim')).toMatchObject({ ids: ['i1'], ended: 'Drained' });
    expect(phases('n1').at(-1)).toBe('Drained');
    expect(replies).toEqual([{ id: 'i1', nodesStarted: 1 }]);
    expect([...reclaims().actors()]).toEqual([]);
  });

  test('DR-13: a crashed drain that was to evict does so after its restart', async () => {
    const { node, pods, maintain, annotation, time, crashOn, log } = rig();
    node('n1');
    pods.add({ node: 'n1', name: 'a' });
    crashOn('DrainStarted');
    maintain(OWNER);
    await time.advance(60_000);
    expect(log).toContain('evict a');
    expect(annotation(OWNER)?.ended).toBe('Drained');
  });

  test('DR-10: a crashed instruction resumes from its order', async () => {
    const { node, pods, order, annotation, time, crashOn, replies, reclaims } = rig();
    node('n1');
    pods.add({ node: 'n1' });
    crashOn('MachineWithoutNode');
    order('i1', ['n1', 'n2']);
    await time.advance(5000);
    node('n2');
    await time.advance(60_000);
    expect(annotation('reclaim')?.ended).toBe('Drained');
    expect(replies.map(({ id }) => id)).toContain('i1');
    expect([...reclaims().actors()]).toEqual([]);
  });
});

describe('evictions of several owners', () => {
  const want = (
    made: ReturnType<typeof evictionRig>,
    owner: DrainOwner,
    deadlineMs: number | null,
  ) =>
    made.cluster.onNode('n1').forEach((pod) =>
      made.registry.want(pod, {
        node: 'n1',
        owner,
        deadlineMonotonicMs: deadlineMs,
        drainSinceMs: 0,
        podsLeft: () => made.cluster.left('n1'),
      })
    );

  const blocked = async () => {
    const made = evictionRig();
    made.cluster.addPod({ name: 'p1', node: 'n1', app: 'a' });
    made.cluster.addBudget({ name: 'db', app: 'a', maxUnavailable: 0 });
    made.cluster.settle('a');
    await made.ready();
    return made;
  };

  test('DR-05: a release by one owner does not affect the other', async () => {
    const made = await blocked();
    want(made, 'reclaim', 600_000);
    want(made, OWNER, null);
    made.registry.release('n1', 'reclaim');
    await made.time.advance(1000);
    expect(made.registry.counts()).toMatchObject({ queued: 1 });
    made.cluster.changeBudget('db', { maxUnavailable: 1 });
    await made.time.advance(5000);
    expect(made.cluster.has('p1')).toBe(false);
  });

  test('DR-05: a pod that all owners released stays until one requests it again', async () => {
    const made = await blocked();
    want(made, 'reclaim', 600_000);
    want(made, OWNER, null);
    made.registry.release('n1', 'reclaim');
    made.registry.release('n1', OWNER);
    made.cluster.changeBudget('db', { maxUnavailable: 1 });
    await made.time.advance(60_000);
    expect(made.cluster.has('p1')).toBe(true);
    want(made, OWNER, null);
    await made.time.advance(5000);
    expect(made.cluster.has('p1')).toBe(false);
  });
});
