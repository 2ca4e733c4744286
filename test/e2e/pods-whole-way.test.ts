/**
 * End to end without manual steps: an unschedulable Deployment, requests, a roll-up, machines,
 * Nodes, running pods; and everything is removed when it is scaled down.
 *
 * Only the operator and the fleet write CapacityRequests and Nodes. A DaemonSet runs on every Node
 * and creates no demand: it would request another Node for each new one.
 */
import { expect, it } from 'vitest';
import { type JsonRecord, listOrEmptyAt, textAt, valueAt } from '../../src/domain/json.ts';
import {
  type ClusterClient,
  COLLECTIONS,
  nameOf,
  phaseOf,
  phasesIn,
  uidOf,
  untilAll,
} from '../support/api/cluster-client.ts';
import { freshCluster } from '../support/api/fresh-cluster.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { seenPod } from '../support/drains/pod-history.ts';
import { eventually } from '../support/eventually.ts';
import { boundMachines, needsAt, rollupsAt } from '../support/fleet/fleet-script.ts';
import { explained } from '../support/processes/explained.ts';
import { startFleet } from '../support/processes/fleet-process.ts';
import { startOperator } from '../support/processes/operator-process.ts';
import { ownerOf, PODS, requestNameOf, untilRequestsOf } from '../support/processes/pods-role.ts';

const REPLICAS = 12;
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const DAEMON_SETS = '/apis/apps/v1/namespaces/default/daemonsets';
const PATIENT_MS = 120_000;
/** The phases of a machine, in order. */
const LIFE = ['Registered', 'Ready', 'Draining', 'Drained'];

const templateOf = (app: string, spec: JsonRecord): JsonRecord => ({
  selector: { matchLabels: { app } },
  template: { metadata: { labels: { app } }, spec },
});

const web = {
  metadata: { name: 'web' },
  spec: {
    replicas: REPLICAS,
    ...templateOf('web', {
      containers: [{
        name: 'web',
        image: 'image',
        resources: { requests: { cpu: '2', memory: '4Gi' } },
      }],
      nodeSelector: { 'topology.kubernetes.io/zone': 'zone-b' },
    }),
  },
};

const agent = {
  metadata: { name: 'agent' },
  spec: templateOf('agent', {
    containers: [{ name: 'agent', image: 'image' }],
    tolerations: [{ operator: 'Exists' }],
  }),
};

const ofDeployment = async (cluster: ClusterClient): Promise<readonly JsonRecord[]> =>
  (await cluster.list(PODS)).filter((pod) => seenPod(pod).app === 'web');

const whyUnscheduled = (pod: JsonRecord | undefined): string =>
  listOrEmptyAt(pod, 'status', 'conditions').map((one) => textAt(one, 'message') ?? '').join(' ');

const none = (cluster: ClusterClient, collection: string, what: string): Promise<unknown> =>
  untilAll(cluster, collection, { what, count: 0, each: () => true, timeoutMs: PATIENT_MS });

describeWithTestbed('operator with pods', {
  controllers: true,
  scheduler: true,
  kwok: true,
  podDeleteMs: 200,
}, (bed) => {
  it(
    'runs pods that fit nowhere on machines that come for them, and gives all machines back when \
the Deployment is scaled to 0',
    async () => {
      const cluster = await freshCluster(bed());
      const fleet = await startFleet({
        seedMachines: 48,
        kubeconfig: bed().kubeconfigFor('fleet'),
        flags: { 'joining-time': '2s', 'draining-time': '2s' },
      });
      const operator = await startOperator({
        bed: bed(),
        shardAddress: fleet.address,
        flags: { 'with-pods': 'true', 'log-level': 'info' },
      });
      await operator.untilReady();
      const current = await cluster.history(COLLECTIONS.upcomingNodes);
      await cluster.create(DAEMON_SETS, [agent]);
      expect(await cluster.list(COLLECTIONS.nodes)).toEqual([]);

      await cluster.create(DEPLOYMENTS, [web]);
      const running = await eventually(async () => {
        const pods = await ofDeployment(cluster);
        const waiting = pods.filter((pod) => !seenPod(pod).ready);
        if (pods.length === REPLICAS && waiting.length === 0) return pods;
        throw new Error(`${waiting.length} of ${pods.length} wait: ${whyUnscheduled(waiting[0])}`);
      }, { what: 'every pod to run', timeoutMs: PATIENT_MS });

      const requests = await untilRequestsOf(cluster, running);
      await untilAll(cluster, COLLECTIONS.requests, {
        what: 'every request to be acknowledged',
        count: REPLICAS,
        each: (one) => phaseOf(one) === 'Acknowledged',
      });
      expect(requests.map(ownerOf).sort()).toEqual(running.map(uidOf).sort());
      expect(await needsAt(fleet, 'test')).toEqual([
        expect.objectContaining({
          aggregateResources: { cpu: '24', memory: '48Gi' },
          minUnit: { cpu: '2', memory: '4Gi' },
        }),
      ]);
      const nodes = await cluster.list(COLLECTIONS.nodes);
      const bound = await boundMachines(fleet, 'test');
      expect(nodes.length).toBe(bound.length);
      expect(
        new Set(
          nodes.map((node) => textAt(node, 'metadata', 'labels', 'topology.kubernetes.io/zone')),
        ),
      ).toEqual(new Set(['zone-b']));
      const daemons = await eventually(async () => {
        const pods = (await cluster.list(PODS)).filter((pod) => seenPod(pod).app === 'agent');
        return pods.length === nodes.length && pods;
      }, { what: 'the DaemonSet on every Node' });
      expect(requests.map(nameOf)).not.toContain(requestNameOf(daemons[0] ?? {}));
      expect(await explained(bed(), 'pod', `default/${nameOf(running[0])}`)).toMatch(
        /: Running[\s\S]*acknowledged a roll-up that includes this request/,
      );
      expect(await explained(bed(), 'pod', `default/${nameOf(daemons[0])}`)).toContain(
        'which runs a pod on each new node anyway',
      );

      await cluster.patch(`${DEPLOYMENTS}/web`, { spec: { replicas: 0 } });
      await none(cluster, COLLECTIONS.requests, 'every request to go with its pod');
      await none(cluster, COLLECTIONS.nodes, 'every Node to go');
      await none(cluster, COLLECTIONS.upcomingNodes, 'every UpcomingNode to go');
      expect(await boundMachines(fleet, 'test')).toEqual([]);
      expect(valueAt(await fleet.script('GET', '/state'), 'machines', 'byState')).toMatchObject({
        IDLE: 48,
      });
      for (const { id } of bound) {
        // A phase that lasts shortly may be over before it is written.
        const phases = phasesIn(current.of(`un-${id}`));
        expect(phases).toContain('Ready');
        expect(phases).toEqual(LIFE.filter((phase) => phases.includes(phase)));
      }
      const verdicts = (await rollupsAt(fleet)).map(({ verdict }) => verdict);
      // One whose session ended meanwhile is superseded by the first of the next.
      expect(new Set(verdicts.filter((verdict) => verdict !== 'superseded')))
        .toEqual(new Set(['accepted']));
      expect(await operator.stop()).toBe(0);
    },
  );
});
