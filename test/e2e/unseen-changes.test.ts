/** The cluster changes while the operator is stopped, and its history is compacted. */
import { expect, it } from 'vitest';
import type { JsonRecord } from '../../src/domain/json.ts';
import { COLLECTIONS, nameOf, phaseOf, uidOf, untilAll } from '../support/api/cluster-client.ts';
import { startFaultProxy } from '../support/api/fault-proxy.ts';
import { freshCluster } from '../support/api/fresh-cluster.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { wantedMachine, wantedMachines } from '../support/demand/wanted-capacity.ts';
import { eventually } from '../support/eventually.ts';
import { needsAt, rollupsAt } from '../support/fleet/fleet-script.ts';
import { startFleet } from '../support/processes/fleet-process.ts';
import { startOperator } from '../support/processes/operator-process.ts';

const MACHINES = 5;
const PATIENT_LEASE = { 'lease-duration': '120s', 'lease-renew-deadline': '100s' };

const isReady = (one: JsonRecord): boolean => phaseOf(one) === 'Ready';

describeWithTestbed('operator, when it missed changes', {}, (bed) => {
  it('lists again after a compaction, and corrects missed changes', async () => {
    const cluster = await freshCluster(bed());
    const proxy = await startFaultProxy(bed());
    const fleet = await startFleet({ seedMachines: 0 });
    const operator = await startOperator({
      bed: bed(),
      shardAddress: fleet.address,
      flags: { ...PATIENT_LEASE, kubeconfig: proxy.kubeconfig },
    });
    await cluster.create(COLLECTIONS.requests, wantedMachines(3, 'wanted'));
    await eventually(async () => (await needsAt(fleet, 'test')).length === 1, { what: 'the need' });
    await fleet.script('POST', '/mass', {
      cluster: 'test',
      count: MACHINES,
      states: ['CONFIGURING', 'CONFIGURED'],
    });
    const before = await untilAll(cluster, COLLECTIONS.upcomingNodes, {
      what: 'every machine to be Ready',
      count: MACHINES,
      each: isReady,
    });
    const [deleted = '', defaced = '', ...kept] = before.map(nameOf);

    const lists = () =>
      operator.metric('tidegate_watch_relists_total', { resource: 'capacityrequests' });
    const listsBefore = await lists();

    proxy.hold((target) => target.includes('watch='));
    proxy.cut();
    await cluster.call('DELETE', `${COLLECTIONS.requests}/wanted-0`);
    await cluster.create(COLLECTIONS.requests, [wantedMachine('late', { priority: 7 })]);
    await cluster.call('DELETE', `${COLLECTIONS.upcomingNodes}/${deleted}`);
    await cluster.patch(`${COLLECTIONS.upcomingNodes}/${defaced}/status`, {
      status: { phase: 'Failed', lastError: 'set by another client' },
    });
    await bed().compactHistory();
    proxy.release();

    const after = await untilAll(cluster, COLLECTIONS.upcomingNodes, {
      what: 'every machine to be shown as the fleet has it',
      count: MACHINES,
      each: isReady,
    });
    const uids = new Map(after.map((one) => [nameOf(one), uidOf(one)]));
    const uidBefore = (name: string): string | undefined =>
      before.filter((one) => nameOf(one) === name).map(uidOf)[0];
    for (const name of [defaced, ...kept]) expect(uids.get(name)).toBe(uidBefore(name));
    expect(uids.get(deleted)).not.toBe(uidBefore(deleted));
    await eventually(async () => (await needsAt(fleet, 'test')).length === 2, {
      what: 'the demand as it is now',
    });
    expect(await needsAt(fleet, 'test')).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({
          priority: 1000,
          aggregateResources: { cpu: '16', memory: '64Gi' },
        }),
        expect.objectContaining({ priority: 7, aggregateResources: { cpu: '8', memory: '32Gi' } }),
      ]),
    );
    expect(await lists()).toBe(listsBefore + 1);
    expect(new Set((await rollupsAt(fleet)).map(({ session }) => session))).toEqual(new Set([1]));
  });
});
