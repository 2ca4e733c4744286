/** Which lifecycle conditions a Node shows of its maintenances. */
import { expect, test } from 'vitest';
import {
  type CordonEnd,
  maintenanceOwner,
  printCordon,
} from '../../../../src/domain/drain/cordon.ts';
import { effectivePlan } from '../../../../src/domain/node-maintenance/drain-plan.ts';
import {
  advertisedConditions,
  conditionChanges,
  nodeConditionsOf,
  nodeConditionsPatch,
} from '../../../../src/domain/node-maintenance/node-conditions.ts';
import {
  maintenanceOf,
  type MaintenanceTraits,
  nodeRaw,
  NOW_MS,
} from '../../../support/node-maintenance/maintenance-fixture.ts';

const OVER = effectivePlan([], ['Default', 'DaemonSet', 'Static']).length;

const NODES = ['a', 'b'].map((name) => ({ name, cordons: {} }));

const typesWith = (begins: boolean, all: readonly MaintenanceTraits[]): readonly string[] =>
  Object.keys(
    advertisedConditions(
      all.map((traits, index) => ({
        maintenance: maintenanceOf('1', { name: `m${index}`, uid: `uid-${index}`, ...traits }),
        begins,
        nodes: NODES,
      })),
    ).get('a') ?? {},
  ).toSorted();

/** The types that Node `a` shows of these maintenances, whose Nodes may begin. */
const typesOf = (...all: readonly MaintenanceTraits[]): readonly string[] => typesWith(true, all);

const drainTargets = [{ podType: 'Default', podPriority: 5000 }];
const nodes = [nodeRaw('a', { drainTargets }), nodeRaw('b', { podsEvacuating: 1 })];
const IDLE: MaintenanceTraits = {};
const CORDON: MaintenanceTraits = { stage: 'Cordon', nodes };
const DRAINING: MaintenanceTraits = { stage: 'Drain', nodes };
const DRAINED: MaintenanceTraits = { stage: 'Drain', nodes, entriesDone: OVER };

test('NM-42: each stage has its conditions', () => {
  expect(typesOf()).toEqual([]);
  expect(typesOf(IDLE)).toEqual(['MaintenancePlanned']);
  expect(typesOf(CORDON)).toEqual(['MaintenanceInProgress']);
  expect(typesOf(DRAINING)).toEqual(['DrainInProgress', 'MaintenanceInProgress']);
  expect(typesOf(DRAINED)).toEqual(['Drained', 'MaintenanceInProgress']);
  expect(typesOf({ stage: 'Complete', nodes })).toEqual([]);
});

test('NM-42: a Node with pods left is not drained, however far the plan is', () => {
  const busy = [nodeRaw('a', { drainTargets, podsPendingEvacuation: 1 })];
  expect(typesOf({ stage: 'Drain', nodes: busy, entriesDone: OVER }))
    .toEqual(['DrainInProgress', 'MaintenanceInProgress']);
});

test('NM-42: a Node is not drained while its drain goes on, and is when it has ended', () => {
  const typesAt = (ended: CordonEnd | null) => {
    const key = printCordon({ ids: ['m@1'], deadlineMs: null, graceSeconds: 0, sinceMs: 0, ended });
    const maintenance = maintenanceOf('1', { uid: 'uid-m', ...DRAINED });
    const held = [{ name: 'a', cordons: { [maintenanceOwner('uid-m')]: key } }];
    const conditions = advertisedConditions([{ maintenance, begins: true, nodes: held }]);
    return Object.keys(conditions.get('a') ?? {}).toSorted();
  };
  expect(typesAt(null)).toEqual(['DrainInProgress', 'MaintenanceInProgress']);
  expect(typesAt('Drained')).toEqual(['Drained', 'MaintenanceInProgress']);
  expect(typesAt('Failed'), 'its pods left later').toEqual(['Drained', 'MaintenanceInProgress']);
});

test('NM-42: a Node that waits for its turn is planned, and one that had it shows nothing', () => {
  const state = (name: string) => [nodeRaw('a', { state: name, wave: 0 })];
  expect(typesOf({ stage: 'Drain', nodes: state('Waiting') })).toEqual(['MaintenancePlanned']);
  expect(typesOf({ stage: 'Drain', nodes: [] })).toEqual(['MaintenancePlanned']);
  expect(typesOf({ stage: 'Drain', nodes: state('Released') })).toEqual([]);
  const held = { stage: 'Drain', nodes: state('Released'), spec: { releaseWhen: 'Drained' } };
  expect(typesOf({ ...held, stage: 'Drain' })).toEqual(['Drained', 'MaintenanceInProgress']);
});

test('NM-42: a Node is not drained yet while it has no targets', () => {
  const early = [nodeRaw('a', { podsPendingEvacuation: 1 })];
  const maintenance = { stage: 'Drain', nodes: early } as const;
  expect(typesWith(false, [maintenance])).toEqual(['MaintenanceInProgress']);
  expect(typesOf(maintenance), 'and its drain begins when it may')
    .toEqual(['DrainInProgress', 'MaintenanceInProgress']);
});

test('NM-42: a deleted maintenance is over on its Nodes', () => {
  expect(typesOf({ ...IDLE, isDeleting: true })).toEqual([]);
  expect(typesOf({ ...DRAINING, isDeleting: true, isProtected: true })).toEqual([]);
});

test('NM-42: a Node shows the union of its maintenances', () => {
  expect(typesOf(IDLE, CORDON)).toEqual(['MaintenanceInProgress', 'MaintenancePlanned']);
  expect(typesOf(DRAINED, DRAINING)).toEqual(['DrainInProgress', 'MaintenanceInProgress']);
  expect(typesOf(DRAINED, CORDON)).toEqual(['Drained', 'MaintenanceInProgress']);
});

test('NM-42: a message names the maintenances', () => {
  const all = ['c', 'a', 'b'].map((name) => ({
    maintenance: maintenanceOf('1', { name, uid: name }),
    begins: true,
    nodes: NODES,
  }));
  expect(advertisedConditions(all).get('b')).toEqual({
    MaintenancePlanned: 'NodeMaintenances a, b, c',
  });
  expect(advertisedConditions(all.slice(0, 1)).get('b')).toEqual({
    MaintenancePlanned: 'NodeMaintenance c',
  });
});

const condition = (type: string, reason: string, status = 'True') => ({
  type,
  status,
  reason,
  message: 'm',
});

const node = (...conditions: readonly object[]) => nodeConditionsOf({ status: { conditions } });

test('NM-42: a Node that shows what it should is not written', () => {
  const planned = node(condition('MaintenancePlanned', 'NodeMaintenance'));
  expect(conditionChanges(planned, { MaintenancePlanned: 'm' })).toBeUndefined();
  expect(conditionChanges(node(condition('Ready', 'KubeletReady')))).toBeUndefined();
  expect(conditionChanges(planned)).toEqual({ MaintenancePlanned: null });
  expect(conditionChanges(planned, { MaintenancePlanned: 'n' })).toEqual({
    MaintenancePlanned: 'n',
  });
});

test('NM-42: the conditions of others are neither removed nor written over', () => {
  const drained = node(condition('Drained', 'DrainCompleted'));
  expect(conditionChanges(drained)).toBeUndefined();
  expect(conditionChanges(drained, { Drained: 'm' })).toBeUndefined();
  const isNot = node(condition('Drained', 'AdminRequested', 'False'));
  expect(conditionChanges(isNot)).toBeUndefined();
  expect(conditionChanges(isNot, { Drained: 'm' })).toEqual({ Drained: 'm' });
});

test('NM-42: one patch has all changes of a Node, merged by type', () => {
  const { ours } = node(
    condition('MaintenancePlanned', 'NodeMaintenance'),
    condition('MaintenanceInProgress', 'NodeMaintenance'),
  );
  const changes = { DrainInProgress: 'd', MaintenanceInProgress: 'p', MaintenancePlanned: null };
  const reason = 'NodeMaintenance';
  expect(nodeConditionsPatch({ uid: 'u', ours }, changes, NOW_MS)).toEqual({
    metadata: { uid: 'u' },
    status: {
      conditions: [
        {
          type: 'DrainInProgress',
          status: 'True',
          reason,
          message: 'd',
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
        { type: 'MaintenanceInProgress', status: 'True', reason, message: 'p' },
        { $patch: 'delete', type: 'MaintenancePlanned' },
      ],
    },
  });
});
