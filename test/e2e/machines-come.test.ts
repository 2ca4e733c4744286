/** Demand rises and machines arrive: every visible step. */
import { expect, it } from 'vitest';
import { type JsonRecord, textAt, valueAt } from '../../src/domain/json.ts';
import {
  type ClusterClient,
  COLLECTIONS,
  type History,
  isJoined,
  nameOf,
  phaseOf,
  phasesIn,
  uidOf,
  untilAll,
} from '../support/api/cluster-client.ts';
import { freshCluster } from '../support/api/fresh-cluster.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { wantedMachines } from '../support/demand/wanted-capacity.ts';
import { eventually } from '../support/eventually.ts';
import { boundMachines, needsAt, objectName, pullsAt } from '../support/fleet/fleet-script.ts';
import { explained } from '../support/processes/explained.ts';
import { startFleet } from '../support/processes/fleet-process.ts';
import { startOperator } from '../support/processes/operator-process.ts';
import { templateFile } from '../support/templates/template-file.ts';

const MACHINES = 6;
/** Slow enough that no phase is superseded before it was written. */
const UNHURRIED = { 'joining-time': '2s' };
const STANDARD_8_COST = '0.39';

const TEMPLATE = `#cloud-config
# joins {{.ClusterID}}
{{range .Requirements}}label: {{.Key}} {{.Operator}}{{range .Values}} {{.}}{{end}}
{{end}}`;

const USER_DATA = `#cloud-config
# joins test
label: node.kubernetes.io/instance-type In standard-8
`;

const isDated = (request: JsonRecord): boolean =>
  textAt(request, 'status', 'acknowledgedAt') !== undefined;

const startTimes = (versions: readonly JsonRecord[]): ReadonlySet<string> =>
  new Set(versions.flatMap((one) => textAt(one, 'status', 'provisioningStartTime') ?? []));

/** Once present it stays unchanged in every observed version. */
const expectOneStartTime = (versions: readonly JsonRecord[]): void => {
  expect(startTimes(versions).size).toBe(1);
  const withPhase = versions.filter((one) => phaseOf(one) !== '');
  expect(withPhase.filter((one) => textAt(one, 'status', 'provisioningStartTime') === undefined))
    .toEqual([]);
};

const histories = async (
  cluster: ClusterClient,
): Promise<Readonly<Record<'machines' | 'requests', History>>> => ({
  machines: await cluster.history(COLLECTIONS.upcomingNodes),
  requests: await cluster.history(COLLECTIONS.requests),
});

describeWithTestbed('operator, when demand increases', {}, (bed) => {
  it('answers bootstrap pulls and takes machines to Ready with their Nodes', async () => {
    const cluster = await freshCluster(bed());
    const seen = await histories(cluster);
    const fleet = await startFleet({
      kubeconfig: bed().kubeconfigFor('fleet'),
      flags: UNHURRIED,
    });
    await startOperator({
      bed: bed(),
      shardAddress: fleet.address,
      flags: { 'bootstrap-template-file': await templateFile(TEMPLATE) },
    });
    await cluster.create(COLLECTIONS.requests, wantedMachines(MACHINES, 'wanted'));
    const ready = await untilAll(cluster, COLLECTIONS.upcomingNodes, {
      what: 'every machine to be Ready with its Node',
      count: MACHINES,
      each: isJoined,
    });

    await seen.machines.upTo(ready);

    const bound = await boundMachines(fleet, 'test');
    expect(ready.map(nameOf).sort()).toEqual(bound.map(({ id }) => objectName(id)).sort());
    const nodes = await cluster.list(COLLECTIONS.nodes);
    expect(ready.map((one) => valueAt(one, 'status', 'nodeRef'))).toEqual(
      ready.map((one) => {
        const node = nodes.find((candidate) => `un-${nameOf(candidate)}` === nameOf(one));
        return { apiVersion: 'v1', kind: 'Node', name: nameOf(node), uid: uidOf(node) };
      }),
    );
    for (const name of ready.map(nameOf)) {
      const versions = seen.machines.of(name);
      expect([name, phasesIn(versions)]).toEqual([name, ['Registered', 'Ready']]);
      expectOneStartTime(versions);
      expect(new Set(versions.map(uidOf)).size).toBe(1);
    }

    const pulls = await pullsAt(fleet);
    expect(pulls.map(({ machineId }) => machineId).sort()).toEqual(
      bound.map(({ id }) => id).sort(),
    );
    for (const { userData, ttlSeconds, error, late } of pulls) {
      expect({ userData, ttlSeconds, error, late })
        .toEqual({ userData: USER_DATA, ttlSeconds: 600, error: '', late: false });
    }

    const requests = await untilAll(cluster, COLLECTIONS.requests, {
      what: 'every request to be acknowledged',
      count: MACHINES,
      each: (one) => phaseOf(one) === 'Acknowledged',
    });
    await seen.requests.upTo(requests);
    for (const request of requests) {
      const versions = seen.requests.of(nameOf(request));
      // Phase and time are set by one patch.
      expect(versions.map((one) => [phaseOf(one), isDated(one)]))
        .toEqual([['', false], ['Acknowledged', true]]);
    }
    const [need, ...others] = await needsAt(fleet, 'test');
    expect(others).toEqual([]);
    expect(need).toMatchObject({
      aggregateResources: { cpu: '48', memory: '192Gi' },
      minUnit: { cpu: '8', memory: '32Gi' },
      priority: 1000,
    });

    const [capacity] = await untilAll(cluster, COLLECTIONS.capacities, {
      what: 'one AvailableCapacity with what is left',
      count: 1,
      each: (one) => valueAt(one, 'spec', 'availableCount') === 3,
    });
    expect(valueAt(capacity, 'spec')).toMatchObject({
      availability: 'Low',
      cost: STANDARD_8_COST,
      resources: { cpu: '8', memory: '32Gi', pods: '110' },
    });

    const [machine] = bound;
    expect(await explained(bed(), 'capacityrequest', 'default/wanted-0')).toMatch(
      /default\/wanted-0: Acknowledged[\s\S]*acknowledged a roll-up that includes this request/,
    );
    expect(await explained(bed(), 'machine', machine?.id ?? '')).toMatch(
      /: Ready[\s\S]*Its Node ".+" joined and is ready/,
    );
  });

  it('follows a newly created machine through all phases in order', async () => {
    const cluster = await freshCluster(bed());
    const seen = await histories(cluster);
    const fleet = await startFleet();
    const operator = await startOperator({ bed: bed(), shardAddress: fleet.address });
    await eventually(async () => await operator.metric('tidegate_rollups_total') > 0, {
      what: 'the session to stand',
    });
    const phases = [
      ['CREATING', 'Provisioning'],
      ['IDLE', 'Launched'],
      ['CONFIGURING', 'Registered'],
      ['CONFIGURED', 'Ready'],
      ['DRAINING', 'Draining'],
    ] as const;
    for (const [state, phase] of phases) {
      await fleet.script('POST', '/machines/bought/state', { state, cluster: 'test' });
      await untilAll(cluster, COLLECTIONS.upcomingNodes, {
        what: `the machine to be ${phase}`,
        count: 1,
        each: (one) => phaseOf(one) === phase,
      });
    }
    await fleet.script('POST', '/machines/bought/state', { state: 'IDLE' });
    await untilAll(cluster, COLLECTIONS.upcomingNodes, {
      what: 'the machine to be given back',
      count: 0,
      each: () => true,
    });
    await eventually(() => seen.machines.deleted().includes(objectName('bought')), {
      what: 'the deletion',
    });
    const versions = seen.machines.of(objectName('bought'));
    expect(phasesIn(versions)).toEqual([...phases.map(([, phase]) => phase), 'Drained']);
    expectOneStartTime(versions);
  });
});
