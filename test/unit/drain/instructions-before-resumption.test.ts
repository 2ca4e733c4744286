/**
 * Regression: a new leader whose Nodes were behind began instructions before it had resumed the
 * drains: together they exceeded `--max-draining`; and the drain of an instruction for a Node that
 * drained already had the later deadline, and left the instruction before it without an end.
 */
import { describe, expect, onTestFinished, test } from 'vitest';
import { CORDON_PREFIX, printCordon } from '../../../src/domain/drain/cordon.ts';
import { SHARD_LIMITS } from '../../../src/domain/shard-limits.ts';
import { drainRig, type DrainRigOptions } from '../../support/drains/drain-rig.ts';

/** The Node drains for the instruction, for 60 s from now. */
const putDraining = (
  { node, time }: Pick<ReturnType<typeof drainRig>, 'node' | 'time'>,
  name: string,
  id: string,
): void => {
  const sinceMs = time.now();
  const deadlineMs = sinceMs + 60_000;
  const key = printCordon({ ids: [id], deadlineMs, graceSeconds: 60, sinceMs, ended: null });
  node(name, {
    metadata: { name, uid: name, annotations: { [`${CORDON_PREFIX}reclaim`]: key } },
    spec: { unschedulable: true },
  });
};

/** A process that leads, and whose Nodes are behind until `resolve`; `i1` drains `n1` for 60 s. */
const leaderWithOldNodes = async (options: DrainRigOptions = {}) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const rig = drainRig({ leads: false, whenNodesCurrent: () => promise, ...options });
  onTestFinished(rig.stop);
  putDraining(rig, 'n1', 'i1');
  rig.node('n2');
  rig.pods.add({ node: 'n1', name: 'a', goesAfterMs: Infinity });
  rig.pods.add({ node: 'n2', name: 'b' });
  rig.setLeading(true);
  await rig.time.advance(1000);
  return {
    ...rig,
    resolve,
    draining: () => [...rig.drains().draining()],
    instructions: () =>
      [...rig.reclaims().actors()].map((actor) => actor.getSnapshot().context.id).toSorted(),
    acks: () => rig.replies.map(({ id, nodesStarted }) => `${id} ${nodesStarted}`),
  };
};

/** A stream whose replay shows `n2` as DRAINING. */
const replay = (
  { shardEvents, frame }: Pick<ReturnType<typeof drainRig>, 'shardEvents' | 'frame'>,
) => {
  shardEvents.next({ _tag: 'StreamOpened', stream: 1 });
  frame('n2', 'Draining');
  shardEvents.next({ _tag: 'Resynced', stream: 1 });
};

describe('an instruction before the drains of a new leader are resumed', () => {
  test('DR-19: begins after them, as far as there is room', async () => {
    const rig = await leaderWithOldNodes({ maxDraining: { _tag: 'Nodes', nodes: 1 } });
    rig.order('i2', ['n2']);
    await rig.time.advance(5000);
    expect([rig.draining(), rig.acks()]).toEqual([[], ['i1 1']]);
    rig.resolve();
    await rig.time.advance(5000);
    expect([rig.draining(), rig.annotation('n2')]).toEqual([['n1'], undefined]);
    expect(rig.acks()).toEqual(['i1 1', 'i2 0']);
    await rig.time.advance(90_000);
    expect(rig.annotation('n2')).toMatchObject({ ids: ['i2'], ended: 'Drained' });
    expect(rig.instructions()).toEqual([]);
  });

  test('DR-03: joins the drain of its Node, which the earlier deadline ends for both', async () => {
    const rig = await leaderWithOldNodes();
    rig.order('i2', ['n1'], 600);
    await rig.time.advance(1000);
    rig.resolve();
    await rig.time.advance(5000);
    expect(rig.annotation('n1')).toMatchObject({ ids: ['i1', 'i2'], ended: null });
    expect(rig.acks()).toEqual(['i1 1', 'i2 1']);
    await rig.time.advance(60_000);
    expect(rig.annotation('n1')).toMatchObject({ ids: ['i1', 'i2'], ended: 'Failed' });
    expect([rig.draining(), rig.instructions()]).toEqual([[], []]);
  });

  test('DR-16: has its deadline from when it came', async () => {
    const rig = await leaderWithOldNodes();
    const cameMs = rig.time.now();
    rig.order('i2', ['n2'], 600);
    await rig.time.advance(40_000);
    rig.resolve();
    await rig.time.advance(500);
    expect(rig.annotation('n2')).toMatchObject({ sinceMs: cameMs, deadlineMs: cameMs + 600_000 });
  });

  test('DR-03: starts once when it is repeated, and names what it did not name first', async () => {
    const rig = await leaderWithOldNodes();
    rig.order('i2', ['n2']);
    rig.order('i2', ['n2', 'n3']);
    rig.resolve();
    await rig.time.advance(20_000);
    expect(new Set(rig.acks())).toEqual(new Set(['i1 1', 'i2 1']));
    expect(rig.notes.filter(({ reason }) => reason === 'InstructionChanged')).toHaveLength(1);
    expect(rig.annotation('n2')).toMatchObject({ ids: ['i2'], ended: 'Drained' });
  });

  test('DR-10: does not drain a machine that left meanwhile', async () => {
    const rig = await leaderWithOldNodes();
    rig.order('i2', ['n2', 'n3']);
    rig.frame('n2', 'Idle');
    rig.frame('n2', 'Configured');
    rig.resolve();
    await rig.time.advance(20_000);
    expect([rig.annotation('n2'), rig.acks()]).toEqual([undefined, ['i1 1', 'i2 0']]);
    rig.node('n3');
    await rig.time.advance(5000);
    expect(rig.annotation('n3')?.ids).toEqual(['i2']);
  });

  test('DR-15: begins nothing when the lease is lost meanwhile; the replay recovers it', async () => {
    const rig = await leaderWithOldNodes();
    rig.order('i2', ['n2']);
    rig.setLeading(false);
    rig.resolve();
    await rig.time.advance(1000);
    rig.setLeading(true);
    await rig.time.advance(1000);
    expect([rig.draining(), rig.annotation('n2')]).toEqual([['n1'], undefined]);
    replay(rig);
    await rig.time.advance(6000);
    expect(rig.annotation('n2')?.ids).toEqual(['recovered-n2']);
  });

  test('limits: one that is repeated is counted once', async () => {
    const { max } = SHARD_LIMITS.reclaim_machines;
    const rig = await leaderWithOldNodes();
    const machines = Array.from({ length: max / 2 + 1 }, (_, at) => `m${at}`);
    rig.order('i2', machines);
    rig.order('i2', machines);
    await rig.time.settle();
    expect([rig.acks(), rig.leaseNotes]).toEqual([['i1 1'], []]);
  });

  test('limits: names 20,000 machines at most, with all that wait', async () => {
    const { max } = SHARD_LIMITS.reclaim_machines;
    const rig = await leaderWithOldNodes();
    rig.order('i2', Array.from({ length: max - 1 }, (_, at) => `m${at}`));
    rig.order('i3', ['n2']);
    await rig.time.settle();
    expect(rig.acks()).toEqual(['i1 1', 'i3 0']);
    expect(rig.leaseNotes.map(({ reason }) => reason)).toEqual(['ShardLimitReached']);
  });
});

/** The leader before cordoned the Node, and ended before the session took its acknowledgement. */
test('DR-12: an instruction that only the current Nodes show is acknowledged', async () => {
  const rig = await leaderWithOldNodes();
  putDraining(rig, 'n2', 'i2');
  rig.resolve();
  await rig.time.advance(10_000);
  expect(rig.acks()).toEqual(['i1 1', 'i2 1']);
  expect(rig.annotation('n2')).toMatchObject({ ids: ['i2'], ended: 'Drained' });
  expect(rig.instructions()).toEqual(['i1']);
});

test('DR-14: a lost reclaim is recovered after the drains are resumed, not before', async () => {
  const rig = await leaderWithOldNodes({ maxDraining: { _tag: 'Nodes', nodes: 1 } });
  replay(rig);
  await rig.time.advance(10_000);
  expect([rig.draining(), rig.instructions()]).toEqual([[], ['i1']]);
  rig.resolve();
  await rig.time.advance(10_000);
  expect([rig.draining(), rig.instructions()]).toEqual([['n1'], ['i1', 'recovered-n2']]);
});

test('DR-13: a term does not resume drains by the Nodes for which the one before it waited', async () => {
  const terms = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let asked = 0;
  const rig = await leaderWithOldNodes({
    whenNodesCurrent: () => terms[asked++]?.promise ?? Promise.resolve(),
  });
  rig.setLeading(false);
  rig.setLeading(true);
  terms[0]?.resolve();
  await rig.time.advance(1000);
  expect(rig.draining()).toEqual([]);
  terms[1]?.resolve();
  await rig.time.advance(1000);
  expect(rig.draining()).toEqual(['n1']);
});
