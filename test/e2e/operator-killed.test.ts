/** The operator is killed in the middle of a burst; its successor knows only the cluster. */
import { expect, it } from 'vitest';
import { type JsonRecord, textAt } from '../../src/domain/json.ts';
import { COLLECTIONS, nameOf, phaseOf, uidOf, untilAll } from '../support/api/cluster-client.ts';
import { freshCluster } from '../support/api/fresh-cluster.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { eventually } from '../support/eventually.ts';
import { startFleet } from '../support/processes/fleet-process.ts';
import { type OperatorOptions, startOperator } from '../support/processes/operator-process.ts';

const BURST = 200;
const SIGKILLED = 137;
/** A burst takes seconds, and the next operator starts soon. */
const FLAGS = {
  'qps': '60',
  'burst': '20',
  'lease-duration': '3s',
  'lease-renew-deadline': '2s',
  'lease-retry-period': '500ms',
};

const machineId = (number: number): string => `mass-${String(number).padStart(6, '0')}`;
const isGone = (number: number): boolean => number % 4 === 0;
const isFailed = (number: number): boolean => number % 4 === 1;
const numbers = Array.from({ length: BURST }, (_, index) => index + 1);

const startTimeOf = (one: JsonRecord): string | undefined =>
  textAt(one, 'status', 'provisioningStartTime');

describeWithTestbed('operator, when it is killed in a burst', {}, (bed) => {
  it('is followed by one that ends with every machine as the fleet reports it', async () => {
    const cluster = await freshCluster(bed());
    const fleet = await startFleet({ seedMachines: 0 });
    const options: OperatorOptions = { bed: bed(), shardAddress: fleet.address, flags: FLAGS };
    const first = await startOperator(options);
    await first.untilLog(({ message }) => message === 'Session resynced', { what: 'its resync' });
    await fleet.script('POST', '/mass', {
      cluster: 'test',
      count: BURST,
      states: ['CONFIGURING', 'CONFIGURED'],
    });
    const before = await eventually(async () => {
      const objects = await cluster.list(COLLECTIONS.upcomingNodes);
      return objects.length > BURST / 10 && objects;
    }, { what: 'some of the objects', everyMs: 10 });
    first.signal('KILL');
    expect(await first.exited).toBe(SIGKILLED);
    expect((await cluster.list(COLLECTIONS.upcomingNodes)).length).toBeLessThan(BURST);

    for (const number of numbers) {
      const state = isGone(number) ? 'IDLE' : 'FAILED';
      if (!isGone(number) && !isFailed(number)) continue;
      await fleet.script('POST', `/machines/${machineId(number)}/state`, {
        state,
        cluster: 'test',
        lastError: `broken ${number}`,
      });
    }
    await startOperator(options);
    const wanted = new Map(
      numbers.filter((number) => !isGone(number)).map((number) => [
        `un-${machineId(number)}`,
        isFailed(number) ? `Failed broken ${number}` : 'Ready ',
      ]),
    );
    const after = await untilAll(cluster, COLLECTIONS.upcomingNodes, {
      what: 'every machine to be shown as the fleet has it',
      count: wanted.size,
      each: (one) =>
        wanted.get(nameOf(one)) ===
          `${phaseOf(one)} ${textAt(one, 'status', 'lastError') ?? ''}`,
    });
    const known = new Map(before.map((one) => [nameOf(one), one]));
    for (const one of after) {
      const earlier = known.get(nameOf(one));
      if (earlier === undefined) continue;
      expect(uidOf(one)).toBe(uidOf(earlier));
      const started = startTimeOf(earlier);
      if (started !== undefined) expect(startTimeOf(one)).toBe(started);
    }
  });
});
