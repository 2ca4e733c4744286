/** Manual intervention: a user uncordons a node during its drain, and cordons it again later. */
import { expect, it } from 'vitest';
import { booleanAt, textAt } from '../../src/domain/json.ts';
import {
  type ClusterClient,
  COLLECTIONS,
  phaseOf,
  phasesIn,
} from '../support/api/cluster-client.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { evictionsIn, requestsBy } from '../support/drains/audited-drains.ts';
import { drainSite } from '../support/drains/drain-test-site.ts';
import {
  type AnnotationSeen,
  annotationSeen,
  reclaimEach,
  untilEnded,
} from '../support/drains/reclaims.ts';
import { budget, deployment, DRAIN_COLLECTIONS } from '../support/drains/workloads.ts';
import { eventually } from '../support/eventually.ts';
import type { FleetProcess } from '../support/processes/fleet-child.ts';

const BED = { controllers: true, scheduler: true, kwok: true, podDeleteMs: 500 };
const PODS = 3;
const GRACE_SECONDS = 600;
const UNCORDON = { spec: { unschedulable: false } };
/** A label carried by a frame, to detect that the frame was processed. */
const PROBE = 'example.com/probe';

const nodeOf = (cluster: ClusterClient, name: string): Promise<object> =>
  cluster.call('GET', `${COLLECTIONS.nodes}/${name}`).then(({ body }) => body);
const upcomingNodeOf = (cluster: ClusterClient, machine: string): Promise<object> =>
  cluster.call('GET', `${COLLECTIONS.upcomingNodes}/un-${machine}`).then(({ body }) => body);

const untilPhase = (cluster: ClusterClient, machine: string, phase: string): Promise<unknown> =>
  eventually(async () => phaseOf(await upcomingNodeOf(cluster, machine)) === phase, {
    what: `"${machine}" to be shown ${phase}`,
    everyMs: 100,
  });

const untilAnnotation = (
  cluster: ClusterClient,
  node: string,
  wanted: (annotation: AnnotationSeen | undefined) => boolean,
): Promise<unknown> =>
  eventually(async () => wanted(annotationSeen(await nodeOf(cluster, node))), {
    what: `the key of "${node}" to be as wanted`,
    everyMs: 100,
  });

/** The fleet reports CONFIGURED, and the operator has received it. */
const checkConfigured = async (
  { fleet, cluster }: { readonly fleet: FleetProcess; readonly cluster: ClusterClient },
  machine: string,
  probe: string,
): Promise<void> => {
  const providerId = textAt(await upcomingNodeOf(cluster, machine), 'status', 'providerID') ?? '';
  await fleet.script('POST', '/frames', {
    cluster: 'test',
    frame: {
      nodeStateUpdate: {
        supersedesKey: `node:${machine}`,
        machineId: machine,
        state: 'MACHINE_STATE_CONFIGURED',
        providerId,
        labels: { [PROBE]: probe },
        resources: { resources: { cpu: '64' } },
      },
    },
  });
  await eventually(
    async () => textAt(await upcomingNodeOf(cluster, machine), 'spec', 'labels', PROBE) === probe,
    { what: 'the frame to be received' },
  );
};

describeWithTestbed('a drain and a person', BED, (bed) => {
  it('DR-05: uncordoning cancels a drain, and DR-04: a returned machine serves again', async () => {
    const site = await drainSite(bed(), {
      machines: { count: 1, prefix: 'given-' },
      objects: () => [
        [DRAIN_COLLECTIONS.deployments, [deployment('web', PODS)]],
        [DRAIN_COLLECTIONS.budgets, [budget('web', { minAvailable: PODS })]],
      ],
      pods: PODS,
      spares: { count: 1 },
    });
    const { cluster, fleet, machines, readyMs } = site;
    const [machine = ''] = machines;
    const node = `${COLLECTIONS.nodes}/${machine}`;
    const phases = await cluster.history(COLLECTIONS.upcomingNodes);
    const evictions = async () => evictionsIn(await requestsBy(bed(), 'tidegate', readyMs));

    await reclaimEach(fleet, machines, GRACE_SECONDS);
    await untilPhase(cluster, machine, 'Draining');
    await untilAnnotation(cluster, machine, (annotation) => annotation?.ended === '');
    await cluster.patch(node, UNCORDON);
    expect(await untilEnded(cluster, machines)).toEqual({ [machine]: 'Cancelled' });
    await cluster.clear(DRAIN_COLLECTIONS.budgets);
    await checkConfigured(site, machine, 'first');
    await untilAnnotation(cluster, machine, (annotation) => annotation === undefined);
    await untilPhase(cluster, machine, 'Ready');
    expect(await evictions()).toEqual([]);
    expect(booleanAt(await nodeOf(cluster, machine), 'spec', 'unschedulable')).not.toBe(true);

    await reclaimEach(fleet, machines, GRACE_SECONDS);
    expect(await untilEnded(cluster, machines)).toEqual({ [machine]: 'Drained' });
    expect((await evictions()).map(({ code }) => code)).toEqual([201, 201, 201]);
    await checkConfigured(site, machine, 'second');
    expect(phaseOf(await upcomingNodeOf(cluster, machine))).toBe('Drained');
    expect(annotationSeen(await nodeOf(cluster, machine))?.ended).toBe('Drained');

    await cluster.patch(node, UNCORDON);
    await untilAnnotation(cluster, machine, (annotation) => annotation === undefined);
    await untilPhase(cluster, machine, 'Ready');
    expect(phasesIn(phases.of(`un-${machine}`)))
      .toEqual(['Draining', 'Ready', 'Draining', 'Drained', 'Ready']);
  });
});
