/** What a drain of a maintenance is told about the pods of its Node. */
import { expect, test } from 'vitest';
import { maintenanceEntry } from '../../../src/actors/node-maintenance/node-maintenance-actor.ts';
import {
  MaintainedDrains,
  type MaintainedDrainsOptions,
} from '../../../src/actors/node-maintenance/maintained-drains.ts';
import { MaintainedNodes } from '../../../src/actors/node-drains/maintained-nodes.ts';
import type { NodeProjection } from '../../../src/domain/cluster-node.ts';
import { CORDON_PREFIX, printCordon } from '../../../src/domain/drain/cordon.ts';
import { maintenanceOf, nodeRaw } from '../../support/node-maintenance/maintenance-fixture.ts';
import { podOfType } from '../../support/node-maintenance/plan-runs.ts';
import { nodeOf } from '../../support/node-maintenance/registry-rig.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

const POD = podOfType('Default', { node: 'n1', priority: 50, labels: { app: 'web' } });

/** Of a cluster without Nodes, in which nothing drains. */
const OPTIONS: Omit<MaintainedDrainsOptions, 'maintained'> = {
  nodes: { get: () => undefined, values: () => [].values() },
  podsOn: () => [POD],
  drains: {
    order: () => {},
    release: () => {},
    withdraw: () => {},
    reconsider: () => {},
    has: () => false,
    get: () => undefined,
  },
  onUncordoned: () => {},
};

/** A Node in a stage, with these targets in the status; nothing drains it yet. */
const covered = (
  { stage, targets, spec = {} }: {
    readonly stage: 'Cordon' | 'Drain';
    readonly targets: readonly object[];
    readonly spec?: object;
  },
) => {
  const maintained = new MaintainedNodes();
  const maintenance = maintenanceOf('1', {
    name: 'kernel',
    uid: 'uid-kernel',
    stage,
    isProtected: true,
    spec,
    nodes: targets.length === 0 ? [] : [nodeRaw('n1', { drainTargets: targets })],
  });
  const entry = { ...maintenanceEntry(maintenance), mode: stage };
  new MaintainedDrains(simulatedTime(), { ...OPTIONS, maintained }).cover(
    entry,
    [nodeOf('n1')],
    new Set(),
  );
  const { isPlanned, isTargeted, ...more } = maintained.of('n1', entry.owner);
  return { ...more, isPlanned: isPlanned(POD), isTargeted: isTargeted(POD) };
};

test('a drain whose targets are not stored waits with its pods, and does not end', () => {
  expect(covered({ stage: 'Drain', targets: [] }))
    .toEqual({
      isReleased: false,
      isPlanned: true,
      isTargeted: false,
      graceSeconds: null,
      drainSinceMs: 0,
    });
});

test('NM-39: pods leave by the targets that are stored', () => {
  expect(covered({ stage: 'Drain', targets: [{ podType: 'Default', podPriority: 100 }] }))
    .toEqual({
      isReleased: true,
      isPlanned: true,
      isTargeted: true,
      graceSeconds: null,
      drainSinceMs: 0,
    });
});

test('a maintenance that only cordons has no pods to wait for', () => {
  expect(covered({ stage: 'Cordon', targets: [] }))
    .toEqual({
      isReleased: false,
      isPlanned: false,
      isTargeted: false,
      graceSeconds: null,
      drainSinceMs: 0,
    });
});

test('NM-41: pods of other labels stay, whatever the targets of the node are', () => {
  const podSelector = { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['web'] }] };
  const targets = [{ podType: 'Default', podPriority: 100 }];
  expect(covered({ stage: 'Drain', targets, spec: { podSelector } }))
    .toMatchObject({ isReleased: true, isPlanned: false });
});

test('DR-23: its evictions have the grace of the maintenance', () => {
  expect(covered({ stage: 'Drain', targets: [], spec: { gracePeriodSeconds: 20 } }))
    .toMatchObject({ graceSeconds: 20 });
});

test('nothing is kept of a Node that was deleted, once its drain is over', () => {
  const maintained = new MaintainedNodes();
  const present = new Map([nodeOf('n1'), nodeOf('n2')].map((node) => [node.key, node]));
  const draining = new Set<string>();
  const drains = new MaintainedDrains(simulatedTime(), {
    ...OPTIONS,
    nodes: { get: (key) => present.get(key), values: () => present.values() },
    drains: { ...OPTIONS.drains, has: (node) => draining.has(node) },
    maintained,
  });
  const maintenance = maintenanceOf('1', { name: 'kernel', uid: 'uid-kernel', stage: 'Cordon' });
  const entry = { ...maintenanceEntry(maintenance), mode: 'Cordon' } as const;
  const review = (): void => {
    drains.cover(entry, [...present.values()], new Set());
    drains.releaseOrphans(new Set([entry.owner]));
  };
  const kept = () => ({
    listed: maintained.listed().map(({ node }) => node),
    orders: [...entry.orders.keys()],
    targets: [...entry.sentTargets.keys()],
    cordoned: [...entry.cordoned],
  });
  entry.cordoned.add('n1');
  review();
  const all = ['n1', 'n2'];
  expect(kept()).toMatchObject({ listed: all, orders: all, targets: all });
  draining.add('n1');
  present.delete(nodeOf('n1').key);
  review();
  expect(kept()).toMatchObject({ listed: all, orders: ['n2'], targets: ['n2'] });
  draining.clear();
  review();
  expect(kept()).toEqual({ listed: ['n2'], orders: ['n2'], targets: ['n2'], cordoned: [] });
});

/** The maintenance gave the node back, and covers it again: nobody else had uncordoned it. */
test('NM-14: a node that its maintenance releases is made schedulable by nobody else', () => {
  const uncordoned: string[] = [];
  const maintenance = maintenanceOf('1', { name: 'kernel', uid: 'uid-kernel', stage: 'Cordon' });
  const entry = { ...maintenanceEntry(maintenance), mode: 'Cordon' } as const;
  const drains = new MaintainedDrains(simulatedTime(), {
    ...OPTIONS,
    nodes: { get: () => nodeOf('n1'), values: () => [nodeOf('n1')].values() },
    maintained: new MaintainedNodes(),
    onUncordoned: (_, node) => void uncordoned.push(node),
  });
  const key = printCordon({
    ids: ['i'],
    deadlineMs: null,
    graceSeconds: 0,
    sinceMs: 0,
    ended: 'Drained',
  });
  const cordoned = nodeOf('n1', { [`${CORDON_PREFIX}${entry.owner}`]: key });
  const cover = (...nodes: readonly NodeProjection[]): void =>
    drains.cover(entry, nodes, new Set());
  cover(cordoned);
  cover();
  cover(nodeOf('n1'));
  expect(uncordoned).toEqual([]);
  cover(cordoned);
  cover({ ...cordoned, unschedulable: false });
  expect(uncordoned, 'by somebody else').toEqual(['n1']);
});
