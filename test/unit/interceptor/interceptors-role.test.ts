/** The role interceptors on an embedded cluster, on simulated time. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { listOrEmptyAt, textAt } from '../../../src/domain/json.ts';
import { serveInterceptors } from '../../support/interceptors/connections.ts';
import { conditionsOf } from '../../support/interceptors/embedded-cluster.ts';
import { surgeDeployment, withDeployment } from '../../support/interceptors/surged-deployment.ts';

const IMPERATIVE = 'imperative-eviction.k8s.io';

const targetsOf = (request: unknown): readonly unknown[] =>
  listOrEmptyAt(request, 'status', 'targetInterceptors').map((target) => textAt(target, 'name'));

const serve = (
  { cluster, time }: Awaited<ReturnType<typeof withDeployment>>['cluster'],
): () => Promise<void> => {
  const stop = serveInterceptors(cluster.handle, time);
  onTestFinished(stop);
  return stop;
};

describe('the role interceptors', () => {
  test('replaces a pod before it leaves, under the name that the pod registers', async () => {
    const { cluster, cordon, seen, replicas, pods } = await withDeployment(surgeDeployment(1));
    serve(cluster);
    const [pod] = pods();
    cordon(textAt(pod, 'spec', 'nodeName') ?? '');
    const path = cluster.request(pod);
    await cluster.until(() => conditionsOf(cluster.get(path)).includes('Evicted'), 'it has left');
    await cluster.until(() => replicas() === 1, 'the replicas are restored');
    expect(seen()).toMatchObject({ least: 1, most: 2 });
  });

  test('ER-55: intercepts pods that name no interceptor, before the eviction', async () => {
    const { cluster, cordon, seen, replicas, pods } = await withDeployment(
      surgeDeployment(1, {}, ''),
      2,
      ['surge.tidegate.dev'],
    );
    cluster.create('/apis/policy/v1/namespaces/default/poddisruptionbudgets', {
      metadata: { name: 'web' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
    });
    serve(cluster);
    const [pod] = pods();
    cordon(textAt(pod, 'spec', 'nodeName') ?? '');
    const path = cluster.request(pod);
    await cluster.until(() => conditionsOf(cluster.get(path)).includes('Evicted'), 'it has left');
    await cluster.until(() => replicas() === 1, 'the replicas are restored');
    expect(targetsOf(cluster.get(path))).toEqual(['surge.tidegate.dev', IMPERATIVE]);
    expect(seen()).toMatchObject({ least: 1, most: 2 });
  });

  test('ER-55: evicts a pod that others stay for, unless it names the interceptor', async () => {
    const { cluster, pods } = await withDeployment(
      surgeDeployment(2, {}, ''),
      2,
      ['surge.tidegate.dev'],
    );
    serve(cluster);
    const path = cluster.request(pods()[0]);
    await cluster.until(() => conditionsOf(cluster.get(path)).includes('Evicted'), 'it has left');
    expect(targetsOf(cluster.get(path))).toEqual([IMPERATIVE]);
  });

  test('stopped in the middle, the next leader ends what it began', async () => {
    const { cluster, cordon, seen, replicas, pods } = await withDeployment(surgeDeployment(1));
    const stop = serve(cluster);
    const [pod] = pods();
    cordon(textAt(pod, 'spec', 'nodeName') ?? '');
    const path = cluster.request(pod);
    await cluster.until(() => replicas() === 2, 'the replicas are raised');
    await stop();
    await cluster.time.advance(60_000);
    expect(conditionsOf(cluster.get(path))).toEqual([]);
    serve(cluster);
    await cluster.until(() => conditionsOf(cluster.get(path)).includes('Evicted'), 'it has left');
    await cluster.until(() => replicas() === 1, 'the replicas are restored');
    expect(seen()).toMatchObject({ least: 1, most: 2 });
  });
});
