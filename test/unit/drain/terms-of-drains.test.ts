/** Drains beyond one term of leadership, one instruction, and their own end. */
import { Effect } from 'effect';
import { describe, expect, onTestFinished, test } from 'vitest';
import { drainRig, type DrainRigOptions } from '../../support/drains/drain-rig.ts';

const rig = (options: DrainRigOptions = {}) => {
  const made = drainRig(options);
  onTestFinished(made.stop);
  return made;
};

describe('a drain in the next process', () => {
  test('DR-12: a recovered instruction that resumes is not acked', async () => {
    const { node, pods, frame, shardEvents, time, annotation, replies, restart } = rig();
    node('n1');
    pods.add({ node: 'n1', goesAfterMs: 60_000 });
    shardEvents.next({ _tag: 'StreamOpened', stream: 1 });
    frame('n1', 'Draining');
    shardEvents.next({ _tag: 'Resynced', stream: 1 });
    await time.advance(6000);
    await restart();
    await time.advance(10_000);
    expect(annotation('n1')).toMatchObject({ ids: ['recovered-n1'], ended: null });
    expect(replies).toEqual([]);
  });

  test('DR-42: a drain that resumes counts from its beginning', async () => {
    const { order, node, pods, time, notes, restart } = rig();
    node('n1');
    pods.add({ node: 'n1', goesAfterMs: 120_000 });
    order('i1', ['n1']);
    await time.advance(60_000);
    await restart();
    await time.advance(65_000);
    expect(notes.map(({ reason }) => reason)).toEqual(['DrainStarted', 'DrainFinished']);
    expect(notes.at(-1)?.note).toBe('Drained in 120 s');
  });
});

describe('a drain that is over', () => {
  test('DR-03: is not begun again by its own instruction, in the next process either', async () => {
    const { order, node, pods, time, log, replies, phases, annotation, restart } = rig();
    node('n1');
    pods.add({ node: 'n1', name: 'a' });
    order('i1', ['n1']);
    await time.advance(10_000);
    await restart();
    pods.add({ node: 'n1', name: 'late' });
    order('i1', ['n1']);
    await time.advance(60_000);
    expect(annotation('n1')?.ended).toBe('Drained');
    expect(log).not.toContain('evict late');
    expect(phases('n1')).toEqual(['Draining', 'Drained']);
    expect(replies).toEqual([{ id: 'i1', nodesStarted: 1 }, { id: 'i1', nodesStarted: 1 }]);
  });

  test('DR-04: a drain that is over stays over when the cache shows its Node from before the end', async () => {
    const { order, node, nodes, pods, time, phases, annotation } = rig();
    node('n1');
    pods.add({ node: 'n1' });
    order('i1', ['n1']);
    await time.advance(500);
    nodes.lag();
    await time.advance(10_000);
    expect(phases('n1')).toEqual(['Draining', 'Drained']);
    nodes.catchUp();
    await time.advance(10_000);
    expect(annotation('n1')?.ended).toBe('Drained');
    expect(phases('n1')).toEqual(['Draining', 'Drained']);
  });

  test('DR-15: the pods of a drain need not leave after the lease is lost', async () => {
    const { order, node, pods, time, setLeading } = rig();
    node('n1');
    pods.add({ node: 'n1', name: 'a' });
    pods.block('a', { reason: 'BlockedByBudget', text: 'budget ns/db', subject: 'ns/db' });
    order('i1', ['n1']);
    await time.advance(1000);
    expect(pods.wanted()).toEqual(['a']);
    setLeading(false);
    expect(pods.wanted()).toEqual([]);
  });
});

describe('a further instruction', () => {
  test('DR-42: joins a drain without a second Event for its start', async () => {
    const { order, node, pods, time, notes, annotation } = rig();
    node('n1');
    pods.add({ node: 'n1', goesAfterMs: 10_000 });
    order('i1', ['n1']);
    await time.advance(1000);
    order('i2', ['n1']);
    await time.advance(1000);
    expect(annotation('n1')?.ids).toEqual(['i1', 'i2']);
    expect(notes.map(({ reason }) => reason)).toEqual(['DrainStarted']);
  });

  test('DR-03: begins another drain when the one that it joined fails before its cordon', async () => {
    const { order, node, pods, time, annotation, intercept, phases } = rig();
    node('n1');
    pods.add({ node: 'n1', goesAfterMs: Infinity });
    order('i1', ['n1'], 60);
    await time.advance(59_900);
    intercept(() => Effect.succeed({ status: 500, body: {} }));
    order('i2', ['n1'], 600);
    await time.advance(1000);
    intercept(() => Effect.succeed(undefined));
    await time.advance(30_000);
    expect(annotation('n1')).toMatchObject({ ids: ['i2'], ended: null });
    expect(phases('n1')).toEqual(['Draining', 'Failed', 'Draining']);
  });

  test('DR-11: waits for its own cordons after the drain that it was queued behind', async () => {
    const { order, node, pods, time, log, intercept, showingTakes } = rig();
    for (const name of ['n1', 'n2']) node(name);
    showingTakes(() => new Promise((resolve) => void time.schedule(1000, resolve)));
    intercept(({ path }) =>
      Effect.succeed(path.endsWith('/n2') ? { status: 500, body: {} } : undefined)
    );
    order('i1', ['n1']);
    await time.advance(2500);
    order('i2', ['n1', 'n2']);
    pods.add({ node: 'n1', name: 'a' });
    await time.advance(1500);
    expect(log).not.toContain('evict a');
    await time.advance(2000);
    expect(log).toContain('evict a');
  });
});

describe('a replay with draining machines', () => {
  /** The machines that are recovered from a replay in which n1 drains. */
  const recoveredBy = async ({ shardEvents, frame, time, reclaims }: ReturnType<typeof rig>) => {
    shardEvents.next({ _tag: 'StreamOpened', stream: 1 });
    frame('n1', 'Draining');
    shardEvents.next({ _tag: 'Resynced', stream: 1 });
    await time.advance(5100);
    return reclaims().get('recovered-n1') !== undefined;
  };

  test('DR-14: recovers the machine whose Node has not joined', async () => {
    expect(await recoveredBy(rig())).toBe(true);
  });

  test('DR-14: recovers nothing in a process that does not lead', async () => {
    expect(await recoveredBy(rig({ leads: false }))).toBe(false);
  });

  test('DR-14: recovers no machine that an instruction awaits already', async () => {
    const made = rig();
    made.order('i1', ['n1']);
    expect(await recoveredBy(made)).toBe(false);
  });

  test('DR-14: recovers no machine whose Node is gone', async () => {
    const made = rig();
    made.machineObjects.set('un-n1', { machineId: 'n1', nodeName: 'gone', nodeUid: 'u9' });
    expect([await recoveredBy(made), made.reported]).toEqual([false, []]);
  });
});

describe('a process that stops', () => {
  test('DR-33: follows nothing more, and offers no ack that it held', async () => {
    const { node, pods, order, time, shardEvents, session, replies, reclaims, drains } = rig();
    node('n1');
    session.room = false;
    order('i1', ['n1']);
    await time.advance(5000);
    expect([pods.isFollowed(), shardEvents.observed]).toEqual([true, true]);
    const stopping = Promise.all([reclaims().stop(), drains().stop()]);
    session.room = true;
    await time.advance(60_000);
    await stopping;
    expect([pods.isFollowed(), shardEvents.observed, replies]).toEqual([false, false, []]);
  });
});
