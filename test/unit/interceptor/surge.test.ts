/** The surge on an embedded cluster with its Deployments, on simulated time. */
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  type KubernetesClient,
  startInterceptor,
  surge,
} from '../../../packages/interceptor/mod.ts';
import { BASELINE_ANNOTATION } from '../../../packages/interceptor/src/surge/surge-baseline.ts';
import {
  ACCEPT_DOWNTIME,
  COST_ANNOTATION,
} from '../../../packages/interceptor/src/surge/surge-facts.ts';
import { isConditionTrue } from '../../../src/domain/condition.ts';
import { numberAt, recordAt, textAt } from '../../../src/domain/json.ts';
import {
  conditionsOf,
  DEPLOYMENTS,
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

const startOn = (cluster: EmbeddedCluster, client: KubernetesClient) => {
  const options = { client, time: cluster.time, seed: 1 };
  const interceptor = surge(options);
  const running = startInterceptor(interceptor, options);
  const stop = (): void => {
    running.stop();
    interceptor.stop();
  };
  onTestFinished(stop);
  return { ...running, stop };
};

const startSurge = (cluster: EmbeddedCluster, fault?: Fault) => {
  const { client, sent } = cluster.client(fault);
  return { ...startOn(cluster, client), sent };
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
    expect(seen().created.size).toBe(pods.length);
    expect(available()).toBe(8);
    const nodes = cluster.list(PODS).map((pod) => textAt(pod, 'spec', 'nodeName'));
    expect(nodes).not.toContain('node-1');
  });

  test('ER-81: removes the requested pods and no other, and makes one for each', async () => {
    const { cluster, cordon, seen, replicas } = await withDeployment(surgeDeployment(4));
    startSurge(cluster);
    const requested = cordon('node-1').slice(0, 1);
    const paths = requested.map((pod) => cluster.request(pod));
    await cluster.until(() => isEvicted(cluster, paths), 'the pod has left');
    await cluster.until(() => replicas() === 4, 'the replicas are restored');
    await cluster.time.advance(30_000);
    expect([...seen().deleted]).toEqual(requested.map(uidOf));
    expect(seen().created.size).toBe(1);
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
    await cluster.time.advance(30_000);
    expect(seen()).toMatchObject({ least: 1, most: 2 });
    expect(seen().created.size).toBe(1);
  });

  test('RS-10: a pod of another Deployment with its labels is no replacement', async () => {
    const { cluster, seen, replicas } = await withDeployment(surgeDeployment(1));
    const [pod] = cluster.list(PODS);
    const canary = { app: 'web', track: 'canary' };
    cluster.create(DEPLOYMENTS, {
      metadata: { name: 'web-canary' },
      spec: {
        replicas: 1,
        selector: { matchLabels: canary },
        template: {
          metadata: { labels: canary },
          spec: { containers: [{ name: 'c', image: 'i' }] },
        },
      },
    });
    const ready = (isCanary: boolean) =>
      cluster.list(PODS).filter((one) =>
        isConditionTrue(one, 'Ready') &&
        textAt(one, 'metadata', 'deletionTimestamp') === undefined &&
        (textAt(one, 'metadata', 'labels', 'track') === 'canary') === isCanary
      ).length;
    await cluster.until(() => ready(true) === 1, 'the canary is available');
    startSurge(cluster);
    const path = cluster.request(pod);
    await cluster.until(() => seen().deleted.size > 0, 'a pod leaves');
    expect([ready(false), ready(true), [...seen().deleted]]).toEqual([1, 1, [uidOf(pod)]]);
    await cluster.until(() => isEvicted(cluster, [path]), 'the pod has left');
    await cluster.until(() => replicas() === 1, 'the replicas are restored');
    expect([seen().most, seen().deleted.size]).toEqual([2, 1]);
  });

  test('RS-10: keeps what a person has scaled while its own count was refused', async () => {
    const { cluster, seen, replicas, baseline } = await withDeployment(surgeDeployment(1));
    let scaled = 0;
    const { sent } = startSurge(cluster, ({ method, path, body }) => {
      if (method !== 'PATCH' || !path.startsWith(WEB) || scaled > 0) return undefined;
      if (numberAt(body, 'spec', 'replicas') !== 2) return undefined;
      // The write of the surge is on an older version now: 409.
      scaled += 1;
      cluster.ask('PATCH', WEB, { spec: { replicas: 2 } });
      return undefined;
    });
    const path = cluster.request(cluster.list(PODS)[0]);
    await cluster.until(() => isEvicted(cluster, [path]), 'the pod has left');
    await cluster.until(() => baseline() === undefined, 'the replicas are restored');
    await cluster.time.advance(30_000);
    expect([scaled, replicas(), seen().most]).toEqual([1, 2, 3]);
    const counts = sent.filter(({ method, path: of }) => method === 'PATCH' && of.startsWith(WEB))
      .map(({ body }) => numberAt(body, 'spec', 'replicas'));
    expect(counts.slice(0, 2)).toEqual([2, 3]);
    expect(counts).not.toContain(1);
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
    for (let atMost = 5; atMost <= 32; atMost += 3) {
      const { cluster, cordon, seen, replicas, baseline, chosen } = await withDeployment(
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
      await cluster.time.advance(30_000);
      expect([atMost, replicas(), seen().least, seen().most]).toEqual([atMost, 2, 2, 3]);
      expect([atMost, seen().created.size, seen().deleted.size]).toEqual([atMost, 1, 1]);
      expect(chosen()).toEqual([]);
    }
  });

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

  // Nobody held its surges: they lowered the Deployment under that of the next leader.
  test('ER-85: a recovery that lists when its process stops begins nothing', async () => {
    const { cluster, replicas } = await withDeployment(surgeDeployment(2), 1);
    const first = startSurge(cluster);
    const [pod] = cluster.list(PODS);
    cluster.ask('PATCH', '/api/v1/nodes/node-1', { spec: { unschedulable: true } });
    cluster.request(pod);
    await cluster.until(() => replicas() === 3, 'the replicas are raised');
    first.stop();
    const { client, sent } = cluster.client();
    const listed = Promise.withResolvers<void>();
    const request: KubernetesClient['request'] = async (asked) => {
      const answer = await client.request(asked);
      if (asked.path.startsWith('/apis/apps/v1/deployments')) await listed.promise;
      return answer;
    };
    const second = startOn(cluster, { ...client, request });
    await cluster.until(() => sent.length > 0, 'it lists the Deployments');
    second.stop();
    const counts = new Set<number | undefined>();
    onTestFinished(cluster.cluster.store.subscribe(({ resource, object }) => {
      if (resource === 'deployments.apps') counts.add(numberAt(object, 'spec', 'replicas'));
    }));
    startSurge(cluster);
    listed.resolve();
    // After a minute without room the surge itself lowers it.
    await cluster.time.advance(50_000);
    expect([...counts, replicas()]).not.toContain(2);
    await cluster.time.advance(10_000);
    expect(sent.filter(({ path }) => path.includes('/namespaces/'))).toEqual([]);
  });

  test('RS-16: without room it gives up after a minute where downtime is accepted', async () => {
    const { cluster, replicas, seen } = await withDeployment(surgeDeployment(2), 1);
    cluster.ask('PATCH', WEB, { metadata: { annotations: { [ACCEPT_DOWNTIME]: 'true' } } });
    startSurge(cluster);
    cluster.ask('PATCH', '/api/v1/nodes/node-1', { spec: { unschedulable: true } });
    const [pod] = cluster.list(PODS);
    const path = cluster.request(pod);
    await cluster.until(() => replicas() === 3, 'the replicas are raised');
    await cluster.time.advance(75_000);
    expect(textAt(reportOf(cluster.get(path), NAME), 'message'))
      .toMatch(/^Gave up: NoCapacity: cannot surge "web": no room for its replacement: .+/);
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

  test('deletes the pod when its ReplicaSet has removed another, and lowers no more', async () => {
    const { cluster, seen, replicas, baseline } = await withDeployment(surgeDeployment(1));
    const [pod] = cluster.list(PODS);
    const annotations = { [COST_ANNOTATION]: '5' };
    // Somebody else sets the cost of the chosen pod before its ReplicaSet is lowered.
    startSurge(cluster, ({ method, path, body }) => {
      if (method !== 'PATCH' || !path.startsWith(WEB)) return undefined;
      if (numberAt(body, 'spec', 'replicas') === 1) {
        cluster.ask('PATCH', `${PODS}/${nameOf(pod)}`, { metadata: { annotations } });
      }
      return undefined;
    });
    const path = cluster.request(pod);
    const unaimed = '{"replicas":1,"raisedTo":2,"isUnaimed":true}';
    await cluster.until(() => baseline() === unaimed, 'the replicas are raised again');
    expect(isEvicted(cluster, [path])).toBe(false);
    await cluster.until(() => isEvicted(cluster, [path]), 'the pod has left');
    await cluster.until(() => baseline() === undefined, 'the replicas are restored');
    expect([replicas(), seen().least, seen().most]).toEqual([1, 1, 2]);
  });

  test('gives a pod that stays the deletion cost that it had', async () => {
    const { cluster, replicas, chosen, pods, seen, baseline } = await withDeployment(
      surgeDeployment(1),
    );
    const [pod] = pods();
    const annotations = { [COST_ANNOTATION]: '7' };
    const podPath = `${PODS}/${nameOf(pod)}`;
    cluster.ask('PATCH', podPath, { metadata: { annotations } });
    // Its process is cut off when it has chosen the pod.
    const first = startSurge(cluster, () => chosen().length > 0 ? 'cut' : undefined);
    cluster.request(pod);
    await cluster.until(() => chosen().length > 0, 'the pod is chosen');
    expect(replicas()).toBe(2);
    first.stop();
    cluster.request(pod, false);
    startSurge(cluster);
    await cluster.until(() => baseline() === undefined, 'the replicas are restored');
    await cluster.time.advance(30_000);
    expect([chosen(), replicas(), seen().created.size]).toEqual([[], 1, 1]);
    expect(recordAt(cluster.get(podPath), 'metadata', 'annotations')).toMatchObject(annotations);
    expect(seen().deleted.has(uidOf(pod))).toBe(false);
  });

  test('without the right to change pods it removes the pod by the plain way', async () => {
    const { cluster, seen, replicas, baseline } = await withDeployment(surgeDeployment(1));
    startSurge(
      cluster,
      ({ method, path }) =>
        method === 'PATCH' && path.startsWith(PODS) ? { status: 403 } : undefined,
    );
    const path = cluster.request(cluster.list(PODS)[0]);
    await cluster.until(() => isEvicted(cluster, [path]), 'the pod has left');
    await cluster.until(() => baseline() === undefined, 'the replicas are restored');
    expect([replicas(), seen().least, seen().most]).toEqual([1, 1, 2]);
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
    startOn(cluster, { ...client, request });
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

  test('reads the owners of a pod again when the API server did not answer', async () => {
    // A single failed request made it give up: the pod was evicted without its replacement.
    const { cluster, cordon, seen, replicas } = await withDeployment(surgeDeployment(1));
    const faults = [{ status: 503 }, 'cut', { status: 429 }] as const;
    let failed = 0;
    startSurge(
      cluster,
      ({ method, path }) =>
        method === 'GET' && path.includes('/replicasets/') ? faults[failed++] : undefined,
    );
    const [pod] = cluster.list(PODS);
    cordon(textAt(pod, 'spec', 'nodeName') ?? '');
    const path = cluster.request(pod);
    await cluster.until(() => isEvicted(cluster, [path]), 'the pod has left');
    await cluster.until(() => replicas() === 1, 'the replicas are restored');
    expect(failed).toBeGreaterThan(faults.length);
    expect(seen()).toMatchObject({ least: 1, most: 2 });
  });

  test('reads the owners of a pod no more when its request is canceled', async () => {
    const { cluster } = await withDeployment(surgeDeployment(1));
    const { sent } = startSurge(
      cluster,
      ({ path }) => path.includes('/replicasets/') ? { status: 503 } : undefined,
    );
    const [pod] = cluster.list(PODS);
    const path = cluster.request(pod);
    await cluster.time.advance(20_000);
    expect(reportOf(cluster.get(path), NAME)).toMatchObject({
      message: expect.stringMatching(/^Cannot GET .+\/replicasets\/.+: planted$/),
    });
    cluster.request(pod, false);
    await cluster.time.advance(5000);
    const before = sent.length;
    await cluster.time.advance(120_000);
    expect(sent.slice(before).map((one) => one.path)).toEqual([]);
    expect(conditionsOf(cluster.get(path))).toEqual(['Canceled']);
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
