/**
 * What a shard may not take: Nodes that no machine of it has, Nodes that the selector excludes, and
 * more Nodes at once than `--max-draining`.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { CORDON_PREFIX, printCordon } from '../../../src/domain/drain/cordon.ts';
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

const MAINTENANCE = 'maintenance-0123456789ab';

/** A maintenance cordons the node; it drains it when it releases the drain. */
const maintain = (
  { nodes, drains, time }: Pick<ReturnType<typeof drainRig>, 'nodes' | 'drains' | 'time'>,
  name: string,
): void => {
  const node = nodes.known(name);
  if (node === undefined) throw new Error(`there is no node ${name}`);
  drains().order(node, {
    owner: MAINTENANCE,
    id: MAINTENANCE,
    machineId: '',
    deadlineMs: null,
    graceSeconds: 0,
    sinceMs: time.now(),
  });
};

const limit = (nodes: number): DrainRigOptions => ({ maxDraining: { _tag: 'Nodes', nodes } });

/** A Node that an instruction has drained. */
const drainedBy = (name: string, id: string): object => ({
  metadata: {
    name,
    uid: `uid-${name}`,
    annotations: {
      [`${CORDON_PREFIX}reclaim`]: printCordon({
        ids: [id],
        deadlineMs: null,
        graceSeconds: 60,
        sinceMs: 0,
        ended: 'Drained',
      }),
    },
  },
  spec: { unschedulable: true },
});

describe('a Node without a machine', () => {
  test('DR-17: a Node that no machine of the shard has is not reclaimed by its name', async () => {
    const { node, pods, order, time, replies, notes, annotation, counts, phases } = rig({
      strangers: ['n1'],
    });
    for (const name of ['n1', 'n2']) {
      node(name);
      pods.add({ node: name });
    }
    order('i1', ['n1', 'n2'], 60);
    await time.advance(5000);
    expect(annotation('n1')).toBeUndefined();
    expect(annotation('n2')?.ended).toBe('Drained');
    expect(replies).toEqual([{ id: 'i1', nodesStarted: 1 }]);
    const refusal = notes.find(({ reason }) => reason === 'ReclaimRefused');
    expect(refusal).toMatchObject({
      regarding: { kind: 'Node', name: 'n1' },
      note: 'Cannot reclaim the node for "i1": the shard showed no machine of it CONFIGURED, and ' +
        'it has no UpcomingNode; the fleet must report the machine first',
    });
    expect(counts.get('tidegate_reclaims_refused_total NoMachine')).toBe(1);
    await time.advance(60_000);
    expect(annotation('n1')).toBeUndefined();
    expect(pods.names()).toHaveLength(1);
    expect(phases('n1')).toEqual(['Failed']);
  });

  test('DR-17: a machine with an UpcomingNode is reclaimed, by its id and by its Node', async () => {
    const { node, order, time, machineObjects, annotation } = rig({
      strangers: ['m1', 'm2', 'n1', 'n2', 'm3'],
    });
    machineObjects.set('un-m1', { machineId: 'm1', nodeName: 'n1', nodeUid: 'uid-n1' });
    machineObjects.set('un-m3', { machineId: 'm3', nodeName: '', nodeUid: '' });
    for (const name of ['n1', 'n2', 'm3']) node(name);
    order('i1', ['n1', 'n2', 'm3']);
    await time.advance(1000);
    expect(annotation('n1')?.ids).toEqual(['i1']);
    expect(annotation('m3')?.ids).toEqual(['i1']);
    expect(annotation('n2')).toBeUndefined();
  });

  test('DR-17: a machine that is shown CONFIGURED after its instruction is reclaimed then', async () => {
    const { node, order, frame, time, strangers, annotation } = rig({ strangers: ['n1'] });
    node('n1');
    order('i1', ['n1']);
    await time.advance(1000);
    expect(annotation('n1')).toBeUndefined();
    strangers.delete('n1');
    frame('n1', 'Configured');
    await time.advance(1000);
    expect(annotation('n1')?.ids).toEqual(['i1']);
  });

  test('DR-17: a DRAINING machine of a replay recovers no Node that no machine has', async () => {
    const { node, shardEvents, frame, time, annotation } = rig({ strangers: ['n1'] });
    node('n1');
    shardEvents.next({ _tag: 'StreamOpened', stream: 1 });
    frame('n1', 'Draining');
    shardEvents.next({ _tag: 'Resynced', stream: 1 });
    await time.advance(700_000);
    expect(annotation('n1')).toBeUndefined();
  });
});

describe('the selector', () => {
  test('DR-18: an excluded Node is refused at once, also one of a machine, and not counted', async () => {
    const { node, pods, order, time, replies, notes, annotation, counts, phases, reclaims } = rig({
      excluded: ['n1'],
    });
    node('n1');
    pods.add({ node: 'n1' });
    order('i1', ['n1']);
    await time.advance(3000);
    expect(replies).toEqual([{ id: 'i1', nodesStarted: 0 }]);
    expect(notes).toMatchObject([{
      reason: 'ReclaimRefused',
      regarding: { kind: 'Node', name: 'n1' },
      note: 'Cannot reclaim the node for "i1": --reclaimable-node-selector excludes it; change ' +
        'its labels or the selector',
    }]);
    expect(counts.get('tidegate_reclaims_refused_total NotSelected')).toBe(1);
    expect([annotation('n1'), phases('n1'), [...reclaims().actors()]]).toEqual([
      undefined,
      [],
      [],
    ]);
  });

  test('DR-18: a Node that joins later is refused as well', async () => {
    const { node, order, time, notes, annotation } = rig({ excluded: ['n1'] });
    order('i1', ['n1']);
    await time.advance(1000);
    node('n1');
    await time.advance(1000);
    expect(annotation('n1')).toBeUndefined();
    expect(notes.map(({ reason }) => reason)).toEqual(['MachineWithoutNode', 'ReclaimRefused']);
  });
});

describe('the limit of draining Nodes', () => {
  test('DR-19: no more Nodes drain at once than may, and all drain in the end', async () => {
    const { node, pods, order, time, replies, annotation, gauges, drains } = rig(limit(3));
    const names = Array.from({ length: 10 }, (_, index) => `n${index}`);
    for (const name of names) {
      node(name);
      pods.add({ node: name, goesAfterMs: 5000 });
    }
    order('i1', names.slice(0, 5));
    order('i2', names.slice(5));
    let most = 0;
    for (let step = 0; step < 60; step += 1) {
      await time.advance(500);
      most = Math.max(most, [...drains().actors()].length);
      if (step === 8) expect(gauges.get('tidegate_reclaims_queued')).toBe(7);
    }
    expect(most).toBe(3);
    expect(names.map((name) => annotation(name)?.ended)).toEqual(names.map(() => 'Drained'));
    expect(replies).toEqual([{ id: 'i2', nodesStarted: 0 }, { id: 'i1', nodesStarted: 3 }]);
    expect(gauges.get('tidegate_reclaims_queued')).toBe(0);
  });

  test('DR-19: one Event for each instruction says how many Nodes wait, and for what', async () => {
    const { node, pods, order, time, leaseNotes } = rig(limit(1));
    for (const name of ['n1', 'n2', 'n3']) {
      node(name);
      pods.add({ node: name, goesAfterMs: Number.POSITIVE_INFINITY });
    }
    order('i1', ['n1', 'n2', 'n3'], 600);
    await time.advance(60_000);
    expect(leaseNotes).toEqual([{
      reason: 'DrainLimitReached',
      note: 'Cannot drain 2 nodes of "i1" yet: --max-draining is 1; they follow when other ' +
        'drains end, or raise it',
    }]);
  });

  test('DR-19: the machine that must leave first begins first', async () => {
    const { node, pods, order, time, annotation } = rig(limit(1));
    for (const name of ['n1', 'n2', 'n3']) {
      node(name);
      pods.add({ node: name, goesAfterMs: 10_000 });
    }
    order('i1', ['n1', 'n2'], 600);
    order('i2', ['n3'], 60);
    await time.advance(15_000);
    expect([annotation('n1')?.ended, annotation('n2'), annotation('n3')?.ids]).toEqual([
      'Drained',
      undefined,
      ['i2'],
    ]);
  });

  test('DR-19: a reclaim that waits until its deadline ends as Failed, and says why', async () => {
    const { node, pods, order, time, annotation, reported, reclaims, gauges } = rig(limit(1));
    for (const name of ['n1', 'n2']) {
      node(name);
      pods.add({ node: name, goesAfterMs: Number.POSITIVE_INFINITY });
    }
    order('i1', ['n1'], 600);
    order('i2', ['n2'], 60);
    await time.advance(59_000);
    expect(gauges.get('tidegate_reclaims_queued')).toBe(1);
    await time.advance(2000);
    expect(gauges.get('tidegate_reclaims_queued')).toBe(0);
    expect(annotation('n2')).toBeUndefined();
    expect(reported.filter(({ machine }) => machine === 'n2')).toMatchObject([{
      fact: {
        _tag: 'Failed',
        lastError: 'its node waited for --max-draining until the deadline of "i2"',
      },
    }]);
    expect(reclaims().get('i2')).toBeUndefined();
  });

  test('DR-19: a process that lost the lease counts no machine as queued', async () => {
    const { node, pods, order, time, gauges, setLeading } = rig(limit(1));
    for (const name of ['n1', 'n2']) {
      node(name);
      pods.add({ node: name, goesAfterMs: Number.POSITIVE_INFINITY });
    }
    order('i1', ['n1', 'n2'], 600);
    await time.advance(1000);
    expect(gauges.get('tidegate_reclaims_queued')).toBe(1);
    setLeading(false);
    expect(gauges.get('tidegate_reclaims_queued')).toBe(0);
  });

  test('DR-19: a second instruction for a Node that drains needs no room', async () => {
    const { node, pods, order, time, annotation, replies } = rig(limit(1));
    node('n1');
    pods.add({ node: 'n1', goesAfterMs: Number.POSITIVE_INFINITY });
    order('i1', ['n1']);
    order('i2', ['n1']);
    await time.advance(3000);
    expect(annotation('n1')?.ids).toEqual(['i1', 'i2']);
    expect(replies).toEqual([{ id: 'i1', nodesStarted: 1 }, { id: 'i2', nodesStarted: 1 }]);
  });

  test('DR-03: a Node that a repeated instruction has drained takes no room from its others', async () => {
    const { node, pods, order, time, annotation, replies, leaseNotes } = rig(limit(1));
    node('n1', drainedBy('n1', 'i1'));
    node('n2');
    pods.add({ node: 'n2', goesAfterMs: Number.POSITIVE_INFINITY });
    order('i1', ['n1', 'n2'], 600);
    await time.advance(5000);
    expect(replies).toEqual([{ id: 'i1', nodesStarted: 2 }]);
    expect([annotation('n1')?.ended, annotation('n2')?.ids]).toEqual(['Drained', ['i1']]);
    expect(leaseNotes).toEqual([]);
  });

  test('DR-03: a repeated instruction ends without room when its drained Node is seen', async () => {
    const { node, pods, order, time, annotation, gauges, reclaims } = rig(limit(1));
    node('n2');
    pods.add({ node: 'n2', goesAfterMs: Number.POSITIVE_INFINITY });
    order('i2', ['n2'], 600);
    for (const id of ['i1', 'i3']) order(id, ['n1'], 600);
    await time.advance(5000);
    expect(reclaims().get('i1')).toBeDefined();
    node('n1', drainedBy('n1', 'i1'));
    await time.advance(5000);
    expect([reclaims().get('i1'), gauges.get('tidegate_reclaims_queued')]).toEqual([undefined, 1]);
    expect(annotation('n1')).toMatchObject({ ids: ['i1'], ended: 'Drained' });
  });

  test('DR-19: a Node that drains for a maintenance needs no room for an instruction', async () => {
    const { node, nodes, pods, order, drains, time, annotation } = rig(limit(1));
    node('n1');
    pods.add({ node: 'n1', goesAfterMs: Number.POSITIVE_INFINITY });
    maintain({ nodes, drains, time }, 'n1');
    drains().release('n1', MAINTENANCE, MAINTENANCE);
    order('i1', ['n1']);
    await time.advance(3000);
    expect(annotation('n1')?.ids).toEqual(['i1']);
  });

  test('DR-19: a Node that a maintenance only cordons takes no room', async () => {
    const { node, nodes, pods, order, drains, time, annotation } = rig(limit(1));
    for (const name of ['n1', 'n2', 'n3']) {
      node(name);
      pods.add({ node: name, goesAfterMs: 1000 });
    }
    maintain({ nodes, drains, time }, 'n1');
    await time.advance(3000);
    order('i1', ['n2', 'n3']);
    await time.advance(1000);
    expect([annotation('n2')?.ids, annotation('n3')]).toEqual([['i1'], undefined]);
    await time.advance(30_000);
    expect([annotation('n2')?.ended, annotation('n3')?.ended]).toEqual(['Drained', 'Drained']);
    expect(pods.names()).toHaveLength(1);
  });

  test('DR-19: a percentage counts all Nodes and is one at least', async () => {
    const { node, pods, order, time, drains } = rig({
      maxDraining: { _tag: 'Percent', percent: 25 },
    });
    const names = Array.from({ length: 11 }, (_, index) => `n${index}`);
    for (const name of names) {
      node(name);
      pods.add({ node: name, goesAfterMs: Number.POSITIVE_INFINITY });
    }
    order('i1', names);
    await time.advance(3000);
    expect([...drains().actors()]).toHaveLength(2);
  });

  test('DR-19: a machine that left while it waited is not drained in its next life', async () => {
    const { node, pods, order, frame, time, annotation } = rig(limit(1));
    for (const name of ['n1', 'n2']) {
      node(name);
      pods.add({ node: name, goesAfterMs: 5000 });
    }
    order('i1', ['n1', 'n2']);
    await time.advance(1000);
    frame('n2', 'Idle');
    await time.advance(30_000);
    expect(annotation('n1')?.ended).toBe('Drained');
    expect(annotation('n2')).toBeUndefined();
  });

  test('DR-19: drains that a process resumes count, and queued ones are recovered', async () => {
    const { node, pods, order, time, frame, shardEvents, restart, annotation, drains } = rig(
      limit(1),
    );
    for (const name of ['n1', 'n2']) {
      node(name);
      pods.add({ node: name, goesAfterMs: 30_000 });
    }
    order('i1', ['n1', 'n2']);
    await time.advance(1000);
    await restart();
    shardEvents.next({ _tag: 'StreamOpened', stream: 1 });
    for (const name of ['n1', 'n2']) frame(name, 'Draining');
    shardEvents.next({ _tag: 'Resynced', stream: 1 });
    await time.advance(10_000);
    expect([...drains().actors()]).toHaveLength(1);
    await time.advance(60_000);
    expect([annotation('n1')?.ended, annotation('n2')]).toMatchObject([
      'Drained',
      { ids: ['recovered-n2'], ended: 'Drained' },
    ]);
  });
});
