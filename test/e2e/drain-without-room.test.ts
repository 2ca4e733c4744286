/**
 * Capacity pressure: a replacement without room keeps its pod, and a Node that joins ends that.
 */
import { expect, it } from 'vitest';
import { type JsonRecord, listOrEmptyAt, recordAt, textAt } from '../../src/domain/json.ts';
import {
  type ClusterClient,
  clusterClient,
  COLLECTIONS,
  untilAll,
} from '../support/api/cluster-client.ts';
import { freshCluster } from '../support/api/fresh-cluster.ts';
import { evictionRequestPolicies } from '../support/api/impersonated-client.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { evictionsIn, requestsBy } from '../support/drains/audited-drains.ts';
import { clearWorkloads, createSite } from '../support/drains/drain-site.ts';
import { drainSite } from '../support/drains/drain-test-site.ts';
import { brokenBudgets, podSteps, seenPod } from '../support/drains/pod-history.ts';
import { reclaimEach, spareNodes, untilEnded } from '../support/drains/reclaims.ts';
import { budget, deployment, DRAIN_COLLECTIONS } from '../support/drains/workloads.ts';
import { eventually } from '../support/eventually.ts';
import { startFleet } from '../support/processes/fleet-process.ts';
import { startOperator } from '../support/processes/operator-process.ts';

const BED = { controllers: true, scheduler: true, kwok: true, podDeleteMs: 500 };
const GRACE_SECONDS = 3600;
const WEB = `${DRAIN_COLLECTIONS.deployments}/web`;
const REQUESTS = '/apis/lifecycle.tidegate.dev/v1alpha1/namespaces/default/evictionrequests';
/** More than half of the memory of a Node. */
const MEMORY = '200Gi';
const NODE_GIBIBYTES = 256;

/** A Deployment whose pods fill a Node. */
const large = (name: string): JsonRecord => {
  const plain = recordAt({ plain: deployment(name, 1) }, 'plain') ?? {};
  const spec = recordAt(plain, 'spec') ?? {};
  const template = recordAt(spec, 'template') ?? {};
  const containers = [{
    name: 'main',
    image: 'example.com/main',
    resources: { requests: { memory: MEMORY }, limits: { memory: MEMORY } },
  }];
  return {
    ...plain,
    spec: { ...spec, template: { ...template, spec: { containers } } },
  };
};

const messages = async (cluster: ClusterClient): Promise<readonly string[]> =>
  (await cluster.list(REQUESTS)).flatMap((request) =>
    listOrEmptyAt(request, 'status', 'interceptors').flatMap((one) => textAt(one, 'message') ?? [])
  );

const gibibytes = (pod: unknown): number =>
  listOrEmptyAt(pod, 'spec', 'containers').reduce<number>(
    (sum, one) => sum + Number.parseInt(textAt(one, 'resources', 'requests', 'memory') ?? '0', 10),
    0,
  );

/** The memory that the pods of each Node request. */
const memoryByNode = async (cluster: ClusterClient): Promise<ReadonlyMap<string, number>> => {
  const sums = new Map<string, number>();
  for (const pod of await cluster.list(DRAIN_COLLECTIONS.pods)) {
    const { node } = seenPod(pod);
    if (node !== '') sums.set(node, (sums.get(node) ?? 0) + gibibytes(pod));
  }
  return sums;
};

describeWithTestbed('a drain without room for replacements', BED, (bed) => {
  it(
    'RS-16: Compliance 4: keeps the pod with the reason by resource, and goes on when a Node joins',
    {
      timeout: 400_000,
    },
    async () => {
      const site = await drainSite(bed(), {
        machines: { count: 2, prefix: 'full-' },
        objects: () => [
          [DRAIN_COLLECTIONS.deployments, [large('web'), large('other')]],
          [DRAIN_COLLECTIONS.budgets, [budget('web', { minAvailable: 1 })]],
        ],
        pods: 2,
      }, { flags: { 'roles': 'fleet,evictions,interceptors', 'log-level': 'info' } });
      const { cluster, fleet, machines, pods } = site;
      await cluster.clear(REQUESTS);
      await bed().apply(await evictionRequestPolicies());
      const before = (await cluster.list(DRAIN_COLLECTIONS.pods)).map(seenPod);
      const web = before.find(({ app }) => app === 'web');
      const node = web?.node ?? '';
      expect(machines).toContain(node);
      const spec = JSON.stringify(recordAt((await cluster.call('GET', WEB)).body, 'spec'));
      await reclaimEach(fleet, [node], GRACE_SECONDS);
      await eventually(
        async () => (await messages(cluster)).some((text) => text.startsWith('NoCapacityMemory: ')),
        { what: 'the reason to be reported', timeoutMs: 30_000 },
      );
      // It is withdrawn after a minute, and the pod stays.
      await eventually(
        async () =>
          (await messages(cluster)).some((text) =>
            text.startsWith(
              'NoCapacityMemory: cannot surge "web": no room for its replacement: 0/2',
            )
          ),
        { what: 'the surge to be withdrawn', timeoutMs: 120_000 },
      );
      expect((await cluster.list(DRAIN_COLLECTIONS.pods)).map((pod) => seenPod(pod).uid).toSorted())
        .toEqual(before.map(({ uid }) => uid).toSorted());
      expect(Math.max(...(await memoryByNode(cluster)).values())).toBeLessThanOrEqual(
        NODE_GIBIBYTES,
      );
      await spareNodes(cluster, { count: 1 });
      expect(await untilEnded(cluster, [node])).toEqual({ [node]: 'Drained' });
      await eventually(
        async () =>
          JSON.stringify(recordAt((await cluster.call('GET', WEB)).body, 'spec')) === spec,
        { what: 'the Deployment to be as before' },
      );
      await pods.upTo(await cluster.list(DRAIN_COLLECTIONS.pods));
      expect(brokenBudgets(podSteps(pods.changes()), [{ app: 'web', healthy: 1 }])).toEqual([]);
      expect(Math.max(...(await memoryByNode(cluster)).values())).toBeLessThanOrEqual(
        NODE_GIBIBYTES,
      );
      expect(evictionsIn(await requestsBy(bed(), 'tidegate', site.readyMs))).toEqual([]);
    },
  );

  it('RS-16: goes on with the machine that the fleet sends for the replacement', {
    timeout: 400_000,
  }, async () => {
    await clearWorkloads(await clusterClient(bed()));
    const cluster = await freshCluster(bed());
    await bed().apply(await evictionRequestPolicies());
    await cluster.clear(REQUESTS);
    const fleet = await startFleet({
      seedMachines: 0,
      kubeconfig: bed().kubeconfigFor('fleet'),
      flags: { 'joining-time': '1s', 'draining-time': '1s' },
    });
    const site = await createSite({
      bed: bed(),
      cluster,
      fleet,
      operator: startOperator,
      options: { flags: { 'roles': 'fleet,pods,evictions,interceptors', 'log-level': 'info' } },
    }, {
      machines: { count: 2, prefix: 'full-' },
      objects: () => [
        [DRAIN_COLLECTIONS.deployments, [large('web'), large('other')]],
        [DRAIN_COLLECTIONS.budgets, [budget('web', { minAvailable: 1 })]],
      ],
      pods: 2,
    });
    await untilAll(cluster, COLLECTIONS.requests, {
      what: 'the pods to be demand',
      count: 2,
      each: (one) => textAt(one, 'status', 'phase') === 'Acknowledged',
    });
    await fleet.script('POST', '/machines', {
      count: 1,
      prefix: 'sent-',
      state: 'SPECULATIVE',
      resources: { cpu: '64', memory: `${NODE_GIBIBYTES}Gi`, pods: '110' },
      labels: { 'node.kubernetes.io/instance-type': 'large' },
    });
    const webOn = async (): Promise<string> =>
      (await cluster.list(DRAIN_COLLECTIONS.pods)).map(seenPod)
        .find(({ app, terminating }) => app === 'web' && !terminating)?.node ?? '';
    const node = await webOn();
    await reclaimEach(fleet, [node], GRACE_SECONDS);
    expect(await untilEnded(cluster, [node])).toEqual({ [node]: 'Drained' });
    expect(await webOn()).toMatch(/^sent-/);
    await site.pods.upTo(await cluster.list(DRAIN_COLLECTIONS.pods));
    expect(brokenBudgets(podSteps(site.pods.changes()), [{ app: 'web', healthy: 1 }])).toEqual([]);
  });
});
