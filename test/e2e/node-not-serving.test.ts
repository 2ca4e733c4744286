/**
 * Pods with the readiness gate `tidegate.dev/serving`, under a real control plane with its own
 * EndpointSlices: the test is the kubelet of two Nodes, and one of them is disabled.
 */
import { expect, it, onTestFinished } from 'vitest';
import { runNodeDisable } from '../../src/cli/node/node-change.ts';
import { SERVING_GATE } from '../../src/domain/drain/serving-gate.ts';
import { booleanAt, type JsonRecord, listOrEmptyAt, textAt } from '../../src/domain/json.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { type Change, type ClusterClient, uidOf } from '../support/api/cluster-connection.ts';
import { freshCluster } from '../support/api/fresh-cluster.ts';
import { accountKubeconfig, documentedAccounts } from '../support/api/service-account.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { SERVED_COLLECTIONS } from '../support/drains/served-workloads.ts';
import { DRAIN_COLLECTIONS } from '../support/drains/workloads.ts';
import { eventually } from '../support/eventually.ts';
import { isLeaving, LeasedNodes } from '../support/node-availability/leased-nodes.ts';
import { startOperator } from '../support/processes/operator-process.ts';
import { PLAIN_TERMINAL } from '../support/terminal/plain-terminal.ts';

const ACCOUNT = 'tidegate-availability';
const REPLICAS = 4;
const BED = { controllers: true, scheduler: true };

const TERMINAL = {
  print: () => {},
  report: () => {},
  ...PLAIN_TERMINAL,
};

const web = {
  metadata: { name: 'web' },
  spec: {
    replicas: REPLICAS,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        readinessGates: [{ conditionType: SERVING_GATE }],
        containers: [{ name: 'main', image: 'example.com/main' }],
      },
    },
  },
};
const service = {
  metadata: { name: 'web' },
  spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
};

const nodeOf = (pod: unknown): string => textAt(pod, 'spec', 'nodeName') ?? '';

/** UIDs of the pods that EndpointSlices list as ready. */
const readyIn = (slices: readonly unknown[]): ReadonlySet<string> =>
  new Set(
    slices.flatMap((slice) => listOrEmptyAt(slice, 'endpoints'))
      .filter((endpoint) => booleanAt(endpoint, 'conditions', 'ready') !== false)
      .map((endpoint) => textAt(endpoint, 'targetRef', 'uid') ?? ''),
  );

const versionOf = (object: unknown): number =>
  Number(textAt(object, 'metadata', 'resourceVersion') ?? Number.NaN);

/** The first change of a pod with its deletion timestamp. */
const deletionOf = (changes: readonly Change[], uid: string): JsonRecord | undefined =>
  changes.map(({ object }) => object).find((pod) => uidOf(pod) === uid && isLeaving(pod));

/** The last version at which an EndpointSlice listed the pod as ready, and the next without it. */
const leftSlicesAt = (changes: readonly Change[], uid: string): number => {
  const withPod = changes.filter(({ object }) => readyIn([object]).has(uid)).map(({ object }) =>
    versionOf(object)
  );
  const last = Math.max(...withPod, 0);
  const after = changes.map(({ object }) => versionOf(object)).filter((version) => version > last);
  return Math.min(...after);
};

const site = async (cluster: ClusterClient) => {
  await cluster.create(SERVED_COLLECTIONS.services, [service]);
  onTestFinished(() => cluster.clear(SERVED_COLLECTIONS.services));
  const [slices, pods] = await Promise.all([
    cluster.history(SERVED_COLLECTIONS.slices),
    cluster.history(DRAIN_COLLECTIONS.pods),
  ]);
  await cluster.create(DRAIN_COLLECTIONS.deployments, [web]);
  const untilServing = (isOn: (node: string) => boolean) =>
    eventually(async () => {
      const found = (await cluster.list(DRAIN_COLLECTIONS.pods))
        .filter((pod) => !isLeaving(pod) && isOn(nodeOf(pod)));
      const ready = readyIn(await cluster.list(SERVED_COLLECTIONS.slices));
      return found.length === REPLICAS && found.every((pod) => ready.has(uidOf(pod)))
        ? found
        : undefined;
    }, { what: 'all pods to serve', everyMs: 200, timeoutMs: 60_000 });
  return { slices, pods, untilServing };
};

describeWithTestbed('a drain of pods with the serving gate', BED, (bed) => {
  it(
    'Compliance 5: RS-14: draining pods are not ready and out of the EndpointSlices before they stop',
    {
      timeout: 300_000,
    },
    async () => {
      const cluster = await freshCluster(bed());
      await bed().apply(await documentedAccounts());
      const kubelets = new LeasedNodes(cluster);
      onTestFinished(kubelets.stop);
      await kubelets.join(['worker-1', 'worker-2']);
      const operator = await startOperator({
        bed: bed(),
        shardAddress: '127.0.0.1:1',
        flags: {
          roles: 'availability',
          'kubeconfig': await accountKubeconfig(bed(), cluster, ACCOUNT),
          'lease-name': ACCOUNT,
          'lease-namespace': 'tidegate',
        },
      });
      await operator.untilReady();
      const { slices, pods, untilServing } = await site(cluster);
      const first = await untilServing(() => true);
      const drained = first.filter((pod) => nodeOf(pod) === 'worker-1').map(uidOf);
      expect(drained.length).toBeGreaterThan(0);
      const code = await runNodeDisable({
        node: 'worker-1',
        kubeconfig: bed().kubeconfig,
        context: undefined,
        why: 'test',
        acceptsDowntime: false,
        format: 'text',
      }, { time: realTime, terminal: TERMINAL });
      expect(code).toBe(0);
      await untilServing((node) => node === 'worker-2');
      await slices.upTo(await cluster.list(SERVED_COLLECTIONS.slices));
      await pods.upTo(await cluster.list(DRAIN_COLLECTIONS.pods));
      for (const uid of drained) {
        const deleted = deletionOf(pods.changes(), uid);
        expect(deleted, 'it was evicted').toBeDefined();
        expect(leftSlicesAt(slices.changes(), uid)).toBeLessThan(versionOf(deleted));
      }
      const account = `system:serviceaccount:tidegate:${ACCOUNT}`;
      const audited = (await bed().audit()).filter(({ user }) => user === account);
      expect(audited.filter(({ code: status }) => status === 403)).toEqual([]);
      const reads = audited.filter(({ uri }) => uri.includes('endpointslices'));
      expect(reads.filter(({ verb }) => verb === 'watch')).toEqual([]);
      expect(reads.length).toBeGreaterThan(0);
    },
  );
});
