/** The surge of Deployments whose replicas an autoscaler owns, on simulated time. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { startInterceptor, surge } from '../../../packages/interceptor/mod.ts';
import { type JsonRecord, numberAt, recordAt, textAt } from '../../../src/domain/json.ts';
import {
  autoscalerOf,
  HPAS,
  SCALED_OBJECTS,
  scaledObjectOf,
  startAutoscalers,
} from '../../support/interceptors/autoscalers.ts';
import type { Fault } from '../../support/interceptors/connections.ts';
import {
  conditionsOf,
  type EmbeddedCluster,
  PODS,
  reportOf,
} from '../../support/interceptors/embedded-cluster.ts';
import {
  surgeDeployment,
  WEB,
  withDeployment,
} from '../../support/interceptors/surged-deployment.ts';

const NAME = 'surge.tidegate.dev';
const BASELINE = 'surge.tidegate.dev/baseline';

const startSurge = (cluster: EmbeddedCluster, fault?: Fault) => {
  const { client } = cluster.client(fault);
  const options = { client, time: cluster.time, seed: 1 };
  const interceptor = surge(options);
  const running = startInterceptor(interceptor, options);
  const stop = (): void => {
    running.stop();
    interceptor.stop();
  };
  onTestFinished(stop);
  return stop;
};

/** The spec as it is written, and the annotations: what must be the same afterwards. */
const written = (object: unknown): string =>
  JSON.stringify([recordAt(object, 'spec'), recordAt(object, 'metadata', 'annotations') ?? {}]);

const AUTOSCALERS: readonly {
  readonly what: string;
  readonly at: string;
  readonly object: JsonRecord;
  readonly field: string;
}[] = [
  {
    what: 'a HorizontalPodAutoscaler',
    at: HPAS,
    object: autoscalerOf('web', { minReplicas: 1, maxReplicas: 3 }),
    field: 'minReplicas',
  },
  {
    what: 'a HorizontalPodAutoscaler without minReplicas',
    at: HPAS,
    object: autoscalerOf('web', { maxReplicas: 3 }),
    field: 'minReplicas',
  },
  {
    what: 'a ScaledObject',
    at: SCALED_OBJECTS,
    object: scaledObjectOf('web', { minReplicaCount: 1, maxReplicaCount: 3 }),
    field: 'minReplicaCount',
  },
  {
    what: 'a ScaledObject without minReplicaCount',
    at: SCALED_OBJECTS,
    object: scaledObjectOf('web'),
    field: 'minReplicaCount',
  },
];

/** A Deployment of one replica under an autoscaler. */
const autoscaled = async (at: string, object: JsonRecord, replicas = 1) => {
  const deployment = await withDeployment(surgeDeployment(replicas));
  const { cluster } = deployment;
  startAutoscalers(cluster);
  cluster.create(at, object);
  await cluster.time.advance(5000);
  const path = `${at}/web`;
  return {
    ...deployment,
    path,
    before: [written(cluster.get(path)), written(cluster.get(WEB))],
    now: () => [written(cluster.get(path)), written(cluster.get(WEB))],
    raised: () => textAt(cluster.get(path), 'metadata', 'annotations', BASELINE),
    least: (field: string) => numberAt(cluster.get(path), 'spec', field),
  };
};

describe('RS-10: the surge of a Deployment under an autoscaler', () => {
  for (const { what, at, object, field } of AUTOSCALERS) {
    test(`raises ${what}, and restores it byte-equal`, async () => {
      const { cluster, cordon, seen, before, now, raised, least } = await autoscaled(at, object);
      startSurge(cluster);
      const [pod] = cluster.list(PODS);
      cordon(textAt(pod, 'spec', 'nodeName') ?? '');
      const path = cluster.request(pod);
      await cluster.until(() => least(field) === 2, 'the autoscaler is raised');
      expect(raised()).toMatch(/^\{"replicas":1,"raisedTo":2,"least":(?:1|null)\}$/);
      await cluster.until(() => conditionsOf(cluster.get(path)).includes('Evicted'), 'it leaves');
      await cluster.until(() => raised() === undefined, 'the autoscaler is restored');
      await cluster.time.advance(60_000);
      expect(now()).toEqual(before);
      expect(seen()).toMatchObject({ least: 1, most: 2 });
      expect([seen().created.size, seen().deleted.size]).toEqual([1, 1]);
    });

    test(`undoes it when the request is canceled, of ${what}`, async () => {
      const { cluster, seen, before, now, raised } = await autoscaled(at, object);
      cluster.ask('PATCH', '/api/v1/nodes/node-1', { spec: { unschedulable: true } });
      cluster.ask('PATCH', '/api/v1/nodes/node-2', { spec: { unschedulable: true } });
      startSurge(cluster);
      const [pod] = cluster.list(PODS);
      cluster.request(pod);
      await cluster.until(() => cluster.list(PODS).length === 2, 'a pod is added');
      cluster.request(pod, false);
      await cluster.until(() => raised() === undefined, 'the autoscaler is restored');
      await cluster.time.advance(60_000);
      expect(now()).toEqual(before);
      expect(seen()).toMatchObject({ least: 1, most: 2 });
    });
  }

  test('raises by the replicas that the load has called for', async () => {
    const { cluster, cordon, seen, before, now, raised, least } = await autoscaled(
      HPAS,
      autoscalerOf('web', { minReplicas: 1, maxReplicas: 9 }),
      4,
    );
    startSurge(cluster);
    const pods = cordon('node-1');
    const paths = pods.map((pod) => cluster.request(pod));
    await cluster.until(() => least('minReplicas') === 5, 'the autoscaler is raised');
    await cluster.until(
      () => paths.every((path) => conditionsOf(cluster.get(path)).includes('Evicted')),
      'they leave',
    );
    await cluster.until(() => raised() === undefined, 'the autoscaler is restored');
    await cluster.time.advance(60_000);
    expect(now()).toEqual(before);
    expect(seen()).toMatchObject({ least: 4, most: 5 });
    expect([seen().created.size, seen().deleted.size]).toEqual([pods.length, pods.length]);
  });

  test('gives up where the most replicas forbid it, and says what to set', async () => {
    const { cluster, seen, before, now } = await autoscaled(
      HPAS,
      autoscalerOf('web', { minReplicas: 1, maxReplicas: 1 }),
    );
    startSurge(cluster);
    const path = cluster.request(cluster.list(PODS)[0]);
    await cluster.time.advance(3000);
    expect(textAt(reportOf(cluster.get(path), NAME), 'message')).toBe(
      'Gave up: cannot surge "web": HorizontalPodAutoscaler "web" allows no more: ' +
        'its maxReplicas is 1, set it to 2 or more',
    );
    expect([seen().most, now()]).toEqual([1, before]);
  });

  test('leaves the fewest replicas that somebody else has set', async () => {
    const { cluster, raised, least } = await autoscaled(
      HPAS,
      autoscalerOf('web', { minReplicas: 1, maxReplicas: 9 }),
    );
    cluster.ask('PATCH', '/api/v1/nodes/node-1', { spec: { unschedulable: true } });
    cluster.ask('PATCH', '/api/v1/nodes/node-2', { spec: { unschedulable: true } });
    startSurge(cluster);
    const path = cluster.request(cluster.list(PODS)[0]);
    await cluster.until(() => least('minReplicas') === 2, 'the autoscaler is raised');
    cluster.ask('PATCH', `${HPAS}/web`, { spec: { minReplicas: 3 } });
    await cluster.until(() => raised() === undefined, 'the annotation is gone');
    expect(least('minReplicas')).toBe(3);
    await cluster.time.advance(3000);
    expect(textAt(reportOf(cluster.get(path), NAME), 'message'))
      .toContain('minReplicas of HorizontalPodAutoscaler "web" was set to 3 by another writer');
  });

  test('restores an autoscaler whose Deployment is gone', async () => {
    const { cluster, path, raised, before } = await autoscaled(
      HPAS,
      autoscalerOf('web', { minReplicas: 1, maxReplicas: 3 }),
    );
    cluster.ask('PATCH', '/api/v1/nodes/node-1', { spec: { unschedulable: true } });
    cluster.ask('PATCH', '/api/v1/nodes/node-2', { spec: { unschedulable: true } });
    const stop = startSurge(cluster);
    cluster.request(cluster.list(PODS)[0]);
    await cluster.until(() => raised() !== undefined, 'the autoscaler is raised');
    stop();
    cluster.ask('DELETE', WEB);
    startSurge(cluster);
    await cluster.until(() => raised() === undefined, 'the autoscaler is restored');
    expect(written(cluster.get(path))).toBe(before[0]);
  });

  test('raises the Deployment while a ScaledObject is paused, unless it holds a number', async () => {
    const paused = (annotations: JsonRecord) => {
      const object = scaledObjectOf('web');
      return { ...object, metadata: { name: 'web', annotations } };
    };
    const free = await withDeployment(surgeDeployment(1));
    startAutoscalers(free.cluster);
    const held = await withDeployment(surgeDeployment(1));
    startAutoscalers(held.cluster);
    free.cluster.create(SCALED_OBJECTS, paused({ 'autoscaling.keda.sh/paused': 'true' }));
    held.cluster.create(SCALED_OBJECTS, paused({ 'autoscaling.keda.sh/paused-replicas': '1' }));
    // KEDA removes the HorizontalPodAutoscaler of a paused one.
    for (const { cluster } of [free, held]) {
      await cluster.time.advance(2000);
      cluster.ask('DELETE', `${HPAS}/keda-hpa-web`);
      startSurge(cluster);
    }
    const leaves = free.cluster.request(free.cluster.list(PODS)[0]);
    await free.cluster.until(
      () => conditionsOf(free.cluster.get(leaves)).includes('Evicted'),
      'it leaves',
    );
    expect(free.seen()).toMatchObject({ least: 1, most: 2 });
    const stays = held.cluster.request(held.cluster.list(PODS)[0]);
    await held.cluster.time.advance(3000);
    expect(textAt(reportOf(held.cluster.get(stays), NAME), 'message'))
      .toContain('is paused at 1 replicas: remove its annotation');
  });
});
