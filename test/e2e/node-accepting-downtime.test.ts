/** A disabled Node whose only pod cannot be replaced, under a real control plane. */
import { expect, it, onTestFinished } from 'vitest';
import { runNodeDisable } from '../../src/cli/node/node-change.ts';
import { annotationOf } from '../../src/domain/drain/cordon.ts';
import { projectDrainedNode } from '../../src/domain/drain/drained-node.ts';
import { listOrEmptyAt, textAt } from '../../src/domain/json.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { COLLECTIONS } from '../support/api/cluster-client.ts';
import { freshCluster } from '../support/api/fresh-cluster.ts';
import { evictionRequestPolicies } from '../support/api/impersonated-client.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { DRAIN_COLLECTIONS } from '../support/drains/workloads.ts';
import { eventually } from '../support/eventually.ts';
import { isLeaving, LeasedNodes, must } from '../support/node-availability/leased-nodes.ts';
import { startOperator } from '../support/processes/operator-process.ts';
import { PLAIN_TERMINAL } from '../support/terminal/plain-terminal.ts';

const BED = { controllers: true, scheduler: true };
const REQUESTS = '/apis/lifecycle.tidegate.dev/v1alpha1/namespaces/default/evictionrequests';
const NODE = 'worker-1';

/** Its strategy allows no pod beside the one that it has. */
const single = {
  metadata: { name: 'single' },
  spec: {
    replicas: 1,
    strategy: { type: 'Recreate' },
    selector: { matchLabels: { app: 'single' } },
    template: {
      metadata: {
        labels: { app: 'single' },
        annotations: { 'lifecycle.tidegate.dev/eviction-interceptors': 'surge.tidegate.dev' },
      },
      spec: { containers: [{ name: 'main', image: 'example.com/main' }] },
    },
  },
};

const TERMINAL = {
  print: () => {},
  report: () => {},
  ...PLAIN_TERMINAL,
};

describeWithTestbed('the only pod of a workload on a disabled node', BED, (bed) => {
  it('RS-16: stays while it cannot be replaced, and leaves once downtime is accepted', {
    timeout: 300_000,
  }, async () => {
    const cluster = await freshCluster(bed());
    await bed().apply(await evictionRequestPolicies());
    const kubelets = new LeasedNodes(cluster);
    onTestFinished(kubelets.stop);
    await kubelets.join([NODE]);
    await cluster.create(DRAIN_COLLECTIONS.deployments, [single]);
    const runsOn = async (node: string): Promise<boolean> =>
      (await cluster.list(DRAIN_COLLECTIONS.pods)).some((pod) =>
        !isLeaving(pod) && textAt(pod, 'spec', 'nodeName') === node &&
        textAt(pod, 'status', 'phase') === 'Running'
      );
    await eventually(() => runsOn(NODE), { what: 'the pod to run', everyMs: 200 });
    await kubelets.join(['worker-2']);
    const operator = await startOperator({
      bed: bed(),
      shardAddress: '127.0.0.1:1',
      flags: {
        'roles': 'availability,evictions,interceptors',
        'without-surge': 'wait',
        'lease-name': 'tidegate-availability',
        'lease-namespace': 'tidegate',
      },
    });
    await operator.untilReady();
    const disable = async (acceptsDowntime: boolean): Promise<void> => {
      const { kubeconfig } = bed();
      const chosen = { node: NODE, kubeconfig, context: undefined, format: 'text', why: 'test' };
      const environment = { time: realTime, terminal: TERMINAL };
      expect(await runNodeDisable({ ...chosen, acceptsDowntime }, environment)).toBe(0);
    };
    await disable(false);
    await eventually(
      async () =>
        (await cluster.list(REQUESTS)).some((request) =>
          listOrEmptyAt(request, 'status', 'interceptors').some((one) =>
            /^StrategyForbidsSurge: .+; the pod stays/.test(textAt(one, 'message') ?? '')
          )
        ),
      { what: 'the surge to say why the pod stays', everyMs: 200, timeoutMs: 60_000 },
    );
    expect(await runsOn(NODE)).toBe(true);
    await disable(true);
    await eventually(() => runsOn('worker-2'), {
      what: 'the pod to run elsewhere',
      everyMs: 200,
      timeoutMs: 90_000,
    });
    await eventually(async () => {
      const node = projectDrainedNode(await must(cluster, 'GET', `${COLLECTIONS.nodes}/${NODE}`));
      const cordon = node && annotationOf(node, 'disabled');
      return cordon?.ended === 'Drained' && cordon.acceptsDowntime === true;
    }, { what: 'the drain to end', everyMs: 200, timeoutMs: 60_000 });
  });
});
