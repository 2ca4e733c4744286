/** The surge on an embedded cluster with its Deployments, on simulated time. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { startInterceptor, surge } from '../../../packages/interceptor/mod.ts';
import { BASELINE_ANNOTATION } from '../../../packages/interceptor/src/surge/surge-facts.ts';
import { textAt } from '../../../src/domain/json.ts';
import {
  conditionsOf,
  type EmbeddedCluster,
  embeddedCluster,
  PODS,
  reportOf,
} from '../../support/interceptors/embedded-cluster.ts';
import {
  surgeDeployment,
  uidOf,
  WEB,
  withDeployment,
} from '../../support/interceptors/surged-deployment.ts';
import type { Fault } from '../../support/interceptors/connections.ts';

const NAME = 'surge.tidegate.dev';

const nameOf = (pod: unknown): string => textAt(pod, 'metadata', 'name') ?? '';

const startSurge = (cluster: EmbeddedCluster, fault?: Fault) => {
  const { client, sent } = cluster.client(fault);
  const options = { client, time: cluster.time, seed: 1 };
  const interceptor = surge(options);
  const running = startInterceptor(interceptor, options);
  const stop = (): void => {
    running.stop();
    interceptor.stop();
  };
  onTestFinished(stop);
  return { ...running, sent, stop };
};

const isEvicted = (cluster: EmbeddedCluster, paths: readonly string[]): boolean =>
  paths.every((path) => conditionsOf(cluster.get(path)).includes('Evicted'));

describe('the surge', () => {
  test('ER-81: replaces the pods of a cordoned node in waves, and never too many', async () => {
    const { cluster, cordon, seen, replicas, baseline, available } = await withDeployment(
      surgeDeployment(8, { rollingUpdate: { maxSurge: 2, maxUnavailable: 0 } }),
    );
    startSurge(cluster);
    const pods = cordon('node-1');
    expect(pods.length).toBeGreaterThan(2);
    const paths = pods.map((pod) => cluster.request(pod));
    await cluster.until(() => isEvicted(cluster, paths), 'all pods have left');
    await cluster.until(() => baseline() === undefined, 'the replicas are restored');
    expect(replicas()).toBe(8);
    expect(seen()).toMatchObject({ least: 8, most: 10 });
    await cluster.time.advance(30_000);
    expect(available()).toBe(8);
    const nodes = cluster.list(PODS).map((pod) => textAt(pod, 'spec', 'nodeName'));
    expect(nodes).not.toContain('node-1');
  });

  test('ER-81: deletes the requested pods, and of the others only surplus ones', async () => {
    const { cluster, cordon, seen, replicas } = await withDeployment(surgeDeployment(4));
    startSurge(cluster);
    const before = cluster.list(PODS);
    const requested = cordon('node-1').slice(0, 1);
    const paths = requested.map((pod) => cluster.request(pod));
    await cluster.until(() => isEvicted(cluster, paths), 'the pod has left');
    await cluster.until(() => replicas() === 4, 'the replicas are restored');
    await cluster.time.advance(30_000);
    const kept = before.map(uidOf).filter((uid) => !requested.map(uidOf).includes(uid));
    expect(kept.filter((uid) => seen().deleted.has(uid))).toEqual([]);
    expect(reportOf(cluster.get(paths[0] ?? ''), NAME)).toMatchObject({
      message: `Pod "${nameOf(requested[0])}" left after its replacement was available`,
      completionTime: expect.any(String),
    });
  });

  test('drains a Deployment of one replica behind a budget of one', async () => {
    const { cluster, cordon, seen, replicas } = await withDeployment(surgeDeployment(1));
    cluster.create('/apis/policy/v1/namespaces/default/poddisruptionbudgets', {
      metadata: { name: 'web' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
    });
    startSurge(cluster);
    const [pod] = cluster.list(PODS);
    cordon(textAt(pod, 'spec', 'nodeName') ?? '');
    const path = cluster.request(pod);
    await cluster.until(() => isEvicted(cluster, [path]), 'the pod has left');
    await cluster.until(() => replicas() === 1, 'the replicas are restored');
    expect(seen()).toMatchObject({ least: 1, most: 2 });
  });

  test('restores the replicas when the request is canceled', async () => {
    const { cluster, replicas, seen, baseline } = await withDeployment(surgeDeployment(2), 1);
    startSurge(cluster);
    const [pod] = cluster.list(PODS);
    cluster.ask('PATCH', '/api/v1/nodes/node-1', { spec: { unschedulable: true } });
    cluster.request(pod);
    await cluster.until(() => replicas() === 3, 'the replicas are raised');
    expect(baseline()).toBe('{"replicas":2,"raisedTo":3}');
    cluster.request(pod, false);
    await cluster.until(() => replicas() === 2, 'the replicas are restored');
    await cluster.time.advance(60_000);
    expect([baseline(), seen().least]).toEqual([undefined, 2]);
    expect(cluster.list(PODS).map(uidOf)).toContain(uidOf(pod));
  });

  test('killed anywhere, the next process ends what it began', async () => {
    // After each number of requests that it has sent.
    for (let atMost = 5; atMost <= 26; atMost += 3) {
      const { cluster, cordon, seen, replicas, baseline } = await withDeployment(
        surgeDeployment(2),
      );
      let left = atMost;
      const first = startSurge(cluster, () => left-- > 0 ? undefined : 'cut');
      const [pod] = cordon('node-1');
      const path = cluster.request(pod);
      await cluster.until(() => left <= 0 || isEvicted(cluster, [path]), 'it is cut off');
      first.stop();
      startSurge(cluster);
      await cluster.until(() => isEvicted(cluster, [path]), `the pod leaves (${atMost})`);
      await cluster.until(() => baseline() === undefined, `it is restored (${atMost})`);
      expect([atMost, replicas(), seen().least, seen().most]).toEqual([atMost, 2, 2, 3]);
    }
  }, 60_000);

  test('killed before its request was canceled, the next process restores', async () => {
    const { cluster, replicas } = await withDeployment(surgeDeployment(2), 1);
    const first = startSurge(cluster);
    const [pod] = cluster.list(PODS);
    cluster.ask('PATCH', '/api/v1/nodes/node-1', { spec: { unschedulable: true } });
    cluster.request(pod);
    await cluster.until(() => replicas() === 3, 'the replicas are raised');
    first.stop();
    cluster.request(pod, false);
    await cluster.time.advance(5000);
    startSurge(cluster);
    await cluster.until(() => replicas() === 2, 'the replicas are restored');
  });

  test('without room it gives up after a minute with the words of the scheduler', async () => {
    const { cluster, replicas, seen } = await withDeployment(surgeDeployment(2), 1);
    startSurge(cluster);
    cluster.ask('PATCH', '/api/v1/nodes/node-1', { spec: { unschedulable: true } });
    const [pod] = cluster.list(PODS);
    const path = cluster.request(pod);
    await cluster.until(() => replicas() === 3, 'the replicas are raised');
    await cluster.time.advance(75_000);
    expect(textAt(reportOf(cluster.get(path), NAME), 'message'))
      .toMatch(/^Gave up: cannot surge "web": no room for its replacement: .+/);
    expect(replicas()).toBe(2);
    expect(seen().most).toBe(3);
  });

  test('leaves replicas that somebody else has set, and gives up', async () => {
    const { cluster, replicas, baseline } = await withDeployment(surgeDeployment(2), 1);
    startSurge(cluster);
    cluster.ask('PATCH', '/api/v1/nodes/node-1', { spec: { unschedulable: true } });
    const [pod] = cluster.list(PODS);
    const path = cluster.request(pod);
    await cluster.until(() => replicas() === 3, 'the replicas are raised');
    cluster.ask('PATCH', WEB, { spec: { replicas: 5 } });
    await cluster.until(() => baseline() === undefined, 'the annotation is gone');
    await cluster.time.advance(5000);
    expect(replicas()).toBe(5);
    expect(textAt(reportOf(cluster.get(path), NAME), 'message')).toContain('set to 5');
  });

  test('undoes a surge whose annotation is not kept', async () => {
    const { cluster, replicas, seen } = await withDeployment(surgeDeployment(2));
    // Whoever strips unknown annotations does it in the same write.
    const { client } = cluster.client();
    const request: typeof client.request = ({ body, ...rest }) =>
      client.request({
        ...rest,
        ...(body === undefined
          ? {}
          : { body: JSON.parse(JSON.stringify(body).replace(BASELINE_ANNOTATION, 'stripped')) }),
      });
    const options = { client: { ...client, request }, time: cluster.time, seed: 1 };
    const interceptor = surge(options);
    const running = startInterceptor(interceptor, options);
    onTestFinished(running.stop);
    const path = cluster.request(cluster.list(PODS)[0]);
    await cluster.time.advance(20_000);
    expect([replicas(), seen().most]).toEqual([2, 3]);
    expect(textAt(reportOf(cluster.get(path), NAME), 'message')).toContain('annotation');
  });

  test('gives up at once where no surge is possible', async () => {
    for (
      const strategy of [
        { type: 'Recreate' },
        { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
      ]
    ) {
      const { cluster, seen } = await withDeployment(surgeDeployment(2, strategy));
      startSurge(cluster);
      const path = cluster.request(cluster.list(PODS)[0]);
      await cluster.time.advance(3000);
      expect(textAt(reportOf(cluster.get(path), NAME), 'message'))
        .toContain('its strategy allows no surge');
      expect(seen().most).toBe(2);
    }
  });

  test('gives up on a pod without a Deployment', async () => {
    const cluster = await embeddedCluster();
    startSurge(cluster);
    cluster.create(PODS, {
      metadata: {
        name: 'alone',
        annotations: { 'lifecycle.tidegate.dev/eviction-interceptors': NAME },
      },
      spec: { nodeName: 'node-1', containers: [{ name: 'c', image: 'i' }] },
    });
    const path = cluster.request(cluster.get(`${PODS}/alone`));
    await cluster.time.advance(3000);
    expect(textAt(reportOf(cluster.get(path), NAME), 'message'))
      .toBe('Gave up: Pod "alone" belongs to no Deployment');
  });
});
