/** The shortest scenario with real components only, from the source; runs under both runtimes. */
import { expect, it } from 'vitest';
import { textAt } from '../../src/domain/json.ts';
import {
  COLLECTIONS,
  isJoined,
  nameOf,
  phaseOf,
  uidOf,
  untilAll,
} from '../support/api/cluster-client.ts';
import { freshCluster } from '../support/api/fresh-cluster.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { wantedMachines } from '../support/demand/wanted-capacity.ts';
import { startFleet } from '../support/processes/fleet-process.ts';
import { startOperator } from '../support/processes/operator-process.ts';
import { thisRuntime } from '../support/processes/tidegate-process.ts';

const MACHINES = 5;

describeWithTestbed(`operator under ${thisRuntime}`, {}, (bed) => {
  it('turns demand into Ready machines, and exits with 0 when stopped', async () => {
    const cluster = await freshCluster(bed());
    const fleet = await startFleet({ isSource: true, kubeconfig: bed().kubeconfigFor('fleet') });
    const operator = await startOperator({
      bed: bed(),
      isSource: true,
      shardAddress: fleet.address,
      flags: { 'rollup-interval': '3s' },
    });
    await operator.untilReady();
    await cluster.create(COLLECTIONS.requests, wantedMachines(MACHINES, 'smoke'));

    const ready = await untilAll(cluster, COLLECTIONS.upcomingNodes, {
      what: 'every machine to be Ready with its Node',
      count: MACHINES,
      each: isJoined,
      timeoutMs: 120_000,
    });
    const nodes = await cluster.list(COLLECTIONS.nodes);
    expect(ready.map((one) => textAt(one, 'status', 'nodeRef', 'uid')).sort())
      .toEqual(nodes.map(uidOf).sort());
    expect(ready.map((one) => textAt(one, 'status', 'nodeRef', 'name')).sort())
      .toEqual(nodes.map(nameOf).sort());
    await untilAll(cluster, COLLECTIONS.requests, {
      what: 'every request to be acknowledged',
      count: MACHINES,
      each: (one) => phaseOf(one) === 'Acknowledged',
    });
    expect(await operator.stop()).toBe(0);
  });
});
