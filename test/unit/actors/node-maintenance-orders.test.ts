/** What is asked of the drains of a maintenance, by what its Nodes show. */
import { expect, test } from 'vitest';
import {
  type MaintenanceEntry,
  maintenanceEntry,
} from '../../../src/actors/node-maintenance/node-maintenance-actor.ts';
import { MaintainedDrains } from '../../../src/actors/node-maintenance/maintained-drains.ts';
import { MaintainedNodes } from '../../../src/actors/node-drains/maintained-nodes.ts';
import type { DrainPod } from '../../../src/domain/drain/pod.ts';
import {
  CORDON_PREFIX,
  type CordonEnd,
  maintenanceOwner,
  printCordon,
} from '../../../src/domain/drain/cordon.ts';
import { maintenanceOf, nodeRaw } from '../../support/node-maintenance/maintenance-fixture.ts';
import { podOfType } from '../../support/node-maintenance/plan-runs.ts';
import { nodeOf } from '../../support/node-maintenance/registry-rig.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

const OWNER = maintenanceOwner('uid-kernel');
const TARGETS = [{ podType: 'Default', podPriority: 100 }];
const POD = podOfType('Default', { node: 'n1', priority: 50 });

/** A Node with the key of an owner, the maintenance unless it is said. */
const held = (
  name: string,
  { ended = null, owner = OWNER, sinceMs = 0 }: {
    readonly ended?: CordonEnd | null;
    readonly owner?: string;
    readonly sinceMs?: number;
  } = {},
) => {
  const key = printCordon({ ids: ['first'], deadlineMs: null, graceSeconds: 0, sinceMs, ended });
  return nodeOf(name, { [`${CORDON_PREFIX}${owner}`]: key });
};

type Node = ReturnType<typeof nodeOf>;

/** The maintenance in a stage, with these targets for each Node that its status has. */
const entryOf = (
  mode: 'Cordon' | 'Drain',
  { targets = [], states = { n1: 'Admitted' } }: {
    readonly targets?: readonly object[];
    readonly states?: Readonly<Record<string, string>>;
  } = {},
): MaintenanceEntry => ({
  ...maintenanceEntry(maintenanceOf('1', {
    stage: mode,
    isProtected: true,
    nodes: Object.entries(states)
      .map(([name, state]) => nodeRaw(name, { state, drainTargets: targets })),
  })),
  mode,
});

/** The Nodes of a cluster, and those of them that have a drain under way. */
const rig = (nodes: readonly Node[], running: readonly string[] = []) => {
  const time = simulatedTime();
  const maintained = new MaintainedNodes();
  const current = new Map(nodes.map((node) => [node.key, node]));
  const pods: DrainPod[] = [];
  const calls: string[] = [];
  const drains = new MaintainedDrains(time, {
    nodes: { get: (key) => current.get(key), values: () => current.values() },
    podsOn: () => pods,
    drains: {
      order: ({ name }) => void calls.push(`order ${name}`),
      release: (node, _, id) => void calls.push(`release ${node} ${id.replace(/@.*/u, '')}`),
      withdraw: (node, owner) => void calls.push(`withdraw ${node} ${owner}`),
      reconsider: (node) => void calls.push(`reconsider ${node}`),
      has: (node) => running.includes(node),
      get: () => undefined,
    },
    maintained,
    onUncordoned: (_, node) => void calls.push(`uncordoned ${node}`),
  });
  return {
    time,
    maintained,
    pods,
    drains,
    /** What was asked since the last time. */
    calls: () => calls.splice(0),
    cover: (entry: MaintenanceEntry, selected: readonly Node[] = nodes, done: string[] = []) =>
      drains.cover(entry, selected, new Set(done)),
  };
};

test('NM-13: a Node that is not cordoned for the maintenance is ordered', () => {
  for (const node of [nodeOf('n1'), held('n1', { owner: 'person' })]) {
    const { cover, calls } = rig([node]);
    cover(entryOf('Cordon'));
    expect(calls()).toEqual(['order n1']);
  }
  const { cover, calls } = rig([held('n1', { ended: 'Cancelled' })]);
  cover(entryOf('Cordon'));
  expect(calls(), 'a cancelled drain holds nothing').toEqual(['order n1']);
});

test('NM-13: a Node that is done is left alone', () => {
  const { cover, calls } = rig([nodeOf('n1')]);
  cover(entryOf('Cordon'), [nodeOf('n1')], ['n1']);
  expect(calls()).toEqual([]);
});

test('the pods of an ordered drain leave once their targets are stored', () => {
  const { cover, calls } = rig([nodeOf('n1')]);
  const entry = entryOf('Drain', { targets: TARGETS });
  cover(entry);
  expect(calls()).toEqual(['order n1', 'release n1 kernel']);
});

test('a drain under way is released by each of its orders, and reconsidered for new targets', () => {
  const { cover, calls } = rig([held('n1')], ['n1']);
  const entry = entryOf('Drain');
  cover(entry);
  expect(calls(), 'no targets yet').toEqual([]);
  const { maintenance } = entryOf('Drain', { targets: TARGETS });
  entry.maintenance = maintenance;
  entry.orders.set('n1', 'second');
  cover(entry);
  expect(calls()).toEqual(['release n1 first', 'release n1 second', 'reconsider n1']);
  cover(entry);
  expect(calls(), 'the same targets').toEqual(['release n1 first', 'release n1 second']);
});

test('the drain of an earlier process is taken up, and not ordered again', () => {
  const { cover, calls } = rig([held('n1')]);
  cover(entryOf('Drain', { targets: TARGETS }));
  expect(calls()).toEqual(['reconsider n1']);
});

test('a drain that has ended is ordered again only for pods that must leave', () => {
  const { cover, calls, pods } = rig([held('n1', { ended: 'Drained' })]);
  cover(entryOf('Drain', { targets: TARGETS }));
  expect(calls(), 'no pods').toEqual([]);
  pods.push(POD);
  cover(entryOf('Drain'));
  expect(calls(), 'no targets').toEqual([]);
  cover(entryOf('Drain', { targets: TARGETS }));
  expect(calls()).toEqual(['order n1', 'release n1 first', 'release n1 kernel']);
});

test('NM-53: a drain that failed is ordered again after a minute, not before', async () => {
  const { time } = rig([]);
  const made = rig([held('n1', { ended: 'Failed', sinceMs: time.now() })]);
  made.pods.push(POD);
  const entry = entryOf('Drain', { targets: TARGETS });
  await made.time.advance(59_999);
  made.cover(entry);
  expect(made.calls()).toEqual([]);
  await made.time.advance(1);
  made.cover(entry);
  expect(made.calls()).toContain('order n1');
});

test('NM-15: a Node that is no longer selected is released, and others are left alone', () => {
  const nodes = [held('n1'), held('n2'), nodeOf('n3'), held('n4', { owner: 'maintenance-other' })];
  const { cover, calls, drains, maintained } = rig([...nodes, nodeOf('n5')], ['n5']);
  for (const name of ['n2', 'n3']) {
    maintained.set(name, OWNER, {
      isReleased: true,
      isPlanned: () => true,
      isTargeted: () => true,
      graceSeconds: null,
    });
  }
  cover(entryOf('Cordon'), nodes.slice(0, 1));
  expect(calls()).toEqual(['reconsider n1', `withdraw n2 ${OWNER}`, `withdraw n5 ${OWNER}`]);
  expect([maintained.of('n2', OWNER).isReleased, maintained.of('n3', OWNER).isReleased])
    .toEqual([false, true]);
  drains.release(OWNER);
  expect(calls()).toEqual(['n1', 'n2', 'n5'].map((name) => `withdraw ${name} ${OWNER}`));
});

test('NM-14: each uncordon of a Node is reported once', () => {
  const entry = entryOf('Cordon');
  const { cover, calls } = rig([]);
  const show = (node: Node): readonly string[] => {
    cover(entry, [node]);
    return calls().filter((call) => call.startsWith('uncordoned'));
  };
  expect(show(nodeOf('n1')), 'it was never cordoned').toEqual([]);
  expect(show(held('n1'))).toEqual([]);
  expect(show(nodeOf('n1'))).toEqual(['uncordoned n1']);
  expect(show(nodeOf('n1'))).toEqual([]);
});

test('NM-09: a maintenance is released when no Node has its key and no drain of it goes on', () => {
  const isReleased = (nodes: readonly Node[], running: readonly string[] = []): boolean =>
    rig(nodes, running).drains.isReleased(OWNER);
  expect(isReleased([nodeOf('n1'), held('n2')])).toBe(false);
  expect(isReleased([nodeOf('n1'), held('n2', { ended: 'Drained' })])).toBe(false);
  expect(isReleased([nodeOf('n1')], ['n1'])).toBe(false);
  expect(isReleased([nodeOf('n1'), held('n2', { owner: 'reclaim' })])).toBe(true);
  expect(isReleased([])).toBe(true);
});

test('a Node is cordoned, or only held, for a maintenance by its key', () => {
  const { maintenance } = entryOf('Cordon');
  const shows = (node: Node, running: readonly string[] = []) => {
    const { drains } = rig([node], running);
    return {
      cordoned: drains.isCordoned('n1', maintenance),
      held: drains.isHeld('n1', maintenance),
    };
  };
  expect(shows(held('n1'))).toEqual({ cordoned: true, held: true });
  expect(shows({ ...held('n1'), unschedulable: false })).toEqual({ cordoned: false, held: true });
  expect(shows(nodeOf('n1'), ['n1'])).toEqual({ cordoned: false, held: true });
  expect(shows(nodeOf('n1'))).toEqual({ cordoned: false, held: false });
  expect(shows(nodeOf('n2'), ['n1']), 'a Node that does not exist')
    .toEqual({ cordoned: false, held: false });
});

test('an unreadable key is left alone: its Node counts as cordoned', () => {
  const { cover, calls, drains } = rig([nodeOf('n1', { [`${CORDON_PREFIX}${OWNER}`]: '{"v":9}' })]);
  const entry = entryOf('Cordon');
  expect(drains.isCordoned('n1', entry.maintenance)).toBe(true);
  expect(drains.isHeld('n1', entry.maintenance)).toBe(true);
  cover(entry);
  expect(calls()).toEqual([]);
});

test('NM-53: the refused Node is the first whose drain failed and which is admitted', () => {
  const failed = [held('n1'), held('n2', { ended: 'Failed' }), held('n3', { ended: 'Failed' })];
  const { drains } = rig(failed);
  const refused = (mode: 'Cordon' | 'Drain', states: Readonly<Record<string, string>>): string =>
    drains.refusedNode(entryOf(mode, { states }), failed);
  expect(refused('Drain', { n1: 'Admitted', n2: 'Admitted', n3: 'Admitted' })).toBe('n2');
  expect(refused('Drain', { n1: 'Admitted', n2: 'Waiting', n3: 'Admitted' })).toBe('n3');
  expect(refused('Drain', { n1: 'Admitted', n2: 'Waiting' })).toBe('');
  expect(refused('Cordon', { n1: 'Admitted', n2: 'Admitted' })).toBe('');
});

test('NM-42: a Node moves while its key does not match what the maintenance holds', () => {
  const nodes = [nodeOf('n1'), held('n2'), nodeOf('n3'), held('n4')];
  const states = { n1: 'Admitted', n2: 'Admitted', n3: 'Waiting', n4: 'Waiting' };
  const { drains } = rig(nodes);
  const entry = entryOf('Drain', { states });
  const names = () => drains.moving(entry, nodes).map(({ name }) => name);
  expect(names()).toEqual(['n1', 'n4']);
  entry.mode = 'Release';
  expect(names()).toEqual(['n2', 'n4']);
});
