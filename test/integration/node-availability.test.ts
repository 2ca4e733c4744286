/** The role availability on an embedded cluster whose kubelets fall silent. */
import { expect, test } from 'vitest';
import { printCordon } from '../../src/domain/drain/cordon.ts';
import { textAt } from '../../src/domain/json.ts';
import { failingCluster } from '../support/node-availability/failing-cluster.ts';

const DISABLED = printCordon({
  ids: [],
  deadlineMs: null,
  graceSeconds: 0,
  sinceMs: 0,
  ended: null,
});
const OUT_OF_SERVICE = {
  key: 'node.kubernetes.io/out-of-service',
  value: 'nodeshutdown',
  effect: 'NoExecute',
};

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';

type Cluster = Awaited<ReturnType<typeof failingCluster>>;

const nodeOf = ({ pods }: Cluster, prefix: string): string =>
  pods().find(({ name }) => name.startsWith(prefix))?.node ?? '';

/** Advances to the next renewal of the Lease of a Node. */
const untilRenewed = async ({ ask, time }: Cluster, node: string): Promise<void> => {
  const renewed = () => textAt(ask('GET', `${LEASES}/${node}`), 'spec', 'renewTime');
  const before = renewed();
  for (let at = 0; at < 200 && renewed() === before; at += 1) await time.advance(100);
  expect(renewed()).not.toBe(before);
};

/** Advances until it is so; how long that took, in milliseconds. */
const untilSo = async ({ time }: Cluster, isSo: () => boolean): Promise<number> => {
  const beganMs = time.monotonic();
  for (let at = 0; at < 1000 && !isSo(); at += 1) await time.advance(100);
  expect(isSo()).toBe(true);
  return time.monotonic() - beganMs;
};

test('RS-20: stateless pods of an offline node run elsewhere within 75 s, each deleted once', async () => {
  const cluster = await failingCluster(6);
  cluster.deploy('web', 18);
  cluster.deployStateful('db', 2);
  await cluster.time.advance(20_000);
  cluster.serve();
  const lost = nodeOf(cluster, 'db-0');
  const stateless = cluster.pods().filter(({ name, node }) =>
    node === lost && name.startsWith('web')
  );
  expect(stateless.length).toBeGreaterThan(1);
  await untilRenewed(cluster, lost);
  cluster.silence(lost);
  const detectedMs = await untilSo(cluster, () => cluster.state(lost) === 'Offline');
  expect(detectedMs).toBeGreaterThanOrEqual(60_000);
  const replacedMs = await untilSo(
    cluster,
    () =>
      cluster.pods().filter(({ name, node, isReady }) =>
        name.startsWith('web') && node !== lost && isReady
      ).length === 18,
  );
  expect(replacedMs, 'after the node was found offline').toBeLessThanOrEqual(10_000);
  expect(detectedMs + replacedMs).toBeLessThanOrEqual(75_000);
  expect(cluster.deleted).toEqual(stateless.map(({ name }) => name).toSorted());
  expect(cluster.notes.map(({ reason, regarding }) => `${reason} ${regarding.name}`))
    .toContain(`NodeOffline ${lost}`);
});

test('RS-22: a node that is back 70 s after its last renewal is clean within 5 s', async () => {
  const cluster = await failingCluster(6);
  cluster.deploy('web', 6);
  cluster.deployStateful('db', 6);
  await cluster.time.advance(20_000);
  cluster.serve();
  const stateful = () => cluster.pods().filter(({ name }) => name.startsWith('db'));
  const before = stateful().map(({ uid }) => uid).toSorted();
  const lost = nodeOf(cluster, 'db-0');
  await untilRenewed(cluster, lost);
  cluster.silence(lost);
  await cluster.time.advance(70_000);
  expect(cluster.state(lost)).toBe('Offline');
  cluster.silence(lost, false);
  await cluster.time.advance(5000);
  expect([cluster.state(lost), cluster.taints(lost), cluster.isCordoned(lost)])
    .toEqual(['Active', [], false]);
  await cluster.time.advance(60_000);
  expect(stateful().map(({ uid }) => uid).toSorted()).toEqual(before);
});

test('RS-21: stateful pods of an offline node stay there, and an Event says so', async () => {
  const cluster = await failingCluster(4);
  cluster.deployStateful('db', 2);
  await cluster.time.advance(20_000);
  cluster.serve();
  await cluster.time.advance(5000);
  const before = cluster.pods();
  cluster.silence(nodeOf(cluster, 'db-0'));
  await cluster.time.advance(90_000);
  const after = cluster.pods();
  expect(after.map(({ uid, node }) => [uid, node])).toEqual(
    before.map(({ uid, node }) => [uid, node]),
  );
  expect(after.some(({ isTerminating }) => isTerminating)).toBe(false);
  const ofPod = cluster.notes.filter(({ reason }) => reason === 'VolumeHomeNodeOffline');
  expect(new Set(ofPod.map(({ regarding }) => `${regarding.kind} ${regarding.name}`)))
    .toEqual(new Set(['Pod db-0']));
});

test('RS-21: they show it in a condition until their node is back, each written once', async () => {
  const cluster = await failingCluster(4);
  cluster.deployStateful('db', 2);
  await cluster.time.advance(20_000);
  cluster.serve();
  await cluster.time.advance(5000);
  const lost = nodeOf(cluster, 'db-0');
  const waiting = () =>
    cluster.pods().filter(({ isHomeOffline }) => isHomeOffline).map(({ node }) => node);
  cluster.silence(lost);
  await cluster.time.advance(120_000);
  expect(new Set(waiting())).toEqual(new Set([lost]));
  expect(cluster.patchedPods).toHaveLength(waiting().length);
  cluster.silence(lost, false);
  await cluster.time.advance(10_000);
  expect(waiting()).toEqual([]);
});

test('RS-30: nodes are counted by state, and deletions of lost pods by outcome', async () => {
  const cluster = await failingCluster(4);
  cluster.deploy('web', 8);
  await cluster.time.advance(20_000);
  cluster.serve();
  await cluster.time.advance(5000);
  const nodes = (state: string) => cluster.metrics.get(`tidegate_nodes ${state}`) ?? 0;
  expect([nodes('active'), nodes('offline')]).toEqual([4, 0]);
  const lost = nodeOf(cluster, 'web');
  cluster.silence(lost);
  await cluster.time.advance(90_000);
  expect([nodes('active'), nodes('offline')]).toEqual([3, 1]);
  expect(cluster.deleted.length).toBeGreaterThan(0);
  expect(cluster.metrics.get('tidegate_lost_pods_total Deleted')).toBe(cluster.deleted.length);
  expect(cluster.metrics.get(`tidegate_node_replaced_pods_total ${lost}`))
    .toBe(cluster.deleted.length);
});

test('RS-22: a node that comes back is active within 5 s, with one pod for each ordinal', async () => {
  const cluster = await failingCluster(6);
  cluster.deployStateful('db', 3);
  await cluster.time.advance(20_000);
  cluster.serve();
  await cluster.time.advance(5000);
  const before = cluster.pods().map(({ uid }) => uid).toSorted();
  const lost = nodeOf(cluster, 'db-0');
  cluster.silence(lost);
  await cluster.time.advance(90_000);
  expect(cluster.state(lost)).toBe('Offline');
  cluster.silence(lost, false);
  await cluster.time.advance(5000);
  expect(cluster.state(lost)).toBe('Active');
  await cluster.time.advance(60_000);
  expect(cluster.pods().map(({ uid }) => uid).toSorted()).toEqual(before);
  expect(cluster.notes.map(({ reason }) => reason)).toContain('NodeBack');
});

test('RS-06: nodes of a storm lose no pod, also over a restart and when others are back', async () => {
  const cluster = await failingCluster(10);
  cluster.deploy('web', 10);
  await cluster.time.advance(20_000);
  const stop = cluster.serve();
  await cluster.time.advance(5000);
  const storm = ['node-1', 'node-2', 'node-3', 'node-4'];
  for (const node of storm) cluster.silence(node);
  await cluster.time.advance(120_000);
  expect(storm.map(cluster.state)).toEqual(storm.map(() => 'OfflineStorm'));
  expect(cluster.deleted).toEqual([]);
  expect(cluster.alarms).toEqual([expect.stringContaining('OfflineStorm: 4 of 10 Nodes')]);
  for (const node of storm.slice(1)) cluster.silence(node, false);
  await cluster.time.advance(10_000);
  await stop();
  cluster.serve();
  await cluster.time.advance(90_000);
  expect(storm.map(cluster.state)).toEqual(['OfflineStorm', 'Active', 'Active', 'Active']);
  expect(cluster.metrics.get('tidegate_storm_nodes')).toBe(1);
  expect(cluster.deleted).toEqual([]);
  cluster.patchNode('node-1', { spec: { taints: [OUT_OF_SERVICE] } });
  await cluster.time.advance(10_000);
  expect(cluster.state('node-1')).toBe('Offline');
});

test('RS-06: without the guard all nodes of a storm are handled', async () => {
  const cluster = await failingCluster(10);
  cluster.deploy('web', 10);
  await cluster.time.advance(20_000);
  cluster.serve(100);
  await cluster.time.advance(5000);
  for (const node of ['node-1', 'node-2', 'node-3', 'node-4']) cluster.silence(node);
  await cluster.time.advance(90_000);
  expect(cluster.state('node-1')).toBe('Offline');
  expect(cluster.deleted.length).toBeGreaterThan(0);
  expect(cluster.alarms).toEqual([]);
});

test('RS-04: a problem that lasts taints a node, and its end removes the taint later', async () => {
  const cluster = await failingCluster(2);
  cluster.deploy('web', 4);
  await cluster.time.advance(20_000);
  cluster.serve();
  await cluster.time.advance(5000);
  cluster.setCondition('node-1', 'MemoryPressure', 'True');
  await cluster.time.advance(20_000);
  expect(cluster.taints('node-1')).toEqual([]);
  await cluster.time.advance(15_000);
  expect(cluster.taints('node-1')).toEqual(['tidegate.dev/degraded']);
  expect(cluster.state('node-1')).toBe('Degraded');
  expect(cluster.deleted).toEqual([]);
  cluster.setCondition('node-1', 'MemoryPressure', 'False');
  await cluster.time.advance(50_000);
  expect(cluster.state('node-1')).toBe('Degraded');
  await cluster.time.advance(15_000);
  expect(cluster.taints('node-1')).toEqual([]);
  expect(cluster.state('node-1')).toBe('Active');
});

test('RS-03: a disabled node is drained, and is active when nobody disables it', async () => {
  const cluster = await failingCluster(4);
  cluster.deploy('web', 4);
  await cluster.time.advance(20_000);
  cluster.serve();
  await cluster.time.advance(5000);
  const node = nodeOf(cluster, 'web');
  cluster.patchNode(node, {
    metadata: { annotations: { 'cordon.tidegate.dev/disabled': DISABLED } },
    spec: { unschedulable: true },
  });
  await cluster.time.advance(60_000);
  expect(cluster.state(node)).toBe('Disabled');
  expect(cluster.pods().filter((pod) => pod.node === node)).toEqual([]);
  expect(cluster.deleted, 'a drain evicts').toEqual([]);
  cluster.patchNode(node, {
    metadata: { annotations: { 'cordon.tidegate.dev/disabled': null } },
    spec: { unschedulable: false },
  });
  await cluster.time.advance(5000);
  expect(cluster.state(node)).toBe('Active');
});

test('RS-03: a node that is enabled while it drains keeps no trace of it', async () => {
  const cluster = await failingCluster(4);
  cluster.deploy('web', 2);
  cluster.ask('POST', '/apis/policy/v1/namespaces/default/poddisruptionbudgets', {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'web', namespace: 'default' },
    spec: { selector: { matchLabels: { app: 'web' } }, minAvailable: 2 },
  });
  await cluster.time.advance(20_000);
  cluster.serve();
  await cluster.time.advance(5000);
  const node = nodeOf(cluster, 'web');
  const disable = (text: string | null) =>
    cluster.patchNode(node, {
      metadata: { annotations: { 'cordon.tidegate.dev/disabled': text } },
      spec: { unschedulable: text !== null },
    });
  disable(DISABLED);
  await cluster.time.advance(30_000);
  expect(cluster.state(node)).toBe('Disabled');
  disable(null);
  await cluster.time.advance(30_000);
  expect([cluster.state(node), cluster.isCordoned(node)]).toEqual(['Active', false]);
  expect(JSON.stringify(cluster.ask('GET', `/api/v1/nodes/${node}`)))
    .not.toContain('cordon.tidegate.dev');
});

// The key stayed, so that the next cordon of anybody made the node disabled again.
test('RS-03: a node that was drained and that a person makes schedulable keeps no trace', async () => {
  const cluster = await failingCluster(4);
  cluster.deploy('web', 4);
  await cluster.time.advance(20_000);
  cluster.serve();
  await cluster.time.advance(5000);
  const node = nodeOf(cluster, 'web');
  cluster.patchNode(node, {
    metadata: {
      annotations: {
        'cordon.tidegate.dev/disabled': DISABLED,
        'availability.tidegate.dev/why-disabled': 'a fan is loud',
      },
    },
    spec: { unschedulable: true },
  });
  await cluster.time.advance(60_000);
  expect(JSON.stringify(cluster.ask('GET', `/api/v1/nodes/${node}`))).toContain('Drained');
  cluster.patchNode(node, { spec: { unschedulable: false } });
  await cluster.time.advance(10_000);
  expect([cluster.state(node), cluster.isCordoned(node)]).toEqual(['Active', false]);
  const left = JSON.stringify(cluster.ask('GET', `/api/v1/nodes/${node}`));
  expect(left).not.toContain('cordon.tidegate.dev');
  expect(left).not.toContain('why-disabled');
});
