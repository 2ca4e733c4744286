/** Explanations of NodeMaintenances, and what nodes and trees show of them. */
import { expect, test } from 'vitest';
import { REASONS } from '../../../src/api/reasons.ts';
import type { Reason } from '../../../src/domain/reason.ts';
import { explainMaintenance } from '../../../src/view/explain-maintenance.ts';
import { nodeTree } from '../../../src/view/object-tree.ts';
import {
  conditionRaw,
  maintenanceOf,
  type MaintenanceTraits,
  nodeRaw,
  NOW_MS,
} from '../../support/node-maintenance/maintenance-fixture.ts';

const explained = (traits: MaintenanceTraits) =>
  explainMaintenance({ maintenance: maintenanceOf('1', traits), events: [] });

test('a planned maintenance waits for another stage', () => {
  expect(explained({})).toMatchObject({
    kind: 'NodeMaintenance',
    name: 'kernel',
    state: 'Idle',
    waitsFor: 'Another stage',
    canAct: 'platform',
    problems: [],
  });
});

test('a drain names the nodes with pods left, and how to see what holds them', () => {
  const nodes = [
    nodeRaw('a', { podsPendingEvacuation: 2, podsEvacuating: 1, drainMessage: 'Evacuating' }),
    nodeRaw('b'),
  ];
  const conditions = [conditionRaw('Drained', 'False', ['Evacuating', '3 pods left'])];
  const { state, action, details } = explained({ stage: 'Drain', nodes, conditions });
  expect([state, action]).toEqual([
    'Evacuating',
    'Run "tidegate drain status": it names what holds the pods',
  ]);
  expect(details).toContainEqual({ name: 'Progress', value: '3 pods left' });
  expect(details.filter(({ name }) => name.startsWith('Node '))).toEqual([
    { name: 'Node a', value: '3 pods left: Evacuating' },
  ]);
});

test('NM-40: a maintenance that is too large for its status names what to change', () => {
  const message = 'spec.nodeSelector of NodeMaintenance "kernel" selects 1200 nodes';
  const tooMany = conditionRaw('TooManyNodes', 'True', ['TooManyNodes', message]);
  const drained = (reason: string) => conditionRaw('Drained', 'False', [reason, message]);
  expect(explained({ conditions: [tooMany] }).details)
    .toContainEqual({ name: 'Progress', value: message });
  const stuck = explained({ stage: 'Drain', conditions: [drained('TooManyNodes'), tooMany] });
  expect(stuck).toMatchObject({
    state: 'Evacuating',
    waitsFor: 'A smaller selection',
    canAct: 'platform',
    action: REASONS.MaintenanceTooManyNodes.change,
  });
  expect(stuck.runbook).toContain('#maintenance-too-large');
  const going = explained({ stage: 'Drain', conditions: [drained('Evacuating'), tooMany] });
  expect(going.waitsFor).toBe('The pods to leave its nodes');
});

test.each(
  [
    ['WindowClosed', 'MaintenanceWindowClosed', 'The window to open'],
    ['WindowMalformed', 'MaintenanceWindowMalformed', 'A window that can be read'],
    ['Crossed', 'MaintenanceCrossed', 'One of these drains to yield'],
    ['Yielding', 'MaintenanceYielding', 'The end of the other drain'],
  ] as const,
)('a drain that is held for %s gives that cause and its remedy', (held, name, waitsFor) => {
  const { sentence, canAct, change = '' }: Reason = REASONS[name];
  const conditions = [conditionRaw('Drained', 'False', [held, 'details'])];
  expect(explained({ stage: 'Drain', conditions }))
    .toMatchObject({ state: 'Evacuating', why: sentence, waitsFor, canAct, action: change });
});

test('a maintenance that no operator has taken says so', () => {
  const { state, canAct } = explained({ generation: 0, stage: 'Drain' });
  expect([state, canAct]).toEqual(['Unserved', 'platform']);
});

test('a maintenance with many busy nodes shows the first ten and counts the others', () => {
  const nodes = Array.from(
    { length: 12 },
    (_, index) => nodeRaw(`n${index}`, { podsEvacuating: 1 }),
  );
  const { details } = explained({ stage: 'Drain', nodes });
  expect(details.filter(({ name }) => name.startsWith('Node ')).length).toBe(10);
  expect(details.at(-1)).toEqual({ name: 'Others', value: '2 more nodes' });
});

test('the tree of a node names its maintenances', () => {
  const node = {
    metadata: { name: 'n1' },
    spec: { unschedulable: true },
    status: {
      conditions: [{
        type: 'DrainInProgress',
        status: 'True',
        reason: 'NodeMaintenance',
        message: 'NodeMaintenance kernel',
      }],
    },
  };
  const around = { upcomingNode: undefined, pods: [], evictionRequests: [] };
  const tree = nodeTree({ node, ...around, nowMs: NOW_MS });
  expect(tree?.state).toBe('NotReady, cordoned, DrainInProgress (NodeMaintenance kernel)');
});
