/** The drains of a process as their owners use them: orders, releases, withdrawals and terms. */
import { expect, onTestFinished, test } from 'vitest';
import type { DrainOrder } from '../../../src/actors/node-drains/drain-index.ts';
import { MaintainedNodes } from '../../../src/actors/node-drains/maintained-nodes.ts';
import { annotationOf, CORDON_PREFIX, printCordon } from '../../../src/domain/drain/cordon.ts';
import type { CordonEnd, DrainOwner } from '../../../src/domain/drain/cordon.ts';
import { drainRig, type DrainRigOptions } from '../../support/drains/drain-rig.ts';

const OWNER = 'maintenance-0123456789ab';
const OTHER = 'maintenance-ba9876543210';

/** A promise that the test resolves; `calls` says how often it was asked for. */
const gate = () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const calls: number[] = [];
  const wait = (): Promise<void> => {
    calls.push(calls.length);
    return promise;
  };
  return { wait, resolve, calls };
};

const rig = (options: DrainRigOptions = {}) => {
  const made = drainRig(options);
  onTestFinished(made.stop);
  return {
    ...made,
    /** The owner drains the node, without a deadline. */
    begin: (owner: DrainOwner, order: Partial<DrainOrder> = {}) => {
      const node = made.nodes.known('n1');
      if (node === undefined) throw new Error('There is no Node');
      const sinceMs = made.time.now();
      const terms = { deadlineMs: null, graceSeconds: 0, sinceMs, machineId: '' };
      made.drains().order(node, { owner, id: owner, ...terms, ...order });
    },
    /** A Node with a key of the owner. */
    keyed: (owner: DrainOwner, ended: CordonEnd | null = null) => {
      const sinceMs = made.time.now();
      const key = printCordon({ ids: [owner], deadlineMs: null, graceSeconds: 0, sinceMs, ended });
      made.node('n1', {
        metadata: {
          name: 'n1',
          uid: 'uid-n1',
          annotations: { [`${CORDON_PREFIX}${owner}`]: key },
        },
        spec: { unschedulable: true },
      });
    },
    /** Its end; `null` without one, `undefined` without the key. */
    endOf: (owner: DrainOwner) => {
      const node = made.nodes.known('n1');
      return node && annotationOf(node, owner)?.ended;
    },
  };
};

test('DR-15: an order begins nothing in a process that does not lead', async () => {
  const { node, begin, time, drains, log } = rig({ leads: false });
  node('n1');
  begin(OWNER);
  await time.advance(10_000);
  expect([[...drains().draining()], drains().has('n1', OWNER), log]).toEqual([[], false, []]);
});

test('DR-11: a drain evicts when an instruction that it has joined releases it', async () => {
  const { node, begin, pods, time, log, drains } = rig();
  node('n1');
  pods.add({ node: 'n1', name: 'a' });
  drains().release('n1', OWNER, OWNER);
  begin(OWNER);
  drains().release('n1', OWNER, 'another');
  await time.advance(5000);
  expect(log).not.toContain('evict a');
  drains().release('n1', OTHER, OWNER);
  await time.advance(5000);
  expect(log).not.toContain('evict a');
  drains().release('n1', OWNER, OWNER);
  await time.advance(5000);
  expect(log).toContain('evict a');
});

test('DR-01: a Node has drains until the last of its owners leaves', async () => {
  const { node, begin, pods, time, drains } = rig();
  node('n1');
  pods.add({ node: 'n1', name: 'a', goesAfterMs: Infinity });
  for (const owner of [OWNER, OTHER] as const) {
    begin(owner);
    drains().release('n1', owner, owner);
  }
  await time.advance(2000);
  drains().withdraw('n1', OWNER);
  await time.advance(2000);
  expect([drains().has('n1', OWNER), drains().has('n1', OTHER)]).toEqual([false, true]);
  expect([...drains().draining()]).toEqual(['n1']);
  expect([drains().staying('n1', OWNER), drains().staying('n1', OTHER)]).toEqual([undefined, []]);
  drains().withdraw('n1', OTHER);
  await time.advance(2000);
  expect([...drains().draining()]).toEqual([]);
});

test('DR-04: an owner that left before this process leads leaves its Node then', async () => {
  const { keyed, time, drains, endOf, setLeading, log } = rig({ leads: false });
  keyed(OWNER, 'Drained');
  drains().withdraw('n1', OWNER);
  await time.advance(5000);
  expect([endOf(OWNER), log]).toEqual(['Drained', []]);
  setLeading(true);
  await time.advance(5000);
  expect(endOf(OWNER)).toBeUndefined();
});

test('DR-04: an owner that left in an earlier term is not known to the next', async () => {
  const { keyed, time, drains, endOf, setLeading } = rig({ leads: false });
  keyed(OWNER, 'Drained');
  drains().withdraw('n1', OWNER);
  setLeading(false);
  setLeading(true);
  await time.advance(5000);
  expect(endOf(OWNER)).toBe('Drained');
});

test('DR-04: an owner that left without a Node and comes again keeps the end of its drain', async () => {
  const { node, nodes, begin, time, drains, endOf } = rig();
  drains().withdraw('n1', OWNER);
  node('n1');
  begin(OWNER);
  drains().release('n1', OWNER, OWNER);
  await time.advance(5000);
  nodes.put('n1', {});
  await time.advance(5000);
  expect(endOf(OWNER)).toBe('Drained');
});

test('a key of a maintenance begins a drain when the maintenance is known, and reconsiders', async () => {
  const maintained = new MaintainedNodes();
  const { keyed, pods, time, drains, log, setLeading } = rig({ maintained, leads: false });
  const scope = { isReleased: true, isPlanned: () => true, graceSeconds: null };
  keyed(OWNER);
  pods.add({ node: 'n1', name: 'a' });
  drains().reconsider('n2', OWNER);
  setLeading(true);
  await time.advance(5000);
  expect(drains().has('n1', OWNER)).toBe(false);
  maintained.set('n1', OWNER, { ...scope, isTargeted: () => false });
  drains().reconsider('n1', OWNER);
  expect(drains().has('n1', OWNER)).toBe(true);
  await time.advance(5000);
  expect(log).not.toContain('evict a');
  maintained.set('n1', OWNER, { ...scope, isTargeted: () => true });
  drains().reconsider('n1', OWNER);
  await time.advance(5000);
  expect(log).toContain('evict a');
  setLeading(false);
  drains().reconsider('n1', OWNER);
  expect(drains().has('n1', OWNER)).toBe(false);
});

test('a maintenance that only cordons lets its resumed drain evict nothing', async () => {
  const maintained = new MaintainedNodes();
  const { keyed, pods, time, drains, log } = rig({ maintained });
  maintained.set('n1', OWNER, {
    isReleased: false,
    isPlanned: () => true,
    isTargeted: () => true,
    graceSeconds: null,
  });
  pods.add({ node: 'n1', name: 'a' });
  keyed(OWNER);
  await time.advance(5000);
  expect([drains().has('n1', OWNER), log]).toEqual([true, []]);
  drains().release('n1', OWNER, OWNER);
  await time.advance(5000);
  expect(log).toContain('evict a');
});

test('DR-13: a term begins once, and resumes nothing when it is over before the Nodes are current', async () => {
  const nodes = gate();
  const { keyed, pods, time, drains, setLeading } = rig({
    leads: false,
    whenNodesCurrent: nodes.wait,
  });
  pods.add({ node: 'n1', name: 'a', goesAfterMs: Infinity });
  keyed('reclaim');
  setLeading(true);
  setLeading(true);
  expect(nodes.calls).toHaveLength(1);
  setLeading(false);
  nodes.resolve();
  await time.advance(5000);
  expect([...drains().draining()]).toEqual([]);
  setLeading(true);
  await time.advance(1000);
  expect(nodes.calls).toHaveLength(2);
  expect([...drains().draining()]).toEqual(['n1']);
});

test('DR-50: a new leader ends the condition of a drain whose end the one before did not show', async () => {
  const { node, time, conditions, setLeading } = rig({ leads: false });
  const sinceMs = time.now();
  const shows = (name: string, ended: CordonEnd | null | undefined, status = 'True') => {
    const cordon = { ids: ['i1'], deadlineMs: sinceMs + 600_000, graceSeconds: 600, sinceMs };
    const key = ended === undefined ? {} : {
      annotations: { [`${CORDON_PREFIX}reclaim`]: printCordon({ ...cordon, ended }) },
    };
    node(name, {
      metadata: { name, uid: `uid-${name}`, ...key },
      spec: { unschedulable: true },
      status: {
        conditions: [{ type: 'tidegate.dev/Draining', status, reason: 'BlockedByBudget' }],
      },
    });
  };
  shows('drained', 'Drained');
  shows('failed', 'Failed');
  shows('uncordoned', undefined);
  shows('ended', 'Drained', 'False');
  shows('drains', null);
  setLeading(true);
  await time.settle();
  expect(
    conditions.filter((one) => one.node !== 'drains').map((
      one,
    ) => [one.node, one.status, one.reason]),
  ).toEqual([
    ['drained', 'False', 'DrainFinished'],
    ['failed', 'False', 'DeadlinePassed'],
    ['uncordoned', 'False', 'DrainCancelled'],
  ]);
});

test('DR-13: pods are read for drains only, and not for one that is over when they are', async () => {
  const current = gate();
  const { node, begin, pods, time, drains, setLeading } = rig({ whenPodsCurrent: current.wait });
  node('n1');
  pods.add({ node: 'n1', name: 'a' });
  await time.advance(1000);
  expect(current.calls).toHaveLength(0);
  begin(OWNER);
  pods.add({ node: 'n1', name: 'b' });
  await time.advance(1000);
  expect(current.calls).toHaveLength(1);
  setLeading(false);
  current.resolve();
  await time.advance(1000);
  expect([...drains().draining()]).toEqual([]);
});

test('DR-13: a list of the Nodes begins and ends drains like a watch', async () => {
  const { node, nodes, keyed, pods, time, drains, phases } = rig();
  pods.add({ node: 'n1', name: 'a', goesAfterMs: Infinity });
  node('n2');
  nodes.lag();
  keyed('reclaim');
  await time.advance(1000);
  expect([...drains().draining()]).toEqual([]);
  nodes.list();
  await time.advance(1000);
  expect([...drains().draining()]).toEqual(['n1']);
  nodes.remove('n1');
  await time.advance(1000);
  expect([...drains().draining()]).toEqual(['n1']);
  nodes.list();
  await time.advance(1000);
  expect([[...drains().draining()], phases('n1')]).toEqual([[], ['Draining', 'Drained']]);
});

test('DR-03: an instruction that is on the Node already is counted at once', async () => {
  const { node, begin, pods, time, drains } = rig();
  node('n1');
  pods.add({ node: 'n1', name: 'a', goesAfterMs: Infinity });
  const seen: string[] = [];
  drains().events.subscribe(({ id, phase, counted }) => seen.push(`${id} ${phase} ${counted}`));
  begin('reclaim', { id: 'i1' });
  expect(seen).toEqual([]);
  await time.advance(2000);
  expect(seen).toEqual(['i1 Cordoned true']);
  begin('reclaim', { id: 'i1' });
  expect(seen).toEqual(['i1 Cordoned true', 'i1 Cordoned true']);
  begin('reclaim', { id: 'i2' });
  expect(seen).toHaveLength(2);
  await time.advance(2000);
  expect(seen.slice(2)).toEqual(['i2 Cordoned true']);
});

test('DR-10: a drain shows on the first machine that an instruction names for it', async () => {
  const { node, begin, pods, time, drains, reported } = rig();
  node('n1');
  pods.add({ node: 'n1', name: 'a', goesAfterMs: 5000 });
  begin('reclaim', { id: 'i1', machineId: '' });
  begin('reclaim', { id: 'i2', machineId: 'm-2' });
  begin('reclaim', { id: 'i3', machineId: 'm-3' });
  drains().release('n1', 'reclaim', 'i1');
  await time.advance(20_000);
  expect(reported.map(({ machine, fact }) => `${machine} ${fact._tag}`))
    .toEqual(['m-2 Draining', 'm-2 Drained']);
});

test.each(['removed', 'replaced'] as const)(
  'DR-06: an instruction whose Node is %s while its drain restarts is counted',
  async (how) => {
    const { node, nodes, pods, order, time, crashOn, replies, reclaims, drains } = rig();
    node('n1');
    pods.add({ node: 'n1', name: 'a', goesAfterMs: Infinity });
    crashOn('DrainStarted');
    order('i1', ['n1']);
    while (nodes.known('n1')?.unschedulable !== true) await time.advance(10);
    await time.advance(20);
    if (how === 'removed') nodes.remove('n1');
    else nodes.put('n1', { metadata: { name: 'n1', uid: 'uid-of-the-next' }, spec: {} });
    await time.advance(60_000);
    expect(replies).toEqual([{ id: 'i1', nodesStarted: 1 }]);
    expect([...reclaims().actors()]).toEqual([]);
    expect([...drains().draining()]).toEqual([]);
  },
);

test('a Node of a drain that stops begins no other drain', async () => {
  const { node, nodes, begin, time, drains, log, stop } = rig();
  node('n1');
  const stopping = stop();
  await time.advance(1000);
  await stopping;
  begin(OWNER);
  nodes.put('n1', {});
  await time.advance(5000);
  expect([[...drains().draining()], log]).toEqual([[], []]);
});
