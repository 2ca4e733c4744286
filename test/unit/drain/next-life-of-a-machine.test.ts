/**
 * Regression: an instruction that waited for the Node of its machine outlived the machine's stay in
 * the cluster, so the Node of the machine's next life was cordoned and drained for its last one,
 * and never uncordoned.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { drainRig } from '../../support/drains/drain-rig.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** A cluster with an instruction for `n1`, which has no Node. */
const reclaimedWithoutNode = async () => {
  const rig = drainRig();
  stops.push(rig.stop);
  rig.shardEvents.next({ _tag: 'StreamOpened', stream: 1 });
  rig.frame('n1', 'Configured');
  rig.shardEvents.next({ _tag: 'Resynced', stream: 1 });
  rig.order('i1', ['n1'], 600);
  await rig.time.advance(1000);
  return rig;
};

type Rig = Awaited<ReturnType<typeof reclaimedWithoutNode>>;

/** The Node of the next life joins, with a pod. */
const join = async ({ node, pods, time }: Rig): Promise<void> => {
  node('n1');
  pods.add({ node: 'n1', name: 'a' });
  await time.advance(60_000);
};

const expectUntouched = ({ annotation, nodes, pods, reclaims }: Rig): void => {
  expect(annotation('n1')).toBeUndefined();
  expect(nodes.calls).toEqual([]);
  expect(pods.names()).toEqual(['a']);
  expect([...reclaims().actors()]).toEqual([]);
};

describe('an instruction that waits for a Node', () => {
  test.each(
    [
      ['is IDLE after its drain', ['Draining', 'Idle', 'Configuring', 'Configured']],
      ['is IDLE at once', ['Idle', 'Configured']],
      ['is DELETING', ['Draining', 'Deleting', 'Speculative', 'Configured']],
      ['is CONFIGURING after its drain: the frame IDLE was superseded', [
        'Draining',
        'Configuring',
        'Configured',
      ]],
      ['is CONFIGURED after its drain: the frames between were superseded', [
        'Draining',
        'Configured',
      ]],
    ] as const,
  )('DR-10: ends when its machine %s', async (_, states) => {
    const rig = await reclaimedWithoutNode();
    // Frames that arrive together are as good as frames one by one.
    for (const state of states) rig.frame('n1', state);
    await join(rig);
    expectUntouched(rig);
    expect(rig.replies).toEqual([{ id: 'i1', nodesStarted: 0 }]);
    expect(rig.reported).toEqual([]);
  });

  test('DR-10: ends when a replay lacks its machine', async () => {
    const rig = await reclaimedWithoutNode();
    rig.shardEvents.next({ _tag: 'StreamEnded', stream: 1 });
    rig.shardEvents.next({ _tag: 'StreamOpened', stream: 2 });
    rig.shardEvents.next({ _tag: 'Resynced', stream: 2 });
    await rig.time.settle();
    rig.frame('n1', 'Configured');
    await join(rig);
    expectUntouched(rig);
  });

  test('DR-10: goes on when a replay has its machine, also before the hello ack', async () => {
    const rig = await reclaimedWithoutNode();
    rig.shardEvents.next({ _tag: 'StreamEnded', stream: 1 });
    rig.frame('n1', 'Draining');
    rig.shardEvents.next({ _tag: 'StreamOpened', stream: 2 });
    rig.shardEvents.next({ _tag: 'Resynced', stream: 2 });
    await join(rig);
    expect(rig.annotation('n1')).toMatchObject({ ids: ['i1'], ended: 'Drained' });
  });

  test('DR-10: goes on when a stream ends before its replay is complete', async () => {
    const rig = await reclaimedWithoutNode();
    rig.shardEvents.next({ _tag: 'StreamEnded', stream: 1 });
    rig.shardEvents.next({ _tag: 'StreamOpened', stream: 2 });
    rig.shardEvents.next({ _tag: 'StreamEnded', stream: 2 });
    await join(rig);
    expect(rig.annotation('n1')).toMatchObject({ ids: ['i1'], ended: 'Drained' });
  });

  test('DR-10: an instruction of this stream goes on at the end of its replay', async () => {
    const rig = await reclaimedWithoutNode();
    rig.shardEvents.next({ _tag: 'StreamEnded', stream: 1 });
    rig.shardEvents.next({ _tag: 'StreamOpened', stream: 2 });
    rig.order('i2', ['n1']);
    rig.shardEvents.next({ _tag: 'Resynced', stream: 2 });
    await join(rig);
    expect(rig.annotation('n1')).toMatchObject({ ids: ['i1', 'i2'], ended: 'Drained' });
  });

  test('DR-10: the drain of a Node that joined goes on whatever the machine becomes', async () => {
    const rig = await reclaimedWithoutNode();
    rig.frame('n1', 'Draining');
    rig.node('n1');
    rig.pods.add({ node: 'n1', name: 'a' });
    await rig.time.settle();
    rig.frame('n1', 'Idle');
    await rig.time.advance(60_000);
    expect(rig.annotation('n1')).toMatchObject({ ids: ['i1'], ended: 'Drained' });
  });
});
