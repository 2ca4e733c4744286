/** Pods that no surge can replace, on an embedded cluster and simulated time. */
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  type KubernetesRequest,
  startInterceptor,
  surge,
  type WithoutSurge,
} from '../../../packages/interceptor/mod.ts';
import { capacityReason } from '../../../packages/interceptor/src/surge/surge-refusal.ts';
import { silentTelemetry, type Telemetry } from '../../../src/api/telemetry.ts';
import { isConditionTrue } from '../../../src/domain/condition.ts';
import {
  type JsonRecord,
  listOrEmptyAt,
  numberAt,
  recordAt,
  textAt,
} from '../../../src/domain/json.ts';
import { surgeReasonCounts } from '../../../src/domain/surge-reasons.ts';
import {
  clientOn,
  type Fault,
  type Handle,
  serveInterceptors,
} from '../../support/interceptors/connections.ts';
import {
  conditionsOf,
  type EmbeddedCluster,
  PODS,
  reportOf,
} from '../../support/interceptors/embedded-cluster.ts';
import {
  surgeDeployment,
  uidOf,
  WEB,
  withDeployment,
} from '../../support/interceptors/surged-deployment.ts';

const SURGE = 'surge.tidegate.dev';
const CLAIMS = '/api/v1/namespaces/default/persistentvolumeclaims';
const ACCEPTED = { metadata: { annotations: { 'tidegate.dev/accept-downtime': 'true' } } };
const RECREATE = surgeDeployment(1, { type: 'Recreate' });

/** The role, and the series that it writes. */
const serve = ({ cluster, time }: EmbeddedCluster, withoutSurge: WithoutSurge = 'evict') => {
  const blocked = new Map<string, number>();
  const telemetry: Telemetry = {
    ...silentTelemetry,
    gauge: (metric, value, ...labels) => {
      if (metric !== 'tidegate_surges_blocked') return;
      const reason = Object.values(labels[0] ?? {}).join();
      if (value > 0) blocked.set(reason, value);
      else blocked.delete(reason);
    },
  };
  onTestFinished(serveInterceptors(cluster.handle, time, { withoutSurge, telemetry }));
  return () => Object.fromEntries(blocked);
};

test('RS-16: a leader reports that no surge is blocked before one is', async () => {
  const { cluster } = await withDeployment(RECREATE);
  const series = new Map<string, number>();
  const telemetry: Telemetry = {
    ...silentTelemetry,
    gauge: (_metric, value, ...labels) =>
      void series.set(Object.values(labels[0] ?? {}).join(), value),
  };
  onTestFinished(serveInterceptors(cluster.cluster.handle, cluster.time, { telemetry }));
  await cluster.time.advance(1000);
  expect(series.get('strategy_forbids_surge')).toBe(0);
  expect([...series.values()].every((count) => count === 0)).toBe(true);
});

const withSpec = (deployment: JsonRecord, spec: JsonRecord): JsonRecord => {
  const of = recordAt(deployment, 'spec') ?? {};
  const template = recordAt(of, 'template') ?? {};
  const pod = { ...recordAt(template, 'spec'), ...spec };
  return { ...deployment, spec: { ...of, template: { ...template, spec: pod } } };
};

/** Pods that mount a claim. */
const mounting = (claimName: string): JsonRecord =>
  withSpec(surgeDeployment(1), {
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
  });

const MEMORY = '600Mi';

/** Pods that need more than half of a Node. */
const large = (): JsonRecord =>
  withSpec(surgeDeployment(1), {
    containers: [{ name: 'c', image: 'i', resources: { requests: { memory: MEMORY } } }],
  });

const setNode = ({ ask }: EmbeddedCluster, name: string, allocatable: JsonRecord): void => {
  ask('PATCH', `/api/v1/nodes/${name}/status`, { status: { allocatable, capacity: allocatable } });
};

const QUOTA = 'pods "web-1" is forbidden: exceeded quota: small, requested: pods=1, used: pods=1';

/** What a quota of one pod does to the answers about `web`; the embedded cluster has none. */
const withQuota = (cluster: EmbeddedCluster, isLifted: () => boolean): EmbeddedCluster => {
  const { handle: served } = cluster.cluster;
  const failure = {
    type: 'ReplicaFailure',
    status: 'True',
    reason: 'FailedCreate',
    message: QUOTA,
  };
  const refused = (path: string, body: unknown): unknown => {
    if (path.startsWith(PODS)) {
      const items = listOrEmptyAt(body, 'items').filter((pod) => isConditionTrue(pod, 'Ready'));
      return { ...recordAt({ body }, 'body'), items };
    }
    const isFailing = path === WEB && numberAt(body, 'spec', 'replicas') === 2;
    const status = { ...recordAt(body, 'status'), conditions: [failure] };
    return isFailing ? { ...recordAt({ body }, 'body'), status } : body;
  };
  const handle: Handle = async (request) => {
    const response = await served(request);
    const [path = '', query] = request.path.split('?');
    const isRead = path === WEB || (path === PODS && query !== undefined);
    return response._tag === 'Answer' && request.method === 'GET' && isRead && !isLifted()
      ? { ...response, body: refused(path, response.body) }
      : response;
  };
  return { ...cluster, cluster: { ...cluster.cluster, handle } };
};

const messageOf = ({ get }: EmbeddedCluster, path: string): string =>
  textAt(reportOf(get(path), SURGE), 'message') ?? '';

const active = ({ get }: EmbeddedCluster, path: string): unknown =>
  listOrEmptyAt(get(path), 'status', 'activeInterceptors')[0];

describe('RS-10: a pod that no surge can replace', () => {
  test('is evicted within its budgets, with the reason after two seconds', async () => {
    const { cluster, seen } = await withDeployment(RECREATE);
    serve(cluster);
    const path = cluster.request(cluster.list(PODS)[0]);
    await cluster.time.advance(2000);
    expect(messageOf(cluster, path)).toBe(
      'Gave up: StrategyForbidsSurge: cannot surge "web": its strategy allows no surge',
    );
    await cluster.until(() => conditionsOf(cluster.get(path)).includes('Evicted'), 'it leaves');
    expect(seen().most).toBe(1);
  });

  test('waits where the setting says so, until a person accepts the downtime', async () => {
    const { cluster, seen } = await withDeployment(RECREATE);
    const blocked = serve(cluster, 'wait');
    const path = cluster.request(cluster.list(PODS)[0]);
    await cluster.time.advance(2000);
    expect(messageOf(cluster, path)).toBe(
      'StrategyForbidsSurge: cannot surge "web": its strategy allows no surge; the pod stays ' +
        'until downtime is accepted by the annotation tidegate.dev/accept-downtime: "true" on ' +
        'the Deployment',
    );
    expect(blocked()).toEqual({ strategy_forbids_surge: 1 });
    await cluster.time.advance(600_000);
    expect([active(cluster, path), seen().deleted.size]).toEqual([SURGE, 0]);
    cluster.ask('PATCH', WEB, ACCEPTED);
    await cluster.until(() => conditionsOf(cluster.get(path)).includes('Evicted'), 'it leaves');
    expect(blocked()).toEqual({});
  });

  test('is replaced after all when its strategy is changed', async () => {
    const { cluster, seen } = await withDeployment(RECREATE);
    serve(cluster, 'wait');
    const path = cluster.request(cluster.list(PODS)[0]);
    await cluster.time.advance(60_000);
    cluster.ask('PATCH', WEB, { spec: { strategy: { type: 'RollingUpdate' } } });
    await cluster.until(() => conditionsOf(cluster.get(path)).includes('Evicted'), 'it leaves');
    expect(seen()).toMatchObject({ least: 1, most: 2 });
  });

  test('has a volume that only one Node can use; one that many can use is no reason', async () => {
    for (
      const [mode, expected] of [
        ['ReadWriteOnce', 'only one Node can use its PersistentVolumeClaim "data"'],
        ['ReadWriteOncePod', 'VolumeForbidsSurge'],
        ['ReadWriteMany', 'Deployment "web" lowered to 1'],
      ] as const
    ) {
      const cluster = await withDeployment(surgeDeployment(1));
      const { cluster: its } = cluster;
      its.create(CLAIMS, {
        metadata: { name: 'data' },
        spec: { accessModes: [mode], resources: { requests: { storage: '1Gi' } } },
      });
      its.ask('PATCH', WEB, { spec: recordAt(mounting('data'), 'spec') ?? {} });
      await its.time.advance(30_000);
      serve(its, 'wait');
      const path = its.request(its.list(PODS)[0]);
      await its.time.advance(2000);
      expect(messageOf(its, path)).toContain(expected);
    }
  });

  test('RS-16: leaves a Node whose downtime is accepted; one of another Node stays', async () => {
    const { cluster } = await withDeployment(
      surgeDeployment(2, { type: 'Recreate' }),
      2,
    );
    serve(cluster, 'wait');
    const [one, other] = cluster.list(PODS);
    const [node, otherNode] = [one, other].map((pod) => textAt(pod, 'spec', 'nodeName') ?? '');
    expect(node).not.toBe(otherNode);
    cluster.ask('PATCH', `/api/v1/nodes/${node}`, {
      spec: { unschedulable: true },
      metadata: {
        annotations: {
          'cordon.tidegate.dev/disabled': JSON.stringify({ v: 1, ids: [], acceptsDowntime: true }),
        },
      },
    });
    const [path, otherPath] = [cluster.request(one), cluster.request(other)];
    await cluster.until(() => conditionsOf(cluster.get(path)).includes('Evicted'), 'it leaves');
    await cluster.time.advance(300_000);
    expect(active(cluster, otherPath)).toBe(SURGE);
    expect(cluster.list(PODS).map(uidOf)).toContain(uidOf(other));
  });

  test('RS-16: stays where its Node may not be read', async () => {
    const { cluster } = await withDeployment(RECREATE);
    const sent: KubernetesRequest[] = [];
    const fault: Fault = ({ path }) =>
      path.startsWith('/api/v1/nodes/') ? { status: 403 } : undefined;
    const client = clientOn(cluster.cluster.handle, { sent, fault, agent: 'surges' });
    const { time } = cluster;
    const definition = surge({
      client,
      time,
      seed: 1,
      withoutSurge: 'wait',
      acceptsDowntimeOn: () => true,
    });
    onTestFinished(startInterceptor(definition, { client, time, seed: 1 }).stop);
    onTestFinished(definition.stop);
    const path = cluster.request(cluster.list(PODS)[0]);
    await cluster.time.advance(60_000);
    expect(messageOf(cluster, path)).toMatch(/^StrategyForbidsSurge: .+; the pod stays until/);
    expect(sent.some(({ path: asked }) => asked.startsWith('/api/v1/nodes/'))).toBe(true);
  });

  test('is withdrawn by its requester: nothing of it is left', async () => {
    const { cluster } = await withDeployment(RECREATE);
    const blocked = serve(cluster, 'wait');
    const [pod] = cluster.list(PODS);
    cluster.request(pod);
    await cluster.time.advance(5000);
    cluster.request(pod, false);
    await cluster.time.advance(15_000);
    expect(blocked()).toEqual({});
    expect(cluster.list(PODS)).toHaveLength(1);
  });
});

describe('RS-16: a replacement without room', () => {
  /** One pod on node-1 of a Gibibyte, which is cordoned, and another Node of this memory. */
  const crowded = async (memory: string) => {
    const deployment = await withDeployment(surgeDeployment(1), 1);
    const { cluster } = deployment;
    setNode(cluster, 'node-1', { cpu: '4', memory: '1Gi', pods: '110' });
    cluster.ask('PATCH', WEB, {
      spec: { ...recordAt(large(), 'spec'), strategy: { type: 'Recreate', rollingUpdate: null } },
    });
    await cluster.time.advance(30_000);
    cluster.ask('PATCH', WEB, { spec: { strategy: { type: 'RollingUpdate' } } });
    const joinNode = (name: string, size: string): void => {
      const node = cluster.get('/api/v1/nodes/node-1');
      cluster.create('/api/v1/nodes', {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name, labels: recordAt(node, 'metadata', 'labels') ?? {} },
        spec: {},
        status: {
          ...recordAt(node, 'status'),
          allocatable: { cpu: '4', memory: size, pods: '110' },
        },
      });
    };
    joinNode('node-2', memory);
    cluster.ask('PATCH', '/api/v1/nodes/node-1', { spec: { unschedulable: true } });
    return { ...deployment, joinNode };
  };

  test('has its reason by resource; the pod stays until a Node comes, and leaves then', async () => {
    const { cluster, available, replicas, baseline, joinNode } = await crowded('256Mi');
    const blocked = serve(cluster);
    const [pod] = cluster.list(PODS);
    const path = cluster.request(pod);
    await cluster.time.advance(5000);
    expect(messageOf(cluster, path))
      .toContain('NoCapacityMemory: Deployment "web" raised from 1 to 2 replicas');
    expect(blocked()).toEqual({ no_capacity_memory: 1 });
    // The surge is withdrawn after a minute, and repeated.
    await cluster.until(() => baseline() === undefined, 'the surge is withdrawn');
    expect(replicas()).toBe(1);
    await cluster.time.advance(2000);
    expect(messageOf(cluster, path)).toMatch(
      /^NoCapacityMemory: cannot surge "web": no room for its replacement: .+; the pod stays while/,
    );
    await cluster.time.advance(400_000);
    expect(active(cluster, path)).toBe(SURGE);
    expect([available(), cluster.list(PODS).map(uidOf).includes(uidOf(pod))]).toEqual([1, true]);
    joinNode('node-3', '1Gi');
    await cluster.until(() => conditionsOf(cluster.get(path)).includes('Evicted'), 'it leaves');
    await cluster.until(() => baseline() === undefined, 'the replicas are restored');
    expect([replicas(), blocked()]).toEqual([1, {}]);
  });

  test('or that a quota refuses has its reason; the pod leaves when it is lifted', async () => {
    const { cluster, baseline, replicas, seen } = await withDeployment(surgeDeployment(1), 1);
    const unschedulable = (is: boolean) =>
      cluster.ask('PATCH', '/api/v1/nodes/node-1', { spec: { unschedulable: is } });
    unschedulable(true);
    let isLifted = false;
    const blocked = serve(withQuota(cluster, () => isLifted));
    const path = cluster.request(cluster.list(PODS)[0]);
    await cluster.time.advance(5000);
    expect(messageOf(cluster, path)).toBe(
      'ReplacementNotCreated: Deployment "web" raised from 1 to 2 replicas: 1 available; its ' +
        `replacement cannot be created: ${QUOTA}`,
    );
    expect(blocked()).toEqual({ replacement_not_created: 1 });
    await cluster.until(() => baseline() === undefined, 'the surge is withdrawn', 120_000);
    await cluster.time.advance(2000);
    expect(messageOf(cluster, path)).toContain(
      `ReplacementNotCreated: cannot surge "web": its replacement cannot be created: ${QUOTA}; ` +
        'the pod stays while it is tried again, until a replacement runs or downtime is accepted',
    );
    expect([replicas(), seen().least])
      .toEqual([1, 1]);
    isLifted = true;
    unschedulable(false);
    await cluster.until(() => conditionsOf(cluster.get(path)).includes('Evicted'), 'it leaves');
    await cluster.until(() => baseline() === undefined, 'the replicas are restored');
    expect([replicas(), blocked(), seen().least]).toEqual([1, {}, 1]);
  });

  test('lets a pod be evicted whose downtime is accepted', async () => {
    const { cluster } = await crowded('256Mi');
    cluster.ask('PATCH', WEB, ACCEPTED);
    serve(cluster);
    const path = cluster.request(cluster.list(PODS)[0]);
    await cluster.time.advance(90_000);
    expect(messageOf(cluster, path)).toMatch(/^Gave up: NoCapacityMemory: cannot surge "web"/);
    await cluster.until(() => conditionsOf(cluster.get(path)).includes('Evicted'), 'it leaves');
  });

  test('leaves a disabled Node whose downtime is accepted, and stays while it is not', async () => {
    const { cluster, available } = await crowded('256Mi');
    const blocked = serve(cluster);
    const [pod] = cluster.list(PODS);
    const disabled = (more: JsonRecord): void => {
      const key = JSON.stringify({ v: 1, ids: ['disabled@x'], ...more });
      cluster.ask('PATCH', '/api/v1/nodes/node-1', {
        metadata: { annotations: { 'cordon.tidegate.dev/disabled': key } },
      });
    };
    disabled({});
    const path = cluster.request(pod);
    await cluster.time.advance(400_000);
    expect([active(cluster, path), available()]).toEqual([SURGE, 1]);
    expect(cluster.list(PODS).map(uidOf)).toContain(uidOf(pod));
    disabled({ acceptsDowntime: true });
    await cluster.until(() => conditionsOf(cluster.get(path)).includes('Evicted'), 'it leaves');
    expect(messageOf(cluster, path)).toMatch(/^Gave up: NoCapacityMemory: cannot surge "web"/);
    await cluster.time.advance(15_000);
    expect(blocked()).toEqual({});
  });

  test('is named by what most Nodes lack, as a closed set of labels in metrics', () => {
    const reasons = [
      '0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient memory. preemption: ' +
      '0/3 nodes are available: 3 Insufficient cpu.',
      '0/5 nodes are available: 1 Insufficient memory, 4 Insufficient cpu.',
      '0/2 nodes are available: 2 Too many pods.',
      '0/1 nodes are available: 1 Insufficient ephemeral-storage.',
      '0/1 nodes are available: 1 Insufficient nvidia.com/gpu.',
      '0/1 nodes are available: 1 node(s) were unschedulable.',
    ].map(capacityReason);
    expect(reasons).toEqual([
      'NoCapacityMemory',
      'NoCapacityCpu',
      'NoCapacityPods',
      'NoCapacityEphemeralStorage',
      'NoCapacityNvidiaComGpu',
      'NoCapacity',
    ]);
    const counts = surgeReasonCounts(new Map(reasons.map((reason) => [reason, 1])));
    expect(Object.fromEntries([...counts].filter(([, count]) => count > 0))).toEqual({
      no_capacity: 1,
      no_capacity_memory: 1,
      no_capacity_cpu: 1,
      no_capacity_pods: 1,
      no_capacity_ephemeral_storage: 1,
      no_capacity_extended_resource: 1,
    });
  });
});
