/**
 * Thousands of machines that change at once, at the default write budget.
 *
 * Frames that arrive during a machine's write replace the waiting one, so a machine costs one
 * object and its status, and hardly anything for intermediate steps.
 */
import { expect, it } from 'vitest';
import { overlapping, targetOf, writesBy } from '../support/api/audited-writes.ts';
import {
  clusterClient,
  COLLECTIONS,
  nameOf,
  phaseOf,
  untilAll,
} from '../support/api/cluster-client.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { eventually } from '../support/eventually.ts';
import { startFleet } from '../support/processes/fleet-process.ts';
import { startOperator } from '../support/processes/operator-process.ts';
import { atScale } from '../support/scale.ts';

const MACHINES = atScale({ commit: 400, release: 5000 });
const WRITES_PER_MACHINE_MAX = 2.5;
const PATIENCE_MS = 240_000;

const CASES = [
  {
    order: 'state',
    states: ['CONFIGURING', 'CONFIGURED', 'DRAINING'],
    phase: 'Draining',
    title: 'all through one state, then all through the next',
  },
  {
    order: 'machine',
    states: ['CREATING', 'CONFIGURING', 'CONFIGURED'],
    phase: 'Ready',
    title: 'each through all states, one machine after the other',
  },
] as const;

for (const { order, states, phase, title } of CASES) {
  describeWithTestbed(`operator in a burst (${title})`, {}, (bed) => {
    it(
      'wire 4: machines in a crowd that take 3 steps at once end in the last one, with one write in \
flight each and at most 2.5 writes a machine',
      async () => {
        await bed().installCrds();
        const cluster = await clusterClient(bed());
        const fleet = await startFleet({ seedMachines: 0 });
        const operator = await startOperator({
          bed: bed(),
          shardAddress: fleet.address,
          flags: { 'log-level': 'info' },
        });
        await operator.untilLog(({ message }) => message === 'Session resynced', {
          what: 'that it is synced with the fleet',
        });
        const body = { cluster: 'test', count: MACHINES, states, order, prefix: 'burst-' };
        expect(await fleet.script('POST', '/mass', body)).toMatchObject({
          machines: MACHINES,
          frames: MACHINES * states.length,
        });
        const objects = await untilAll(cluster, COLLECTIONS.upcomingNodes, {
          what: `every machine to be ${phase}`,
          count: MACHINES,
          each: (one) => phaseOf(one) === phase,
          timeoutMs: PATIENCE_MS,
        });
        expect(new Set(objects.map(nameOf)).size).toBe(MACHINES);
        expect(await operator.stop()).toBe(0);

        // A slow control plane may be worth an Event on the Lease.
        const writes = (await writesBy(bed(), 'tidegate'))
          .filter(({ resource }) => resource !== 'events');
        expect(writes.filter(({ code }) => code >= 400)).toEqual([]);
        expect(overlapping(writes)).toEqual([]);
        expect(new Set(writes.map(targetOf)).size).toBe(MACHINES);
        expect(writes.length).toBeLessThanOrEqual(WRITES_PER_MACHINE_MAX * MACHINES);
      },
    );
  });
}

describeWithTestbed('operator in a burst that is reverted', {}, (bed) => {
  it('leaves no object, and skips most writes, whose machines left before', async () => {
    await bed().installCrds();
    const cluster = await clusterClient(bed());
    const fleet = await startFleet({ seedMachines: 0 });
    const operator = await startOperator({
      bed: bed(),
      shardAddress: fleet.address,
      flags: { 'log-level': 'info' },
    });
    await operator.untilLog(({ message }) => message === 'Session resynced', {
      what: 'that it is synced with the fleet',
    });
    await fleet.script('POST', '/mass', {
      cluster: 'test',
      count: MACHINES,
      states: ['CONFIGURING', 'CONFIGURED', 'IDLE'],
      order: 'machine',
      prefix: 'gone-',
    });
    await fleet.script('POST', '/machines/last/state', { state: 'CONFIGURED', cluster: 'test' });
    await eventually(
      async () => {
        const objects = await cluster.list(COLLECTIONS.upcomingNodes);
        return objects.length === 1 && objects.every((one) => phaseOf(one) === 'Ready');
      },
      { what: 'only the machine that came last to be there' },
    );
    expect(await operator.stop()).toBe(0);
    const writes = await writesBy(bed(), 'tidegate');
    expect(overlapping(writes)).toEqual([]);
    expect(new Set(writes.map(targetOf)).size).toBeLessThan(MACHINES / 2);
  });
});
