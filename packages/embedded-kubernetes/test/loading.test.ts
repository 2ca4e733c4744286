/** Objects of another API server, and what the controllers here make of them. */
import { expect, test } from 'vitest';
import {
  DEFAULT_TIMING,
  loadObjects,
  makeCluster,
  seededRandom,
  simulatedTime,
  startControllers,
  storeEnvironment,
} from '../mod.ts';
import { type JsonRecord, listOrEmptyAt, numberAt, textAt } from '../src/values/json.ts';

const NODE = {
  metadata: { name: 'n1', uid: 'n1' },
  status: {
    allocatable: { cpu: '4', memory: '8Gi', pods: '110' },
    conditions: [{ type: 'Ready', status: 'True' }],
  },
};

const podOf = (name: string, owner: object, labels: object = { app: 'web' }): JsonRecord => ({
  metadata: {
    name,
    namespace: 'shop',
    uid: `uid-${name}`,
    labels,
    ownerReferences: [{ controller: true, ...owner }],
  },
  spec: {
    nodeName: 'n1',
    priority: 7,
    priorityClassName: 'urgent',
    containers: [{ name: 'main', image: 'image' }],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
  },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
});

const pods = (objects: readonly JsonRecord[]) => ({
  resource: 'pods',
  apiVersion: 'v1',
  kind: 'Pod',
  objects,
});

const loaded = (...lists: Parameters<typeof loadObjects>[1]) => {
  const time = simulatedTime();
  const cluster = makeCluster({ time, seed: 1 });
  const nodes = { resource: 'nodes', apiVersion: 'v1', kind: 'Node', objects: [NODE] };
  const result = loadObjects(cluster, [nodes, ...lists]);
  startControllers(storeEnvironment({
    cluster,
    time,
    random: seededRandom(1),
    timing: DEFAULT_TIMING,
  }));
  const found = (): readonly JsonRecord[] => [...cluster.store.collection('pods').objects()];
  return { time, cluster, found, result };
};

const ROLLOUT = { apiVersion: 'example.com/v1', kind: 'Rollout', name: 'web', uid: 'rollout' };
const NODE_OWNER = { apiVersion: 'v1', kind: 'Node', name: 'gone', uid: 'gone' };

test('a loaded pod keeps its UID, and is not collected without its owner', async () => {
  const { time, found } = loaded(pods([podOf('mirror', NODE_OWNER)]));
  await time.advance(120_000);
  expect(found().map((pod) => textAt(pod, 'metadata', 'uid'))).toEqual(['uid-mirror']);
});

test('the pods of an unknown controller come back, with their priority and claims', async () => {
  const { time, cluster, found, result } = loaded(
    pods([podOf('web-1', ROLLOUT), podOf('web-2', ROLLOUT)]),
  );
  expect(result.replaced).toEqual(['Rollout shop/web']);
  await time.advance(5000);
  expect(found().length).toBe(2);
  cluster.answer({ method: 'DELETE', path: '/api/v1/namespaces/shop/pods/web-1' });
  await time.advance(120_000);
  const now = found();
  expect(now.map((pod) => textAt(pod, 'status', 'phase'))).toEqual(['Running', 'Running']);
  expect(now.map((pod) => numberAt(pod, 'spec', 'priority'))).toEqual([7, 7]);
  expect(now.map((pod) => textAt(pod, 'metadata', 'name'))).not.toContain('web-1');
});

test('a budget of a StatefulSet that something else owns counts its replicas', async () => {
  const set = {
    metadata: {
      name: 'db',
      namespace: 'shop',
      uid: 'set',
      generation: 1,
      ownerReferences: [{ kind: 'Database', name: 'db', uid: 'database', controller: true }],
    },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [] } },
    },
    status: { updateRevision: 'db-1234' },
  };
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: 'set' };
  const { time, cluster, found } = loaded(
    pods([podOf('db-0', owner, { app: 'web', 'controller-revision-hash': 'db-1234' })]),
    { resource: 'statefulsets.apps', apiVersion: 'apps/v1', kind: 'StatefulSet', objects: [set] },
    {
      resource: 'poddisruptionbudgets.policy',
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      objects: [{
        metadata: { name: 'db', namespace: 'shop', uid: 'budget', generation: 1 },
        spec: { selector: { matchLabels: { app: 'web' } }, maxUnavailable: 1 },
      }],
    },
  );
  await time.advance(60_000);
  expect(found().map((pod) => textAt(pod, 'metadata', 'uid'))).toEqual(['uid-db-0']);
  const [budget] = cluster.store.collection('poddisruptionbudgets.policy').objects();
  expect(numberAt(budget, 'status', 'expectedPods')).toBe(1);
  expect(listOrEmptyAt(budget, 'status', 'conditions')).toMatchObject([{ status: 'True' }]);
});
