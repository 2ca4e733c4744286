/**
 * Regression: the end of a drain was decided on pods that were counted before its own cordon. A pod
 * that the scheduler had bound just before it, or from a snapshot just after it, appeared on a node
 * that was Drained already, and lost its machine without an eviction.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { drainRig, type DrainRigOptions } from '../../support/drains/drain-rig.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** An instruction that names an empty node, `ms` after its cordon. */
const emptyNode = async (ms: number, graceSeconds?: number) => {
  const rig = drainRig();
  stops.push(rig.stop);
  rig.node('n1');
  rig.order('i1', ['n1'], graceSeconds);
  await rig.time.advance(ms);
  expect(rig.log).toContain('cordon n1 200');
  return rig;
};

/** An instruction that names a node with a pod. */
const nodeWithPod = (goesAfterMs?: number, options?: DrainRigOptions) => {
  const rig = drainRig(options);
  stops.push(rig.stop);
  rig.node('n1');
  rig.pods.add({ node: 'n1', name: 'a', ...(goesAfterMs !== undefined && { goesAfterMs }) });
  rig.order('i1', ['n1']);
  return rig;
};

describe('a drain of an empty node', () => {
  test('DR-24: evicts a pod that was bound before the scheduler saw the cordon', async () => {
    const { annotation, log, pods, time } = await emptyNode(200);
    pods.add({ node: 'n1', name: 'late', goesAfterMs: 4000 });
    await time.advance(3000);
    expect([log.includes('evict late'), annotation('n1')?.ended]).toEqual([true, null]);
    await time.advance(3000);
    expect([pods.names(), annotation('n1')?.ended]).toEqual([[], 'Drained']);
  });

  test('DR-24: is Drained when such a pod would have appeared', async () => {
    const { annotation, time, phases } = await emptyNode(1900);
    expect([annotation('n1')?.ended, phases('n1')]).toEqual([null, ['Draining']]);
    await time.advance(300);
    expect([annotation('n1')?.ended, phases('n1')]).toEqual(['Drained', ['Draining', 'Drained']]);
  });

  test('DR-24: waits no longer because a pod appears that stays', async () => {
    const { annotation, time, pods } = await emptyNode(1500);
    pods.add({ node: 'n1', name: 'agent', controller: { kind: 'DaemonSet', name: 'agent' } });
    await time.advance(700);
    expect(annotation('n1')?.ended).toBe('Drained');
  });

  test('DR-13: does not wait past its deadline', async () => {
    const { annotation, time } = await emptyNode(900, 1);
    expect(annotation('n1')?.ended).toBeNull();
    await time.advance(200);
    expect(annotation('n1')?.ended).toBe('Drained');
  });

  test('DR-13: waits as long after a restart, whose cordon may be of a moment ago', async () => {
    const { annotation, log, pods, time, restart } = await emptyNode(500);
    await restart();
    await time.advance(500);
    pods.add({ node: 'n1', name: 'late', goesAfterMs: 100 });
    await time.advance(1000);
    expect([log.includes('evict late'), annotation('n1')?.ended]).toEqual([true, null]);
    await time.advance(1000);
    expect(annotation('n1')?.ended).toBe('Drained');
  });

  test('DR-13: counts the pods once more, when their list is current', async () => {
    let current = Promise.withResolvers<void>();
    current.resolve();
    const rig = drainRig({ whenPodsCurrent: () => current.promise });
    stops.push(rig.stop);
    rig.node('n1');
    rig.order('i1', ['n1']);
    await rig.time.advance(500);
    current = Promise.withResolvers();
    rig.pods.add({ node: 'n1', name: 'late', goesAfterMs: 100 });
    await rig.time.advance(5000);
    expect([rig.log.includes('evict late'), rig.annotation('n1')?.ended]).toEqual([false, null]);
    current.resolve();
    await rig.time.advance(1000);
    expect([rig.log.includes('evict late'), rig.annotation('n1')?.ended]).toEqual([
      true,
      'Drained',
    ]);
  });

  test('DR-45: is Drained while it is paused, after its last pod left by itself', async () => {
    const rig = nodeWithPod(undefined, { paused: true });
    await rig.time.advance(5000);
    rig.pods.remove('a');
    await rig.time.advance(2500);
    expect(rig.annotation('n1')?.ended).toBe('Drained');
  });

  test('DR-24: waits when its pods have left within a moment, too', async () => {
    const rig = nodeWithPod(300);
    await rig.time.advance(1000);
    expect([rig.pods.names(), rig.annotation('n1')?.ended]).toEqual([[], null]);
    rig.pods.add({ node: 'n1', name: 'late', goesAfterMs: 300 });
    await rig.time.advance(2000);
    expect(rig.log).toContain('evict late');
    expect(rig.annotation('n1')?.ended).toBe('Drained');
  });

  test('DR-24: waits no longer after its pods have left', async () => {
    const rig = nodeWithPod(5000);
    await rig.time.advance(5200);
    expect(rig.annotation('n1')?.ended).toBe('Drained');
  });

  test('DR-05: is cancelled at once', async () => {
    const { annotation, node, nodes, time } = await emptyNode(500);
    const known = nodes.get('n1') ?? expect.fail('There is no Node');
    node('n1', { ...known, spec: { unschedulable: false } });
    await time.advance(100);
    expect(annotation('n1')?.ended).toBe('Cancelled');
  });

  test('DR-06: is Drained at once when the Node is deleted', async () => {
    const { nodes, phases, time } = await emptyNode(500);
    nodes.remove('n1');
    await time.advance(100);
    expect(phases('n1')).toEqual(['Draining', 'Drained']);
  });
});
