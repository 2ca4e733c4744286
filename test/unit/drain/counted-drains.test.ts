/** Which drains an instruction counts as started, and which Nodes have one after a new list. */
import { Effect } from 'effect';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { DrainEvent } from '../../../src/actors/node-drains/drain-index.ts';
import { MaintainedNodes } from '../../../src/actors/node-drains/maintained-nodes.ts';
import { printCordon } from '../../../src/domain/drain/cordon.ts';
import { drainRig, type DrainRigOptions } from '../../support/drains/drain-rig.ts';

const OWNER = 'maintenance-0123456789ab';

/** The events that drains publish, as text. */
const rig = (options: DrainRigOptions = {}) => {
  const made = drainRig(options);
  onTestFinished(made.stop);
  const events: string[] = [];
  const textOf = ({ node, id, phase, counted }: DrainEvent): string =>
    `${node} ${id} ${phase} ${counted ? 'counted' : 'not counted'}`;
  const following = made.drains().events.subscribe((event) => void events.push(textOf(event)));
  onTestFinished(() => following.unsubscribe());
  return {
    ...made,
    events,
    /** A Node with the key of an owner that drains it since now. */
    keyed: (owner: string) =>
      made.node('n1', {
        metadata: {
          name: 'n1',
          uid: 'uid-n1',
          annotations: {
            [`cordon.tidegate.dev/${owner}`]: printCordon({
              ids: ['i1'],
              deadlineMs: null,
              graceSeconds: 600,
              sinceMs: made.time.now(),
              ended: null,
            }),
          },
        },
        spec: { unschedulable: true },
      }),
  };
};

describe('an instruction', () => {
  const FAILS = () => Effect.succeed({ status: 500, body: {} });

  test('counts a drain that ended after its cordon, each phase once', async () => {
    const { node, order, time, events } = rig();
    node('n1');
    order('i1', ['n1']);
    await time.advance(10_000);
    expect(events).toEqual(['n1 i1 Cordoned counted', 'n1 i1 Ended counted']);
  });

  test('DR-03: counts a Node at once that has its cordon, and writes it no more', async () => {
    const { node, nodes, pods, order, time, drains, events } = rig();
    node('n1');
    pods.add({ node: 'n1', goesAfterMs: Infinity });
    order('i1', ['n1']);
    await time.advance(2000);
    const written = nodes.writes().length;
    const known = nodes.known('n1');
    if (known === undefined) throw new Error('no Node');
    drains().order(known, {
      id: 'i1',
      owner: 'reclaim',
      machineId: 'n1',
      deadlineMs: null,
      graceSeconds: 600,
      sinceMs: time.now(),
    });
    expect(events).toEqual(['n1 i1 Cordoned counted', 'n1 i1 Cordoned counted']);
    await time.advance(2000);
    expect(nodes.writes()).toHaveLength(written);
  });

  test('DR-06: counts a Node that was deleted before its cordon', async () => {
    const { node, nodes, order, time, intercept, events } = rig();
    node('n1');
    intercept(FAILS);
    order('i1', ['n1']);
    await time.advance(500);
    nodes.remove('n1');
    await time.advance(5000);
    expect(events).toEqual(['n1 i1 Ended counted']);
  });

  test('counts a drain that was cancelled after its cordon', async () => {
    const { node, nodes, pods, order, time, events } = rig();
    node('n1');
    pods.add({ node: 'n1', goesAfterMs: Infinity });
    order('i1', ['n1']);
    await time.advance(2000);
    nodes.put('n1', { spec: {} });
    await time.advance(5000);
    expect(events).toEqual(['n1 i1 Cordoned counted', 'n1 i1 Ended counted']);
  });

  test('does not count a Node that could not be cordoned until the deadline', async () => {
    const { node, order, time, intercept, events } = rig();
    node('n1');
    intercept(FAILS);
    order('i1', ['n1'], 60);
    await time.advance(61_000);
    intercept(() => Effect.succeed(undefined));
    await time.advance(60_000);
    expect(events).toEqual(['n1 i1 Ended not counted']);
  });
});

describe('a new list of Nodes', () => {
  test('DR-06: without a Node ends its drain, and leaves those of the others', async () => {
    const { node, nodes, pods, order, time, phases } = rig();
    for (const name of ['n1', 'n2']) {
      node(name);
      pods.add({ node: name, goesAfterMs: Infinity });
    }
    order('i1', ['n1', 'n2']);
    await time.advance(5000);
    nodes.lag();
    nodes.remove('n1');
    nodes.list();
    await time.advance(5000);
    expect([phases('n1'), phases('n2')]).toEqual([['Draining', 'Drained'], ['Draining']]);
  });

  test('DR-13: with the key of an instruction resumes its drain', async () => {
    const { keyed, nodes, time, drains } = rig();
    nodes.lag();
    keyed('reclaim');
    await time.advance(5000);
    expect([...drains().draining()]).toEqual([]);
    nodes.list();
    expect([...drains().draining()]).toEqual(['n1']);
  });
});

describe('a key of a maintenance', () => {
  const COVERED = {
    isReleased: true,
    isPlanned: () => true,
    isTargeted: () => true,
    graceSeconds: null,
  };

  test('begins a drain once the maintenance covers the Node', async () => {
    const maintained = new MaintainedNodes();
    const { keyed, pods, time, drains, log } = rig({ maintained });
    pods.add({ node: 'n1', name: 'a' });
    keyed(OWNER);
    drains().reconsider('n1', OWNER);
    await time.advance(5000);
    expect([drains().has('n1', OWNER), log]).toEqual([false, []]);
    maintained.set('n1', OWNER, COVERED);
    drains().reconsider('n1', OWNER);
    await time.advance(5000);
    expect(log).toContain('evict a');
  });

  test('begins none in a process that does not lead, or for a Node that is not there', () => {
    const maintained = new MaintainedNodes();
    maintained.set('n1', OWNER, COVERED);
    const { keyed, drains, setLeading } = rig({ maintained, leads: false });
    keyed(OWNER);
    drains().reconsider('n1', OWNER);
    drains().withdraw('n1', OWNER);
    expect([...drains().draining()]).toEqual([]);
    setLeading(true);
    drains().reconsider('n2', OWNER);
    expect([...drains().draining()]).not.toContain('n2');
  });
});
