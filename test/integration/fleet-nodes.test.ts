/** The stand-in fleet makes and deletes Nodes on a real API server, over its own death as well. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { textAt, valueAt } from '../../src/domain/json.ts';
import { clusterClient, COLLECTIONS, nameOf, untilAll } from '../support/api/cluster-client.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { type FleetProcess, startFleet } from '../support/processes/fleet-process.ts';

const place = (fleet: FleetProcess, id: string, state: string): Promise<unknown> =>
  fleet.script('POST', `/machines/${id}/state`, { state, cluster: 'prod' });

describeWithTestbed('fleet with a kubeconfig', {}, (bed) => {
  test('makes a Node of a machine that runs, and deletes it when the machine is idle', async () => {
    const cluster = await clusterClient(bed());
    const fleet = await startFleet({ kubeconfig: bed().kubeconfigFor('fleet') });
    await place(fleet, 'm-000001', 'CONFIGURED');
    const [node] = await untilAll(cluster, COLLECTIONS.nodes, {
      what: 'the Node',
      count: 1,
      each: () => true,
    });
    expect(textAt(node, 'spec', 'providerID')).toMatch(/\/host-m-000001$/);
    expect(valueAt(node, 'metadata', 'labels')).toMatchObject({
      'bigfleet.lucy.sh/machine-id': 'm-000001',
      'node.kubernetes.io/instance-type': 'standard-8',
    });
    expect(valueAt(node, 'status', 'allocatable')).toMatchObject({ cpu: '8', pods: '110' });
    expect(valueAt(node, 'status', 'conditions')).toMatchObject([{
      type: 'Ready',
      status: 'True',
    }]);
    await place(fleet, 'm-000001', 'IDLE');
    await untilAll(cluster, COLLECTIONS.nodes, {
      what: 'no Node',
      count: 0,
      each: () => true,
    });
    const writes = (await bed().audit()).filter(({ resource, verb }) =>
      resource === 'nodes' && (verb === 'create' || verb === 'delete')
    );
    expect(writes.map(({ userAgent }) => userAgent)).toEqual(['tidegate-fleet', 'tidegate-fleet']);
  });

  test('catches up after it was killed: Nodes of machines that left are deleted', async () => {
    const cluster = await clusterClient(bed());
    const bindingsFile = join(bed().directory, 'bindings');
    const kubeconfig = bed().kubeconfigFor('fleet');
    const first = await startFleet({ kubeconfig, bindingsFile });
    await place(first, 'm-000002', 'CONFIGURED');
    await place(first, 'm-000003', 'CONFIGURED');
    await untilAll(cluster, COLLECTIONS.nodes, {
      what: 'both Nodes',
      count: 2,
      each: () => true,
    });
    first.signal('KILL');
    await first.exited;
    rmSync(bindingsFile);
    const second = await startFleet({ kubeconfig, bindingsFile });
    await place(second, 'm-000003', 'CONFIGURED');
    await untilAll(cluster, COLLECTIONS.nodes, {
      what: 'one Node, of the machine that is left',
      count: 1,
      each: (node) => nameOf(node) === 'm-000003',
    });
  });
});
