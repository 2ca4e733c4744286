/** Simulated maintenances of clusters that are given as lists. */
import { expect, test } from 'vitest';
import * as embedded from '../../../packages/embedded-kubernetes/mod.ts';
import { simulateMaintenance } from '../../../src/cli/maintenance/maintenance-simulation.ts';
import type { JsonRecord } from '../../../src/domain/json.ts';
import { maintenanceSimulationText } from '../../../src/view/maintenance-simulation-text.ts';
import type { MaintenanceSimulationView } from '../../../src/view/maintenance-simulation.ts';
import {
  type ListedApp,
  listedCluster,
  listedNode,
} from '../../support/node-maintenance/listed-cluster.ts';

const maintenance = (spec: object) => ({
  apiVersion: 'lifecycle.tidegate.dev/v1alpha1',
  kind: 'NodeMaintenance',
  metadata: { name: 'kernel' },
  spec: {
    nodeSelector: {
      nodeSelectorTerms: [{ matchExpressions: [{ key: 'pool', operator: 'In', values: ['a'] }] }],
    },
    ...spec,
  },
});

const simulate = (
  nodes: readonly JsonRecord[],
  apps: readonly ListedApp[],
  { spec = {}, nodeWorkMs = 0 }: { readonly spec?: object; readonly nodeWorkMs?: number } = {},
) =>
  simulateMaintenance(embedded, {
    lists: listedCluster(nodes, apps),
    missing: [],
    written: maintenance(spec),
    timing: { podStartupMs: 10_000, podShutdownMs: undefined, nodeWorkMs },
    startMs: Date.parse('2026-03-01T00:00:00Z'),
    onProgress: () => {},
  });

const viewOf = async (
  ...given: Parameters<typeof simulate>
): Promise<MaintenanceSimulationView> => {
  const outcome = await simulate(...given);
  if (outcome._tag === 'Refused') throw new Error(outcome.why);
  return outcome.view;
};

const only = (...names: readonly string[]) => ({
  nodeSelector: {
    nodeSelectorTerms: names.map((name) => ({
      matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }],
    })),
  },
});

const NODES = ['n1', 'n2', 'n3'].map((name) => listedNode(name));

test('a simulated maintenance drains nodes one after another, with the work on each between', async () => {
  const view = await viewOf(
    NODES,
    [{ name: 'web', nodes: ['n1', 'n2', 'n3', 'n1'], maxUnavailable: 1 }],
    { spec: { maxNodesAtOnce: 1 }, nodeWorkMs: 60_000 },
  );
  expect(view).toMatchObject({ drained: true, blockers: [], unplaced: [] });
  expect(view.nodes.map(({ node, wave }) => [node, wave])).toEqual([['n1', 1], ['n2', 2], [
    'n3',
    3,
  ]]);
  const [first, second] = view.nodes;
  expect(second?.beganSeconds).toBeGreaterThanOrEqual((first?.endedSeconds ?? 0) + 60);
  expect(
    view.shortfalls.map(({ object, ready, wanted, lowest }) => [object, ready, wanted, lowest]),
  )
    .toEqual([
      ['Deployment shop/web', 4, 4, 3],
      ['PodDisruptionBudget shop/web', 4, 3, 3],
    ]);
  expect(maintenanceSimulationText(view)).toContain('Simulated: drained in');
});

test('a simulated maintenance stands still at a budget that never allows, and names it', async () => {
  const view = await viewOf(NODES, [{ name: 'web', nodes: ['n1', 'n2'], maxUnavailable: 0 }], {
    spec: { maxNodesAtOnce: 1 },
  });
  expect(view).toMatchObject({
    drained: false,
    nodes: [{ node: 'n1', endedSeconds: null }],
    shortfalls: [],
    blockers: [{
      reason: 'BudgetNeverAllows',
      message: 'budget shop/web never allows an eviction: maxUnavailable is 0',
    }],
  });
  expect(view.seconds).toBeLessThan(60);
});

test('a simulated maintenance shows pods that find no place, and why', async () => {
  const nodes = ['n1', 'n2'].map((name) => listedNode(name, { cpu: '2' }));
  const view = await viewOf(nodes, [{ name: 'web', nodes: ['n1', 'n1', 'n2'] }], {
    spec: only('n1'),
  });
  expect(view.drained).toBe(true);
  expect(view.unplaced).toEqual([{
    owner: 'Deployment shop/web',
    pods: 1,
    left: 1,
    seconds: expect.any(Number),
    message: '0/2 nodes are available: 1 were unschedulable, 1 Insufficient cpu.',
  }]);
});

test('a simulated maintenance rolls out no workload that another controller made', async () => {
  const view = await viewOf(NODES, [
    { name: 'web', nodes: ['n2', 'n3'] },
    { name: 'db', nodes: ['n2', 'n3'], workload: 'StatefulSet' },
    { name: 'job', nodes: ['n2'], workload: 'Rollout' },
    { name: 'slow', nodes: ['n1'], graceSeconds: 60 },
  ], { spec: only('n1') });
  expect(view).toMatchObject({ drained: true, unplaced: [] });
  expect(view.shortfalls.map(({ object }) => object)).toEqual(['Deployment shop/slow']);
});

test('pods of a StatefulSet and of an unknown controller come back elsewhere', async () => {
  const view = await viewOf(NODES, [
    { name: 'db', nodes: ['n1', 'n2'], workload: 'StatefulSet', maxUnavailable: 1 },
    { name: 'job', nodes: ['n1', 'n2'], workload: 'Rollout', maxUnavailable: 1 },
  ], { spec: only('n1', 'n2') });
  expect(view).toMatchObject({ drained: true, blockers: [] });
  expect(view.shortfalls.map(({ object, lowest }) => [object, lowest])).toEqual([
    ['PodDisruptionBudget shop/db', 1],
    ['PodDisruptionBudget shop/job', 1],
    ['ReplicaSet shop/job', 1],
    ['StatefulSet shop/db', 1],
  ]);
  expect(view.unknown).toContain('Recreated as by a ReplicaSet: Rollout shop/job');
});

test('a node that is not Ready is never drained: nothing stops its pods', async () => {
  const nodes = [listedNode('n1', { isReady: false }), listedNode('n2')];
  const view = await viewOf(nodes, [{ name: 'web', nodes: ['n1'] }], { spec: only('n1') });
  expect(view).toMatchObject({ drained: false, nodes: [{ node: 'n1', endedSeconds: null }] });
  expect(view.unknown).toContain('Not Ready, and nothing stops there: n1');
});

test('a simulated maintenance waits for its window, and its time has the wait', async () => {
  const view = await viewOf(NODES, [{ name: 'web', nodes: ['n1'] }], {
    spec: {
      ...only('n1', 'n2'),
      maxNodesAtOnce: 1,
      window: { schedule: '0 2 * * *', durationMinutes: 1 },
    },
    nodeWorkMs: 300_000,
  });
  expect(view.drained).toBe(true);
  const hours = view.nodes.map(({ beganSeconds }) => Math.round(beganSeconds / 360) / 10);
  expect(hours, 'the work outlasts the window').toEqual([2, 26]);
});

test('the same lists give the same outcome', async () => {
  const apps = [{ name: 'web', nodes: ['n1', 'n2', 'n3'], maxUnavailable: 1 }];
  expect(await viewOf(NODES, apps)).toEqual(await viewOf(NODES, apps));
});

test('a spec that the API server refuses is not simulated', async () => {
  const outcome = await simulate(NODES, [], { spec: { topologyKey: 'zone' } });
  expect(outcome).toMatchObject({ _tag: 'Refused', why: expect.stringContaining('topologyKey') });
});
