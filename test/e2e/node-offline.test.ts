/**
 * The role availability as a process of its own, with the rights of docs/reference/rbac.yaml, under
 * a real control plane: the test is the kubelet of two Nodes, and one falls silent.
 */
import { expect, it, onTestFinished } from 'vitest';
import { listOrEmptyAt, textAt } from '../../src/domain/json.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { COLLECTIONS, nameOf } from '../support/api/cluster-client.ts';
import { freshCluster } from '../support/api/fresh-cluster.ts';
import { accountKubeconfig, documentedAccounts } from '../support/api/service-account.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { barePod, deployment, DRAIN_COLLECTIONS } from '../support/drains/workloads.ts';
import { eventually } from '../support/eventually.ts';
import { must, StandInKubelet } from '../support/node-availability/stand-in-kubelet.ts';
import { startOperator } from '../support/processes/operator-process.ts';

const LOST_MS_MAX = 75_000;
const BACK_MS_MAX = 5000;
const REPLICAS = 4;
const ACCOUNT = 'tidegate-availability';

const stateOf = (node: unknown): string =>
  textAt(
    listOrEmptyAt(node, 'status', 'conditions')
      .find((one) => textAt(one, 'type') === 'tidegate.dev/Availability'),
    'reason',
  ) ?? '';

const isLeaving = (pod: unknown): boolean =>
  textAt(pod, 'metadata', 'deletionTimestamp') !== undefined;

/** As kube-controller-manager has it by default. */
const NODE_GRACE = '50s';
const BED = { controllers: true, nodeGrace: NODE_GRACE, scheduler: true, print: () => {} };

describeWithTestbed('the role availability', BED, (bed) => {
  it('RS-20: stateless pods of a silent node are placed elsewhere within 75 s; it comes back', {
    timeout: 300_000,
  }, async () => {
    const cluster = await freshCluster(bed());
    await bed().apply(await documentedAccounts());
    const kubelets = [
      new StandInKubelet(cluster, 'worker-1'),
      new StandInKubelet(cluster, 'worker-2'),
    ] as const;
    const [, lost] = kubelets;
    onTestFinished(() => kubelets.forEach(({ stop }) => stop()));
    for (const kubelet of kubelets) await kubelet.join();
    await cluster.create(DRAIN_COLLECTIONS.deployments, [deployment('web', REPLICAS)]);
    await cluster.create(DRAIN_COLLECTIONS.pods, [barePod('job', 'worker-2')]);
    const webOn = async (node: string) =>
      (await cluster.list(DRAIN_COLLECTIONS.pods)).filter((pod) =>
        nameOf(pod).startsWith('web-') && !isLeaving(pod) &&
        textAt(pod, 'spec', 'nodeName') === node
      );
    await eventually(async () => {
      const placed = [await webOn('worker-1'), await webOn('worker-2')];
      return placed.flat().length === REPLICAS && placed.every((pods) => pods.length > 0);
    }, { what: 'pods on both nodes', timeoutMs: 60_000 });
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
    lost.stop();
    await eventually(async () => (await webOn('worker-1')).length === REPLICAS, {
      what: 'all pods on the other node',
      everyMs: 200,
      timeoutMs: 120_000,
    });
    expect(realTime.monotonic() - lost.renewedMs).toBeLessThan(LOST_MS_MAX);
    const node = async () => (await cluster.call('GET', `${COLLECTIONS.nodes}/worker-2`)).body;
    expect(stateOf(await node())).toBe('Offline');
    const job = await must(cluster, 'GET', `${DRAIN_COLLECTIONS.pods}/job`);
    expect(isLeaving(job)).toBe(false);
    const backMs = realTime.monotonic();
    await lost.go();
    await eventually(async () => stateOf(await node()) === 'Active', {
      what: 'the node to be active',
      everyMs: 100,
      timeoutMs: 30_000,
    });
    expect(realTime.monotonic() - backMs).toBeLessThan(BACK_MS_MAX);
    const refused = (await bed().audit()).filter(({ user, code }) =>
      user === `system:serviceaccount:tidegate:${ACCOUNT}` && code === 403
    );
    expect(refused.map(({ verb, uri }) => `${verb} ${uri}`)).toEqual([]);
  });
});
