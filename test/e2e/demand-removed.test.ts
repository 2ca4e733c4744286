/** Demand is removed, and machines are returned. */
import { expect, it } from 'vitest';
import { valueAt } from '../../src/domain/json.ts';
import {
  type ClusterClient,
  COLLECTIONS,
  isJoined,
  nameOf,
  phaseOf,
  phasesIn,
  uidOf,
  untilAll,
} from '../support/api/cluster-client.ts';
import { freshCluster } from '../support/api/fresh-cluster.ts';
import { describeWithTestbed, type Testbed } from '../support/api/testbed.ts';
import { wantedMachines } from '../support/demand/wanted-capacity.ts';
import { eventually } from '../support/eventually.ts';
import { boundMachines, rollupsAt } from '../support/fleet/fleet-script.ts';
import { type FleetProcess, startFleet } from '../support/processes/fleet-process.ts';
import { type OperatorProcess, startOperator } from '../support/processes/operator-process.ts';

/** As many rows as the guard checks, and two more. */
const ROWS = 12;
const REMOVED = 5;

interface Scene {
  readonly cluster: ClusterClient;
  readonly fleet: FleetProcess;
  readonly operator: OperatorProcess;
}

/** A cluster with a machine for each of `ROWS` needs. */
const settled = async (bed: Testbed): Promise<Scene> => {
  const cluster = await freshCluster(bed);
  const fleet = await startFleet({ seedMachines: 40, kubeconfig: bed.kubeconfigFor('fleet') });
  const operator = await startOperator({ bed, shardAddress: fleet.address });
  const requests = wantedMachines(ROWS, 'wanted', (priority) => ({ priority }));
  await cluster.create(COLLECTIONS.requests, requests);
  await untilAll(cluster, COLLECTIONS.upcomingNodes, {
    what: 'every machine to be Ready with its Node',
    count: ROWS,
    each: isJoined,
  });
  return { cluster, fleet, operator };
};

const gone = (cluster: ClusterClient, collection: string, what: string): Promise<unknown> =>
  untilAll(cluster, collection, { what, count: 0, each: () => true });

describeWithTestbed('operator, when demand is removed', {}, (bed) => {
  it('returns as many machines as are not needed, and leaves the others alone', async () => {
    const { cluster, fleet, operator } = await settled(bed());
    const seen = await cluster.history(COLLECTIONS.upcomingNodes);
    const before = await cluster.list(COLLECTIONS.upcomingNodes);
    for (let number = 0; number < REMOVED; number += 1) {
      await cluster.call('DELETE', `${COLLECTIONS.requests}/wanted-${number}`);
    }
    const left = await untilAll(cluster, COLLECTIONS.upcomingNodes, {
      what: 'the machines of the removed requests to go back',
      count: ROWS - REMOVED,
      each: (one) => phaseOf(one) === 'Ready',
    });
    await eventually(() => seen.deleted().length === REMOVED, { what: 'as many deletions' });
    const kept = new Set(left.map(uidOf));
    for (const one of before) {
      // The drain of an empty Node may end before Draining is written.
      const phases = phasesIn(seen.of(nameOf(one))).filter((phase) => phase !== 'Draining');
      expect([nameOf(one), phases]).toEqual([
        nameOf(one),
        kept.has(uidOf(one)) ? [] : ['Drained'],
      ]);
    }
    await untilAll(cluster, COLLECTIONS.nodes, {
      what: 'the Nodes of those machines to go',
      count: ROWS - REMOVED,
      each: () => true,
    });
    expect((await rollupsAt(fleet)).at(-1)).toMatchObject({ rows: ROWS - REMOVED, acked: true });
    // Each was reclaimed by an instruction, which is counted and acked once its Node is cordoned.
    expect(await operator.metric('tidegate_reclaim_instructions_total')).toBe(REMOVED);
    expect(await fleet.script('GET', '/state')).toMatchObject({
      reclaims: { sent: REMOVED, acks: REMOVED },
    });
  });

  it('returns everything once the fleet accepts that there is no demand', async () => {
    const { cluster, fleet, operator } = await settled(bed());
    // Without a session, so that no roll-up reports half of the deletion.
    await fleet.script('POST', '/faults', { refuseSessions: true });
    await fleet.script('POST', '/sessions/end', { cluster: 'test' });
    await cluster.clear(COLLECTIONS.requests);
    const watched = { resource: 'capacityrequests' };
    await eventually(async () => await operator.metric('tidegate_watch_objects', watched) === 0, {
      what: 'the operator to see that nothing is wanted',
    });
    await fleet.script('POST', '/faults', { refuseSessions: false });
    await gone(cluster, COLLECTIONS.upcomingNodes, 'every UpcomingNode to go');
    await gone(cluster, COLLECTIONS.nodes, 'every Node to go');
    expect(await boundMachines(fleet, 'test')).toEqual([]);
    // From many rows to none: the guard doubts it twice, and acks all the same.
    const rollups = await rollupsAt(fleet);
    const first = rollups.findIndex(({ verdict }) => verdict === 'doubted');
    const verdicts = rollups.slice(first, first + 3).map(({ rows, verdict, acked }) => [
      rows,
      verdict,
      acked,
    ]);
    expect(verdicts).toEqual([[0, 'doubted', true], [0, 'doubted', true], [0, 'accepted', true]]);
    await gone(cluster, COLLECTIONS.capacities, 'every AvailableCapacity to go');
    const state = await fleet.script('GET', '/state');
    expect(valueAt(state, 'machines', 'byState')).toMatchObject({ IDLE: 40 });
  });
});
