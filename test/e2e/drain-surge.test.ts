/** Drains of Deployments that have no pod to spare: the replacement comes first. */
import { expect, it, onTestFinished } from 'vitest';
import { listOrEmptyAt, numberAt, recordAt, textAt } from '../../src/domain/json.ts';
import { type ClusterClient, COLLECTIONS } from '../support/api/cluster-client.ts';
import { evictionRequestPolicies } from '../support/api/impersonated-client.ts';
import { describeWithTestbed, type Testbed } from '../support/api/testbed.ts';
import { evictionsIn, requestsBy } from '../support/drains/audited-drains.ts';
import type { DrainSite } from '../support/drains/drain-site.ts';
import { drainSite } from '../support/drains/drain-test-site.ts';
import { brokenBudgets, podsLeaving, podSteps } from '../support/drains/pod-history.ts';
import { reclaimEach, untilEnded } from '../support/drains/reclaims.ts';
import { budget, deployment, DRAIN_COLLECTIONS } from '../support/drains/workloads.ts';
import { eventually } from '../support/eventually.ts';
import { startOperator } from '../support/processes/operator-process.ts';

const BED = {
  controllers: true,
  scheduler: true,
  kwok: true,
  podDeleteMs: 500,
};
const GRACE_SECONDS = 600;
const HPAS = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers';
const SIGKILLED = 137;
const WEB = `${DRAIN_COLLECTIONS.deployments}/web`;
const REQUESTS = '/apis/lifecycle.tidegate.dev/v1alpha1/namespaces/default/evictionrequests';
const FLAGS = {
  'roles': 'fleet,evictions,interceptors',
  'log-level': 'info',
};
/** A killed leader is succeeded soon. */
const QUICK = {
  ...FLAGS,
  'lease-duration': '3s',
  'lease-renew-deadline': '2s',
  'lease-retry-period': '500ms',
};

/** What must be the same afterwards: the spec as it is written, and the annotations of people. */
const wanted = async (cluster: ClusterClient, path = WEB): Promise<string> => {
  const { body } = await cluster.call('GET', path);
  return JSON.stringify([recordAt(body, 'spec'), recordAt(body, 'metadata', 'annotations')]);
};

const replicasOf = async (cluster: ClusterClient): Promise<unknown> =>
  recordAt((await cluster.call('GET', WEB)).body, 'spec')?.['replicas'];

/** Pods whose deletion cost is the surge's. */
const chosenPods = async (cluster: ClusterClient): Promise<readonly unknown[]> =>
  (await cluster.list(DRAIN_COLLECTIONS.pods)).filter((pod) =>
    recordAt(pod, 'metadata', 'annotations')?.['surge.tidegate.dev/deletion-cost-before'] !==
      undefined
  );

const AUTOSCALER = {
  metadata: { name: 'web' },
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
    minReplicas: 1,
    maxReplicas: 3,
  },
};

/** A Deployment of one replica behind a budget of one, on a machine. */
const singleReplica = async (
  bed: Testbed,
  readyAfter: string,
  { flags = FLAGS, autoscalers = [] }: {
    readonly flags?: Readonly<Record<string, string>>;
    readonly autoscalers?: readonly object[];
  } = {},
): Promise<DrainSite> => {
  const site = await drainSite(bed, {
    machines: { count: 1, prefix: 'single-' },
    objects: () => [
      [DRAIN_COLLECTIONS.deployments, [deployment('web', 1, { readyAfter })]],
      [DRAIN_COLLECTIONS.budgets, [budget('web', { minAvailable: 1 })]],
      [HPAS, autoscalers],
    ],
    pods: 1,
    spares: { count: 1 },
  }, { flags });
  await site.cluster.clear(REQUESTS);
  await bed.apply(await evictionRequestPolicies());
  return site;
};

/** The ends of a drain: nothing was interrupted, and nothing is different. */
const expectNoGap = async (site: DrainSite, before: string): Promise<void> => {
  const { cluster, machines, pods } = site;
  const [node = ''] = machines;
  expect(await untilEnded(cluster, machines)).toEqual({ [node]: 'Drained' });
  await eventually(async () => await wanted(cluster) === before, {
    what: 'the Deployment to be as before',
    timeoutMs: 60_000,
  });
  await eventually(async () => (await cluster.list(DRAIN_COLLECTIONS.pods)).length === 1, {
    what: 'one pod to be left',
  });
  await pods.upTo(await cluster.list(DRAIN_COLLECTIONS.pods));
  // Of a deletion no list tells the revision.
  await eventually(() => pods.deleted().length > 0, { what: 'the end of the old pod' });
  const steps = podSteps(pods.changes());
  // The old pod and one new one: its ReplicaSet removed it, and so made no other for it.
  expect(new Set(steps.flatMap(({ before, after }) => (after ?? before)?.uid ?? [])).size).toBe(2);
  expect(await chosenPods(cluster)).toEqual([]);
  // A probe at every event that the API server has sent.
  expect(brokenBudgets(steps, [{ app: 'web', healthy: 1 }])).toEqual([]);
  expect(podsLeaving(steps, node, ['web'])).toEqual(['web leaves', 'web gone']);
};

const untilRequestDeleted = (cluster: ClusterClient): Promise<unknown> =>
  eventually(async () => (await cluster.list(REQUESTS)).length === 0, {
    what: 'the request to be deleted by its drain',
  });

describeWithTestbed('a Deployment of one replica behind a budget of one', BED, (bed) => {
  it('ER-81: is drained without a failed probe: its replacement is ready first', async () => {
    const site = await singleReplica(bed(), '1s');
    const { cluster, fleet, machines } = site;
    const before = await wanted(cluster);
    const requests = await cluster.history(REQUESTS);
    await reclaimEach(fleet, machines, GRACE_SECONDS);
    await expectNoGap(site, before);
    const [asked] = requests.changes();
    expect(listOrEmptyAt(asked?.object, 'spec', 'requesters').map((one) => textAt(one, 'name')))
      .toEqual(['reclaim.tidegate.dev']);
    // The pod was replaced, not evicted, so the budget was never asked.
    const entries = await requestsBy(bed(), 'tidegate', site.readyMs);
    expect(evictionsIn(entries)).toEqual([]);
    // Its own ReplicaSet has removed it.
    expect(entries.filter(({ verb, resource }) => `${verb} ${resource}` === 'delete pods'))
      .toEqual([]);
    await untilRequestDeleted(cluster);
    await expect.poll(async () =>
      (await cluster.list(COLLECTIONS.events)).map((event) => textAt(event, 'reason'))
    ).toContain('InterceptorActive');
  });

  it('ER-81: is drained so too when the operator is killed in the middle', async () => {
    // For so long there are two replicas.
    const site = await singleReplica(bed(), '12s', { flags: QUICK });
    const { cluster, fleet, machines, operator } = site;
    const before = await wanted(cluster);
    await reclaimEach(fleet, machines, GRACE_SECONDS);
    await eventually(async () => await replicasOf(cluster) === 2, {
      what: 'the replicas to be raised',
      everyMs: 20,
    });
    operator.signal('KILL');
    expect(await operator.exited).toBe(SIGKILLED);
    expect(await wanted(cluster)).not.toBe(before);
    const next = await startOperator({ bed: bed(), shardAddress: fleet.address, flags: QUICK });
    await next.untilReady();
    await expectNoGap(site, before);
  });

  it('RS-10: is drained so too under a HorizontalPodAutoscaler, whose minReplicas are raised', {
    timeout: 300_000,
  }, async () => {
    // Without metrics: it still raises to minReplicas, and never lowers.
    const site = await singleReplica(bed(), '1s', { autoscalers: [AUTOSCALER] });
    const { cluster, fleet, machines } = site;
    onTestFinished(() => cluster.clear(HPAS));
    const before = [await wanted(cluster), await wanted(cluster, `${HPAS}/web`)];
    const scaled = await cluster.history(HPAS);
    await reclaimEach(fleet, machines, GRACE_SECONDS);
    await expectNoGap(site, before[0] ?? '');
    await eventually(async () => await wanted(cluster, `${HPAS}/web`) === before[1], {
      what: 'the autoscaler to be as before',
    });
    await scaled.upTo(await cluster.list(HPAS));
    expect(scaled.changes().map(({ object }) => numberAt(object, 'spec', 'minReplicas')))
      .toContain(2);
  });

  it('ER-81: is drained so too by processes of their own, with the rights of their roles', {
    timeout: 300_000,
  }, async () => {
    const site = await singleReplica(bed(), '1s', {
      flags: { 'roles': 'fleet', 'default-interceptors': 'surge.tidegate.dev' },
    });
    const { cluster, fleet, machines } = site;
    for (const role of ['evictions', 'interceptors']) {
      const process = await startOperator({
        bed: bed(),
        shardAddress: fleet.address,
        flags: {
          roles: role,
          'lease-name': `tidegate-${role}`,
          'lease-namespace': 'tidegate',
          'default-interceptors': 'surge.tidegate.dev',
        },
      });
      await process.untilReady();
    }
    const before = await wanted(cluster);
    await reclaimEach(fleet, machines, GRACE_SECONDS);
    await expectNoGap(site, before);
    // By the process with the role `fleet`, whose right to do so is tried here.
    await untilRequestDeleted(cluster);
  });
});
