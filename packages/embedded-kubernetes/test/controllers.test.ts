/** The players together on an embedded cluster, on simulated time: what a control plane does. */
import { describe, expect, test } from 'vitest';
import { booleanAt, type JsonRecord, listOrEmptyAt, numberAt, textAt } from '../src/values/json.ts';
import { simulatedTime } from '../src/values/simulated-time.ts';
import { makeCluster } from '../src/cluster.ts';
import { startControllers } from '../src/controllers/controllers.ts';
import { STOPS_AFTER } from '../src/controllers/kubelets.ts';
import { conditionOf, isReady, isTerminating, nodeOf } from '../src/controllers/pod-reading.ts';
import { DEFAULT_TIMING } from '../src/controllers/controller-environment.ts';
import { storeEnvironment } from '../src/controllers/store-environment.ts';
import { seededRandom } from '../src/values/random.ts';

const ZONE = 'topology.kubernetes.io/zone';
const APPS = '/apis/apps/v1/namespaces/default';
const CORE = '/api/v1/namespaces/default';

const setUp = (nodes = 3) => {
  const time = simulatedTime();
  const cluster = makeCluster({ time, seed: 1 });
  const environment = storeEnvironment({
    cluster,
    time,
    random: seededRandom(1),
    timing: DEFAULT_TIMING,
  });
  const controllers = startControllers(environment);
  const ask = (method: string, path: string, body?: unknown): JsonRecord => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const response = cluster.answer({ method, path, headers: { 'content-type': type }, body });
    if (response._tag === 'Watch' || response.status >= 300) {
      throw new Error(`${method} ${path}: ${JSON.stringify(response)}`);
    }
    return response.body as JsonRecord;
  };
  const addNode = (name: string, zone: string): JsonRecord =>
    ask('POST', '/api/v1/nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels: { [ZONE]: zone } },
      status: { allocatable: { cpu: '4', memory: '8Gi', pods: '20' } },
    });
  for (let at = 0; at < nodes; at += 1) addNode(`n${at}`, `zone-${at}`);
  const pods = (): readonly JsonRecord[] => [...cluster.store.collection('pods').objects()];
  return { time, cluster, controllers, ask, addNode, pods };
};

const workload = (kind: string, name: string, spec: JsonRecord) => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name, namespace: 'default' },
  spec: {
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: {
        containers: [{ name: 'main', image: 'a', resources: { requests: { cpu: '500m' } } }],
      },
    },
    ...spec,
  },
});

describe('the controllers', () => {
  test('a Deployment becomes Ready pods on nodes, and its status reports them', async () => {
    const { time, ask, pods } = setUp();
    await time.advance(5000);
    ask('POST', `${APPS}/deployments`, workload('Deployment', 'web', { replicas: 5 }));
    await time.advance(20_000);
    expect(pods().filter(isReady)).toHaveLength(5);
    expect(new Set(pods().map(nodeOf)).size).toBe(3);
    const { status } = ask('GET', `${APPS}/deployments/web`);
    expect(status).toMatchObject({ replicas: 5, readyReplicas: 5, updatedReplicas: 5 });
  });

  test('a changed template is rolled out without fewer pods than its strategy allows', async () => {
    const { time, ask, pods } = setUp();
    ask('POST', `${APPS}/deployments`, workload('Deployment', 'web', { replicas: 4 }));
    await time.advance(20_000);
    const containers = [{ name: 'main', image: 'b' }];
    ask('PATCH', `${APPS}/deployments/web`, { spec: { template: { spec: { containers } } } });
    let fewest = 4;
    for (let second = 0; second < 60; second += 1) {
      await time.advance(1000);
      const serving = pods().filter((pod) => isReady(pod) && !isTerminating(pod));
      fewest = Math.min(fewest, serving.length);
    }
    expect(fewest).toBeGreaterThanOrEqual(3);
    const images = pods().flatMap((pod) => listOrEmptyAt(pod, 'spec', 'containers'))
      .map((container) => textAt(container, 'image'));
    expect(images).toEqual(['b', 'b', 'b', 'b']);
  });

  test('an unschedulable pod reports the reason, and is bound when a node joins', async () => {
    const { time, ask, addNode, pods } = setUp(1);
    ask('POST', `${APPS}/replicasets`, workload('ReplicaSet', 'web', { replicas: 9 }));
    await time.advance(20_000);
    const stuck = pods().filter((pod) => nodeOf(pod) === '');
    expect(stuck).toHaveLength(1);
    const [condition] = listOrEmptyAt(stuck[0], 'status', 'conditions');
    expect(condition).toMatchObject({
      type: 'PodScheduled',
      reason: 'Unschedulable',
      message: '0/1 nodes are available: 1 Insufficient cpu.',
    });
    addNode('late', 'zone-9');
    await time.advance(20_000);
    expect(pods().filter(isReady)).toHaveLength(9);
  });

  test('a pod that does not stop ends after its grace period; finalizers keep it', async () => {
    const { time, ask, pods } = setUp(1);
    ask('POST', `${CORE}/pods`, {
      metadata: { name: 'a', annotations: { [STOPS_AFTER]: 'never' }, finalizers: ['x.dev/keep'] },
      spec: { terminationGracePeriodSeconds: 20, containers: [{ name: 'main', image: 'a' }] },
    });
    await time.advance(10_000);
    ask('DELETE', `${CORE}/pods/a`);
    await time.advance(19_000);
    expect(numberAt(pods()[0], 'metadata', 'deletionGracePeriodSeconds')).toBe(20);
    await time.advance(3000);
    expect(numberAt(pods()[0], 'metadata', 'deletionGracePeriodSeconds')).toBe(0);
    ask('PATCH', `${CORE}/pods/a`, { metadata: { finalizers: null } });
    await time.advance(1000);
    expect(pods()).toEqual([]);
  });

  test('a StatefulSet creates its pods in order, each with a volume in its zone', async () => {
    const { time, ask, cluster, pods } = setUp();
    const set = workload('StatefulSet', 'db', {
      replicas: 3,
      serviceName: 'db',
      volumeClaimTemplates: [{
        metadata: { name: 'data' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      }],
    });
    ask('POST', `${APPS}/statefulsets`, set);
    await time.advance(30_000);
    const names = pods().map((pod) => textAt(pod, 'metadata', 'name')).toSorted();
    expect(names).toEqual(['db-0', 'db-1', 'db-2']);
    const volumes = [...cluster.store.collection('persistentvolumes').objects()];
    expect(volumes).toHaveLength(3);
    const home = nodeOf(pods().find((pod) => textAt(pod, 'metadata', 'name') === 'db-1'));
    ask('DELETE', `${CORE}/pods/db-1`);
    await time.advance(30_000);
    const again = pods().find((pod) => textAt(pod, 'metadata', 'name') === 'db-1');
    expect([nodeOf(again), isReady(again)]).toEqual([home, true]);
  });

  test('a DaemonSet has one pod per node, also on cordoned ones', async () => {
    const { time, ask, addNode, pods } = setUp(2);
    ask('PATCH', '/api/v1/nodes/n1', { spec: { unschedulable: true } });
    ask('POST', `${APPS}/daemonsets`, workload('DaemonSet', 'agent', {}));
    await time.advance(10_000);
    addNode('late', 'zone-9');
    await time.advance(10_000);
    expect(pods().filter(isReady).map(nodeOf).toSorted()).toEqual(['late', 'n0', 'n1']);
  });

  test('a budget counts the replicas of its controllers, and follows evictions', async () => {
    const { time, ask, pods } = setUp();
    ask('POST', `${APPS}/deployments`, workload('Deployment', 'web', { replicas: 4 }));
    ask('POST', '/apis/policy/v1/namespaces/default/poddisruptionbudgets', {
      metadata: { name: 'web' },
      spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'web' } } },
    });
    await time.advance(20_000);
    const budget = () =>
      ask('GET', '/apis/policy/v1/namespaces/default/poddisruptionbudgets/web')['status'];
    expect(budget()).toMatchObject({ expectedPods: 4, desiredHealthy: 3, disruptionsAllowed: 1 });
    const name = textAt(pods()[0], 'metadata', 'name') ?? '';
    ask('POST', `${CORE}/pods/${name}/eviction`, {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name, namespace: 'default' },
    });
    await time.advance(200);
    expect(budget()).toMatchObject({ currentHealthy: 3, disruptionsAllowed: 0 });
    await time.advance(20_000);
    expect(budget()).toMatchObject({ currentHealthy: 4, disruptionsAllowed: 1 });
  });

  test('dependents are deleted after their owner; orphans stay', async () => {
    const { time, ask, cluster, pods } = setUp();
    for (const name of ['a', 'b', 'c']) {
      ask('POST', `${APPS}/deployments`, workload('Deployment', name, { replicas: 2 }));
    }
    await time.advance(20_000);
    const remove = (name: string, propagationPolicy: string): void => {
      const options = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy };
      ask('DELETE', `${APPS}/deployments/${name}`, options);
    };
    remove('a', 'Background');
    remove('b', 'Foreground');
    remove('c', 'Orphan');
    await time.advance(30_000);
    expect([...cluster.store.collection('deployments.apps').objects()]).toEqual([]);
    expect(pods().map((pod) => textAt(pod, 'metadata', 'labels', 'app'))).toEqual(['c', 'c']);
    const [set, ...others] = [...cluster.store.collection('replicasets.apps').objects()];
    expect([others.length, listOrEmptyAt(set, 'metadata', 'ownerReferences')]).toEqual([0, []]);
  });

  test('pods of a deleted Node are deleted and recreated elsewhere', async () => {
    const { time, ask, pods } = setUp();
    ask('POST', `${APPS}/deployments`, workload('Deployment', 'web', { replicas: 6 }));
    await time.advance(20_000);
    ask('DELETE', '/api/v1/nodes/n0');
    await time.advance(70_000);
    expect(pods().filter(isReady)).toHaveLength(6);
    expect(pods().some((pod) => nodeOf(pod) === 'n0')).toBe(false);
  });

  test('a pod is Ready while its containers are, and its readiness gates are True', async () => {
    const { time, ask } = setUp();
    const gate = 'example.com/gate';
    ask('POST', `${CORE}/pods`, {
      metadata: { name: 'gated' },
      spec: {
        readinessGates: [{ conditionType: gate }],
        containers: [{ name: 'main', image: 'a' }],
      },
    });
    const pod = () => ask('GET', `${CORE}/pods/gated`);
    const setGate = async (status: string) => {
      const conditions = listOrEmptyAt(pod(), 'status', 'conditions')
        .filter((condition) => textAt(condition, 'type') !== gate);
      ask('PATCH', `${CORE}/pods/gated/status`, {
        status: { conditions: [...conditions, { type: gate, status }] },
      });
      await time.advance(1000);
    };
    const containersReady = () =>
      textAt(conditionOf(pod(), 'ContainersReady'), 'status') === 'True';
    await time.advance(20_000);
    expect([containersReady(), isReady(pod())]).toEqual([true, false]);
    await setGate('True');
    expect([containersReady(), isReady(pod())]).toEqual([true, true]);
    await setGate('False');
    expect([containersReady(), isReady(pod())]).toEqual([true, false]);
  });

  test('a silent node is Unknown and tainted until its kubelet reports again', async () => {
    const { time, ask, controllers, pods } = setUp(2);
    ask('POST', `${APPS}/deployments`, workload('Deployment', 'web', { replicas: 4 }));
    await time.advance(20_000);
    controllers.kubelets.setSilent('n0', true);
    await time.advance(60_000);
    const node = () => ask('GET', '/api/v1/nodes/n0');
    expect(listOrEmptyAt(node(), 'spec', 'taints')).toHaveLength(2);
    expect(pods().filter((pod) => nodeOf(pod) === 'n0').some(isReady)).toBe(false);
    controllers.kubelets.setSilent('n0', false);
    await time.advance(30_000);
    expect([listOrEmptyAt(node(), 'spec', 'taints'), isReady(node())]).toEqual([[], true]);
    expect(pods().filter(isReady)).toHaveLength(4);
    expect(booleanAt(node(), 'spec', 'unschedulable')).toBeUndefined();
  });
});
