/**
 * Pods that do not stop, under a real control plane: the test is the kubelet of the Node and ends
 * no container, so that a pod is there until its machine is confirmed gone.
 */
import { expect, it, onTestFinished } from 'vitest';
import { runNodeConfirmGone, runNodeDisable } from '../../src/cli/node/node-change.ts';
import { annotationOf } from '../../src/domain/drain/cordon.ts';
import { projectDrainedNode } from '../../src/domain/drain/drained-node.ts';
import { listOrEmptyAt, numberAt, textAt } from '../../src/domain/json.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { COLLECTIONS } from '../support/api/cluster-client.ts';
import { writesBy } from '../support/api/audited-writes.ts';
import { freshCluster } from '../support/api/fresh-cluster.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { DRAIN_COLLECTIONS } from '../support/drains/workloads.ts';
import { eventually } from '../support/eventually.ts';
import { LeasedNodes, must } from '../support/node-availability/leased-nodes.ts';
import { startOperator } from '../support/processes/operator-process.ts';
import { PLAIN_TERMINAL } from '../support/terminal/plain-terminal.ts';

const EVENTS = '/apis/events.k8s.io/v1/namespaces/default/events';
const GRACE_SECONDS = 2;
const BED = { controllers: true, nodeGrace: '40s', scheduler: true };

const endlessPod = {
  metadata: { name: 'endless' },
  spec: {
    nodeName: 'worker-1',
    terminationGracePeriodSeconds: GRACE_SECONDS,
    containers: [{ name: 'main', image: 'example.com/main' }],
  },
};

describeWithTestbed('a pod that does not stop', BED, (bed) => {
  it('Compliance 3: RS-13: is a blocker after its grace, and gone once its machine is', {
    timeout: 300_000,
  }, async () => {
    const cluster = await freshCluster(bed());
    const kubelets = new LeasedNodes(cluster, { endsPods: false });
    onTestFinished(kubelets.stop);
    await kubelets.join(['worker-1']);
    await cluster.create(DRAIN_COLLECTIONS.pods, [endlessPod]);
    const operator = await startOperator({
      bed: bed(),
      shardAddress: '127.0.0.1:1',
      flags: {
        roles: 'availability',
        'lease-name': 'tidegate-availability',
        'lease-namespace': 'tidegate',
      },
    });
    await operator.untilReady();
    const printed: string[] = [];
    const environment = {
      time: realTime,
      terminal: {
        print: (text: string) => void printed.push(text),
        report: (line: string) => void printed.push(line),
        ...PLAIN_TERMINAL,
      },
    };
    const { kubeconfig } = bed();
    const chosen = { node: 'worker-1', kubeconfig, context: undefined, format: 'text' };
    expect(await runNodeDisable({ ...chosen, why: 'test', acceptsDowntime: false }, environment))
      .toBe(0);
    const path = `${DRAIN_COLLECTIONS.pods}/endless`;
    const noted = async () =>
      listOrEmptyAt(await must(cluster, 'GET', EVENTS), 'items')
        .filter((event) => textAt(event, 'regarding', 'name') === 'worker-1')
        .map((event) => `${textAt(event, 'reason') ?? ''}: ${textAt(event, 'note') ?? ''}`);
    await eventually(async () => (await noted()).some((one) => /^TerminationOverdue/.test(one)), {
      what: 'an Event about the pod that does not stop',
      everyMs: 500,
      timeoutMs: 60_000,
    });
    expect((await noted()).find((one) => one.startsWith('TerminationOverdue')))
      .toMatch(/terminating for \d+ s \(default\/endless\)\. The owner of the application: /);
    expect(numberAt(await must(cluster, 'GET', path), 'metadata', 'deletionGracePeriodSeconds'))
      .toBe(GRACE_SECONDS);
    await kubelets.fail(['worker-1']);
    const node = async () =>
      projectDrainedNode(await must(cluster, 'GET', `${COLLECTIONS.nodes}/worker-1`));
    await eventually(async () => (await node())?.kubeletSilent === true, {
      what: 'the node to be Unknown',
      everyMs: 500,
      timeoutMs: 120_000,
    });
    expect(await runNodeConfirmGone({ ...chosen, acceptsLocalLoss: true }, environment)).toBe(0);
    await eventually(async () => (await cluster.call('GET', path)).status === 404, {
      // Kubernetes looks for pods of nodes out of service every 20 s.
      what: 'the pod to be gone',
      everyMs: 200,
      timeoutMs: 60_000,
    });
    await eventually(async () => {
      const now = await node();
      return now !== undefined && annotationOf(now, 'disabled')?.ended === 'Drained';
    }, { what: 'the drain to end', everyMs: 200, timeoutMs: 120_000 });
    const deletions = (await writesBy(bed(), 'tidegate')).filter(({ verb, resource }) =>
      verb === 'delete' && resource === 'pods'
    );
    expect(deletions, 'the operator deletes no pod of a drain').toEqual([]);
  });
});
