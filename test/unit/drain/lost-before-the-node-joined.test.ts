/**
 * Regression: an instruction whose machine had no Node yet was only in memory, and recovery looked
 * at Nodes only, so that the instruction was lost with its process and the Node was never drained.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { drainRig } from '../../support/drains/drain-rig.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const rig = () => {
  const made = drainRig();
  stops.push(made.stop);
  return made;
};

type Rig = ReturnType<typeof rig>;

/** A stream whose replay shows `n1` as DRAINING. */
const replay = async ({ shardEvents, frame, time }: Rig, stream: number): Promise<void> => {
  shardEvents.next({ _tag: 'StreamEnded', stream: stream - 1 });
  shardEvents.next({ _tag: 'StreamOpened', stream });
  frame('n1', 'Draining');
  shardEvents.next({ _tag: 'Resynced', stream });
  await time.advance(6000);
};

/** The instruction is given while `n1` has no Node, and the process is killed. */
const killedBeforeJoining = async (): Promise<Rig> => {
  const made = rig();
  made.order('i1', ['n1'], 600);
  await made.time.advance(1000);
  await made.restart();
  await replay(made, 2);
  return made;
};

describe('an instruction whose Node has not joined when its process dies', () => {
  test('DR-14: is recovered from the replay and drains the Node when it joins', async () => {
    const made = await killedBeforeJoining();
    await made.time.advance(100_000);
    made.node('n1');
    made.pods.add({ node: 'n1', name: 'a' });
    await made.time.advance(60_000);
    expect(made.annotation('n1')).toMatchObject({
      ids: ['recovered-n1'],
      graceSeconds: 600,
      ended: 'Drained',
    });
    expect(made.pods.names()).toEqual([]);
    expect(made.replies).toEqual([{ id: 'i1', nodesStarted: 0 }]);
    expect(made.notes.filter(({ reason }) => reason === 'MachineWithoutNode')).toHaveLength(2);
  });

  test('DR-14: is recovered once, however many replays show its machine', async () => {
    const made = await killedBeforeJoining();
    for (const stream of [3, 4, 5]) await replay(made, stream);
    expect([...made.reclaims().actors()]).toHaveLength(1);
    expect(made.notes.filter(({ reason }) => reason === 'MachineWithoutNode')).toHaveLength(2);
  });

  test('DR-14: ends with its machine', async () => {
    const made = await killedBeforeJoining();
    made.frame('n1', 'Idle');
    made.frame('n1', 'Configured');
    made.node('n1');
    await made.time.advance(60_000);
    expect(made.annotation('n1')).toBeUndefined();
    expect([...made.reclaims().actors()]).toEqual([]);
  });

  test('DR-14: is not recovered in the process that still has it', async () => {
    const made = rig();
    made.order('i1', ['n1'], 600);
    await replay(made, 2);
    expect([...made.reclaims().actors()].map((actor) => actor.getSnapshot().context.id))
      .toEqual(['i1']);
  });

  test('DR-14: a Node that joins with a key of its own is left as it is', async () => {
    const made = await killedBeforeJoining();
    const key = JSON.stringify({ v: 1, ids: ['i9'], ended: 'Cancelled' });
    made.node('n1', {
      metadata: { name: 'n1', uid: 'u1', annotations: { 'cordon.tidegate.dev/reclaim': key } },
    });
    await made.time.advance(60_000);
    expect(made.annotation('n1')?.ids).toEqual(['i9']);
    expect([...made.reclaims().actors()]).toEqual([]);
  });

  test('DR-14: a machine whose known Node is gone needs no recovery', async () => {
    const made = rig();
    made.machineObjects.set('un-n1', { machineId: 'n1', nodeName: 'gone', nodeUid: 'u9' });
    await replay(made, 2);
    expect([[...made.reclaims().actors()], made.notes, made.reported]).toEqual([[], [], []]);
  });
});
