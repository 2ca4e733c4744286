/**
 * Two replicas of the chart: both are started with the command, the arguments, the variables, the
 * files and the account of the rendered Deployment, and the leader is killed in a drain.
 */
import { beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { numberAt, recordAt, textAt } from '../../src/domain/json.ts';
import { binaries } from '../../tools/testbed/binaries.ts';
import { clusterClient } from '../support/api/cluster-client.ts';
import { accountKubeconfig } from '../support/api/service-account.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { containerProcess } from '../support/chart/container-process.ts';
import {
  CHART,
  helmBy,
  kindAndName,
  objectsIn,
  printed,
  valuesFile,
} from '../support/chart/helm.ts';
import { operatorPod, startContainer, untilProbed } from '../support/chart/release-processes.ts';
import { deadlinesWritten, evictionsIn } from '../support/drains/audited-drains.ts';
import { expectAcks } from '../support/drains/expected-acks.ts';
import { joinMachines, reclaimEach, untilEnded } from '../support/drains/reclaims.ts';
import { untilBudgetsCurrent, untilPodsReady } from '../support/drains/drain-site.ts';
import { budget, DRAIN_COLLECTIONS } from '../support/drains/workloads.ts';
import { eventually } from '../support/eventually.ts';
import { authorities, hasMessage, securedFleet } from '../support/fleet/secured-session.ts';
import { clusterPair } from '../support/processes/key-files.ts';

const NAMESPACE = 'tidegate';
const USER = 'system:serviceaccount:tidegate:tidegate-operator';
const LEASE = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/tidegate-operator`;
const CLUSTER_ID = 'test';
const PODS = 6;
/** Before the leader is killed. */
const EVICTED = 2;
const GRACE_SECONDS = 600;
const LEASE_SECONDS = 15;
/** For a busy machine. */
const PATIENT_MS = 60_000;
const SETTINGS = [
  `settings.clusterId=${CLUSTER_ID}`,
  `settings.leaseDuration=${LEASE_SECONDS}s`,
  'settings.leaseRenewDeadline=10s',
  'settings.leaseRetryPeriod=2s',
  'livePage.enabled=false',
];
const BED = { controllers: true, scheduler: true, kwok: true, podDeleteMs: 200 };

const pod = (number: number, node: string) => ({
  metadata: { name: `web-${number}`, labels: { app: 'web' } },
  spec: { nodeName: node, containers: [{ name: 'c', image: 'example.com/c' }] },
});

describeWithTestbed('two replicas of the chart', BED, (bed) => {
  beforeAll(async () => {
    await bed().apply(
      stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }),
    );
  });

  /** The release with its keys, and a fleet that serves one machine with pods. */
  const site = async () => {
    const cluster = await clusterClient(bed());
    const { fleets, operators } = authorities();
    const fleet = await securedFleet(fleets, operators, {
      kubeconfig: bed().kubeconfigFor('fleet'),
      flags: { 'cycle-interval': '1h' },
    });
    const { certificate, key } = clusterPair(operators, CLUSTER_ID);
    await cluster.create(`/api/v1/namespaces/${NAMESPACE}/secrets`, [{
      metadata: { name: 'shard-keys' },
      stringData: { 'tls.crt': certificate, 'tls.key': key, 'ca.crt': fleets.certificate },
    }]);
    const helm = helmBy((await binaries(() => {})).helm, { folder: bed().directory });
    const values = [...SETTINGS, `settings.shardAddr=localhost:${fleet.ports.shard}`].join(',');
    const manifests = await printed(helm(
      ...['template', 'tidegate', CHART, '--namespace', NAMESPACE, '--skip-tests'],
      ...['-f', valuesFile('files'), '--set', values],
    ));
    const objects = objectsIn(manifests);
    // The pods of the Deployment are processes of this machine.
    const others = objects.filter((one) => textAt(one, 'kind') !== 'Deployment');
    await bed().apply(others.map((one) => stringify(one)).join('---\n'));
    const machines = await joinMachines({ fleet, cluster }, { count: 1, prefix: 'replicas-' });
    const [node = ''] = machines;
    const pods = Array.from({ length: PODS }, (_, number) => pod(number, node));
    await cluster.create(DRAIN_COLLECTIONS.pods, pods);
    await untilPodsReady(cluster, PODS);
    const minAvailable = PODS - EVICTED;
    await cluster.create(DRAIN_COLLECTIONS.budgets, [budget('web', { minAvailable })]);
    await untilBudgetsCurrent(cluster);
    return { cluster, fleet, machines, node, objects };
  };

  test(
    'DR-15: the leader is killed in a drain: nothing is lost, and the other takes over within \
the lease',
    { timeout: 300_000 },
    async () => {
      const { cluster, fleet, machines, node, objects } = await site();
      const deployment = objects.find((one) => kindAndName(one) === 'Deployment/tidegate-operator');
      expect(numberAt(deployment, 'spec', 'replicas')).toBe(2);
      const spec = operatorPod(objects);
      const kubeconfig = await accountKubeconfig(
        bed(),
        cluster,
        textAt(spec, 'serviceAccountName') ?? '',
      );
      const started = async (podName: string) => {
        const container = await containerProcess(spec, {
          cluster,
          namespace: NAMESPACE,
          podName,
          kubeconfig,
        });
        const child = startContainer(podName, container);
        await untilProbed(spec, container, child);
        return child;
      };
      const lease = async () => recordAt((await cluster.call('GET', LEASE)).body, 'spec');
      const holder = async () => textAt(await lease(), 'holderIdentity') ?? '';
      const left = async () => (await cluster.list(DRAIN_COLLECTIONS.pods)).length;

      const leader = await started('tidegate-operator-a');
      await leader.untilLog(hasMessage('Session resynced'), { what: 'that it has a session' });
      await started('tidegate-operator-b');
      const [instructionId] = await reclaimEach(fleet, machines, GRACE_SECONDS);
      await eventually(async () => await left() === PODS - EVICTED, {
        what: 'the drain to be under way',
      });
      expect(await holder()).toMatch(/^tidegate-operator-a_/);

      leader.signal('KILL');
      await leader.exited;
      const last = textAt(await lease(), 'renewTime') ?? '';
      await eventually(async () => (await holder()).startsWith('tidegate-operator-b_'), {
        what: 'the other replica to take over',
        timeoutMs: LEASE_SECONDS * 1000 + PATIENT_MS,
      });
      const tookMs = Date.parse(textAt(await lease(), 'acquireTime') ?? '') - Date.parse(last);
      expect(tookMs).toBeGreaterThanOrEqual(LEASE_SECONDS * 1000);
      expect(tookMs).toBeLessThan(LEASE_SECONDS * 1000 + PATIENT_MS);

      await cluster.patch(`${DRAIN_COLLECTIONS.budgets}/web`, { spec: { minAvailable: 0 } });
      expect(await untilEnded(cluster, machines)).toEqual({ [node]: 'Drained' });
      expect(await left()).toBe(0);
      const requests = (await bed().audit()).filter(({ user }) => user === USER);
      const evictions = evictionsIn(requests).filter(({ code }) => code === 201);
      expect(evictions.map((one) => one.pod).toSorted())
        .toEqual(Array.from({ length: PODS }, (_, number) => `web-${number}`));
      expect(new Set(deadlinesWritten(requests, node)).size).toBe(1);
      // The next operator acknowledges it again.
      await expectAcks(fleet, [instructionId, instructionId]);
      expect(requests.filter(({ isUnauthorized }) => isUnauthorized)).toEqual([]);
    },
  );
});
