/**
 * Evictions on a real API server with the real disruption controller: the audit log counts every
 * call. The test decides which pods to evict, without cordons and deadlines.
 */
import { Layer, ManagedRuntime } from 'effect';
import { expect, it, onTestFinished } from 'vitest';
import { startInformer } from '../../src/actors/informers/informer.ts';
import { clockLayer } from '../../src/effects/effect-clock.ts';
import { startPodEvictions } from '../../src/actors/pod-evictions/pod-evictions.ts';
import { makeActorEnvironment } from '../../src/actors/actor-environment.ts';
import { silentTelemetry } from '../../src/api/telemetry.ts';
import { projectNode } from '../../src/domain/cluster-node.ts';
import { projectBudget } from '../../src/domain/drain/budget.ts';
import { podProjection } from '../../src/domain/drain/pod.ts';
import { numberAt, textAt } from '../../src/domain/json.ts';
import { servingGatesLayer } from '../../src/effects/serving-gates.ts';
import { podEvictionApiLayer } from '../../src/effects/pod-eviction-api.ts';
import { kubeConnection } from '../../src/effects/kube-connection.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { writeBudget } from '../../src/effects/write-budget.ts';
import { makeWriteGate, WriteGate } from '../../src/effects/write-gate.ts';
import { type ClusterClient, clusterClient, nameOf } from '../support/api/cluster-client.ts';
import { fileSource } from '../support/api/live-environment.ts';
import { describeWithTestbed, type Testbed } from '../support/api/testbed.ts';
import { eventually } from '../support/eventually.ts';

const TIMEOUT_MS = 600_000;
/** Of each application on each node, where several share its budget. */
const PODS_AT_HOME = 2;
const GRACE_MS = 600_000;
const NODES = '/api/v1/nodes';
const telemetry = silentTelemetry;

const seconds = (count: number) => ({ timeoutMs: count * 1000 });

/** Evictions as in an operator; the test names the nodes. */
const evictor = async (bed: Testbed) => {
  const gate = makeWriteGate(realTime);
  gate.openUntil(Number.POSITIVE_INFINITY);
  const source = fileSource(bed.kubeconfigFor('tidegate'));
  const connection = Layer.orDie(kubeConnection({ source, version: 'test', telemetry }));
  const servers = Layer.merge(connection, Layer.succeed(WriteGate, gate));
  const writes = Layer.provideMerge(writeBudget({ qps: 200, burst: 400, telemetry }), servers);
  const runtime = ManagedRuntime.make(
    Layer.provideMerge(Layer.merge(podEvictionApiLayer(telemetry), servingGatesLayer), writes).pipe(
      Layer.provideMerge(clockLayer(realTime)),
    ),
  );
  const environment = makeActorEnvironment({ time: realTime, runtime, telemetry, firstSeed: 1 });
  const pods = startInformer(environment, {
    id: 'pods',
    path: '/api/v1/pods',
    query: { fieldSelector: 'spec.nodeName!=' },
    project: podProjection(),
  });
  const budgets = startInformer(environment, {
    id: 'poddisruptionbudgets',
    path: '/apis/policy/v1/poddisruptionbudgets',
    project: projectBudget,
  });
  const nodes = startInformer(environment, { id: 'nodes', path: NODES, project: projectNode });
  const registry = startPodEvictions(environment, { pods, budgets, nodes });
  onTestFinished(async () => {
    await registry.stop();
    for (const reflector of [pods, budgets, nodes]) reflector.stop();
    await runtime.dispose();
  });
  await Promise.all([pods.whenSynced, budgets.whenSynced, nodes.whenSynced]);
  const on = (node: string) => [...pods.values()].filter((pod) => pod.node === node);
  return {
    left: (node: string): number => on(node).length,
    drain: (node: string): void => {
      const now = realTime.monotonic();
      for (const pod of on(node)) {
        registry.want(pod, {
          owner: 'reclaim',
          node,
          deadlineMonotonicMs: now + GRACE_MS,
          drainSinceMs: now,
          podsLeft: () => on(node).length,
        });
      }
    },
  };
};

/** Pods of an application that are alike; `home` is the node where they are at first. */
interface Crew {
  readonly app: string;
  readonly replicas: number;
  readonly home: string;
}

/** Nodes that may be home to the pods of `homes`: a refuge may be home to all. */
const homeTo = (homes: readonly string[]) =>
  Object.fromEntries(homes.map((home) => [`home-${home}`, '']));

const deploymentOf = (namespace: string, { app, replicas, home }: Crew) => {
  const labels = { app, home };
  const template = {
    metadata: { labels },
    spec: {
      containers: [{ name: 'c', image: 'none' }],
      terminationGracePeriodSeconds: 1,
      nodeSelector: homeTo([home]),
    },
  };
  const metadata = { name: `${app}-${home}`, namespace };
  return { metadata, spec: { replicas, selector: { matchLabels: labels }, template } };
};

/** A namespace with Deployments whose pods run on `nodes` alone, and a refuge beside them. */
const town = async (
  cluster: ClusterClient,
  plan: {
    readonly namespace: string;
    readonly nodes: readonly string[];
    readonly crews: readonly Crew[];
    readonly budget?: object;
  },
) => {
  const { namespace, nodes, crews, budget } = plan;
  await cluster.create('/api/v1/namespaces', [{ metadata: { name: namespace } }]);
  await cluster.create(
    NODES,
    nodes.map((name) => ({ metadata: { name, labels: homeTo([name]) } })),
  );
  await cluster.create(
    `/apis/apps/v1/namespaces/${namespace}/deployments`,
    crews.map((crew) => deploymentOf(namespace, crew)),
  );
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const wanted = crews.reduce((sum, { replicas }) => sum + replicas, 0);
  await eventually(async () => {
    const found = await cluster.list(pods);
    const running = found.filter((pod) => textAt(pod, 'status', 'phase') === 'Running');
    return running.length === wanted;
  }, { what: `${wanted} pods to run`, ...seconds(240) });
  if (budget !== undefined) {
    const budgets = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`;
    await cluster.create(
      budgets,
      [...new Set(crews.map(({ app }) => app))].map((name) => ({
        metadata: { name },
        spec: { selector: { matchLabels: { app: name } }, ...budget },
      })),
    );
    await eventually(async () => {
      const current = await cluster.list(budgets);
      return current.every((one) => (numberAt(one, 'status', 'disruptionsAllowed') ?? 0) > 0);
    }, { what: 'the budgets to open', ...seconds(240) });
  }
  for (const name of nodes) {
    await cluster.patch(`${NODES}/${name}`, { spec: { unschedulable: true } });
  }
  await cluster.create(NODES, [
    { metadata: { name: `${namespace}-refuge`, labels: homeTo(nodes) } },
  ]);
};

describeWithTestbed('evictions under the real disruption controller', {
  controllers: true,
  scheduler: true,
  kwok: true,
  podReadyMs: 300,
  podDeleteMs: 300,
}, (bed) => {
  /** What was sent for pods of a namespace: one line each. */
  const calls = async (namespace: string) =>
    (await bed().audit()).filter((entry) =>
      entry.user === 'tidegate' && entry.namespace === namespace
    );
  const evicted = async (namespace: string) =>
    (await calls(namespace)).filter(({ subresource }) => subresource === 'eviction');
  const prune = async (cluster: ClusterClient, namespace: string) => {
    await cluster.call('DELETE', `/apis/apps/v1/namespaces/${namespace}/deployments`);
    for (const node of await cluster.list(NODES)) {
      if (nameOf(node).startsWith(namespace)) {
        await cluster.call('DELETE', `${NODES}/${nameOf(node)}`);
      }
    }
  };

  it('DR-50: a node with 100 pods and no budget costs 100 calls, each with its UID', async () => {
    const cluster = await clusterClient(bed());
    const node = 'floor-1';
    await town(cluster, {
      namespace: 'floor',
      nodes: [node],
      crews: [{ app: 'web', replicas: 100, home: node }],
    });
    const { drain, left } = await evictor(bed());
    expect(left(node)).toBe(100);
    drain(node);
    await eventually(() => left(node) === 0, { what: 'no pod left', ...seconds(240) });
    const sent = await evicted('floor');
    expect(sent.map(({ code }) => code)).toEqual(Array.from({ length: 100 }, () => 201));
    const uids = new Set(
      sent.map(({ requestObject }) =>
        textAt(requestObject, 'deleteOptions', 'preconditions', 'uid')
      ),
    );
    expect(uids.size).toBe(100);
    expect((await calls('floor')).filter(({ verb }) => verb !== 'create')).toEqual([]);
    await prune(cluster, 'floor');
  }, TIMEOUT_MS);

  it('DR-51: twenty pods behind a budget of one slot cost twenty calls', async () => {
    const cluster = await clusterClient(bed());
    const node = 'tight-1';
    const budget = { maxUnavailable: 1 };
    const crews = [{ app: 'web', replicas: 20, home: node }];
    await town(cluster, { namespace: 'tight', nodes: [node], crews, budget });
    const { drain, left } = await evictor(bed());
    expect(left(node)).toBe(20);
    drain(node);
    await eventually(() => left(node) === 0, { what: 'no pod left', ...seconds(240) });
    const sent = await evicted('tight');
    expect(sent.map(({ code }) => code)).toEqual(Array.from({ length: 20 }, () => 201));
    await prune(cluster, 'tight');
  }, TIMEOUT_MS);

  it(
    'DR-34: nodes behind shared budgets empty one after another, and no call is refused',
    async () => {
      const cluster = await clusterClient(bed());
      const nodes = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `many-${name}`);
      const apps = ['one', 'two', 'three', 'four', 'five', 'six'];
      const crews = nodes.flatMap((home) =>
        apps.map((app) => ({ app, replicas: PODS_AT_HOME, home }))
      );
      const budget = { maxUnavailable: '25%' };
      await town(cluster, { namespace: 'many', nodes, crews, budget });
      const { drain, left } = await evictor(bed());
      expect(nodes.map(left)).toEqual(nodes.map(() => apps.length * PODS_AT_HOME));
      for (const node of nodes) drain(node);
      await eventually(() => nodes.every((node) => left(node) === 0), {
        what: 'every node to be empty',
        ...seconds(240),
      });
      // The audit log has them in the order of their answers.
      const sent = (await evicted('many')).toSorted((left, right) =>
        left.receivedMs - right.receivedMs
      );
      expect(sent.filter(({ code }) => code !== 201)).toEqual([]);
      expect(sent).toHaveLength(72);
      // The slots of each budget go from node to node, but for calls that overtake one another.
      for (const app of apps) {
        const homes = sent.filter(({ name }) => name.startsWith(`${app}-`))
          .map(({ name }) => nodes.findIndex((home) => name.startsWith(`${app}-${home}-`)));
        const offTurn = homes.map((home, call) => Math.abs(home - Math.floor(call / PODS_AT_HOME)));
        expect(Math.max(...offTurn), `${app}: ${homes.join(' ')}`).toBeLessThanOrEqual(1);
      }
      await prune(cluster, 'many');
    },
    TIMEOUT_MS,
  );
});
