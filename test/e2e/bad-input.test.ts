/** Bad input is rejected and reported, and does not affect other objects. */
import { expect, it } from 'vitest';
import { type JsonRecord, textAt, valueAt } from '../../src/domain/json.ts';
import { ODD_FRAMES } from '../../packages/stand-in-fleet/src/odd-frames.ts';
import {
  type ClusterClient,
  COLLECTIONS,
  nameOf,
  phaseOf,
  untilAll,
} from '../support/api/cluster-client.ts';
import { freshCluster } from '../support/api/fresh-cluster.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { wantedMachine, wantedMachines } from '../support/demand/wanted-capacity.ts';
import { eventually } from '../support/eventually.ts';
import { needsAt, objectName, rollupsAt } from '../support/fleet/fleet-script.ts';
import { explained } from '../support/processes/explained.ts';
import { startFleet } from '../support/processes/fleet-process.ts';
import { LASTING_LEASE } from '../support/processes/lasting-lease.ts';
import { startOperator } from '../support/processes/operator-process.ts';

const GOOD = 3;

/** All of these are let through by the schema, which cannot say everything. */
const BAD: Readonly<Record<string, { readonly spec: JsonRecord; readonly field: string }>> = {
  'bad-quantity': { spec: { resources: { cpu: '1e1.5' } }, field: 'spec.resources["cpu"]' },
  'negative-quantity': { spec: { resources: { cpu: '-1' } }, field: 'spec.resources["cpu"]' },
  'bad-operator': {
    spec: { requirements: [{ key: 'zone', operator: 'Near', values: ['a'] }] },
    field: 'spec.requirements[0].operator',
  },
  'negative-penalty': { spec: { interruptionPenalty: '-1' }, field: 'spec.interruptionPenalty' },
};

/** Notes of the Warnings about a request. */
const warningsAbout = async (cluster: ClusterClient, name: string): Promise<readonly string[]> =>
  (await cluster.list(COLLECTIONS.events))
    .filter((event) => textAt(event, 'regarding', 'name') === name)
    .map((event) => `${textAt(event, 'type')} ${textAt(event, 'reason')} ${textAt(event, 'note')}`);

const untilWarned = (cluster: ClusterClient, name: string): Promise<readonly string[]> =>
  eventually(async () => {
    const warnings = await warningsAbout(cluster, name);
    return warnings.length > 0 && warnings;
  }, { what: `an Event about ${name}` });

const needs = async (fleet: Parameters<typeof needsAt>[0]): Promise<readonly unknown[]> =>
  (await needsAt(fleet, 'test')).map((need) => valueAt(need, 'aggregateResources', 'cpu'));

/** Waits until a roll-up that was sent after now was acknowledged. */
const untilNextAck = async (fleet: Parameters<typeof needsAt>[0]): Promise<void> => {
  const sofar = (await rollupsAt(fleet)).length;
  await eventually(
    async () => (await rollupsAt(fleet)).slice(sofar + 1).some(({ acked }) => acked),
    {
      what: 'the next roll-up to be acknowledged',
    },
  );
};

/** Its session ends when the fleet acknowledges nothing for three times as long. */
const UNHURRIED = { 'rollup-interval': '5s', ...LASTING_LEASE };

describeWithTestbed('operator, with bad input', {}, (bed) => {
  it('wire 2: excludes invalid requests with a Warning each, and reports the others', async () => {
    const cluster = await freshCluster(bed());
    const fleet = await startFleet({ seedMachines: 0 });
    const operator = await startOperator({ bed: bed(), shardAddress: fleet.address });
    const bad = Object.entries(BAD).map(([name, { spec }]) => wantedMachine(name, spec));
    await cluster.create(COLLECTIONS.requests, [...bad, ...wantedMachines(GOOD, 'good')]);
    await eventually(async () => (await needs(fleet)).join() === '24', {
      what: 'the good requests to count, and no other',
    });
    for (const [name, { field }] of Object.entries(BAD)) {
      const warnings = await untilWarned(cluster, name);
      expect(warnings.length).toBe(1);
      expect(warnings[0]).toMatch(/^Warning InvalidCapacityRequest /);
      expect(warnings[0]).toContain(field);
    }
    await eventually(async () => {
      const requests = await cluster.list(COLLECTIONS.requests);
      const acknowledged = requests.filter((one) => phaseOf(one) === 'Acknowledged').map(nameOf);
      return acknowledged.sort().join() === 'good-0,good-1,good-2';
    }, { what: 'the good requests to be acknowledged, and no other' });
    expect(await operator.metric('tidegate_capacity_requests')).toBe(GOOD);
    expect(await operator.metric('tidegate_capacity_requests_unreadable')).toBe(bad.length);

    const why = await explained(bed(), 'capacityrequest', 'default/bad-operator');
    expect(why).toContain('It is invalid, so the fleet is not asked for it');
    expect(why).toContain('spec.requirements[0].operator');

    // One that was good and turns bad counts as it did.
    await cluster.patch(`${COLLECTIONS.requests}/good-0`, { spec: { reclamationPenalty: '-3' } });
    const [turned, ...others] = await untilWarned(cluster, 'good-0');
    expect(others).toEqual([]);
    expect(turned).toContain('spec.reclamationPenalty');
    await untilNextAck(fleet);
    expect(await needs(fleet)).toEqual(['24']);

    // Each problem is reported once, and a corrected request joins the roll-up.
    await untilNextAck(fleet);
    for (const name of [...Object.keys(BAD), 'good-0']) {
      expect((await warningsAbout(cluster, name)).length).toBe(1);
    }
    await cluster.patch(`${COLLECTIONS.requests}/negative-penalty`, {
      spec: { interruptionPenalty: null },
    });
    await cluster.call('DELETE', `${COLLECTIONS.requests}/good-0`);
    await eventually(async () => (await needs(fleet)).join() === '24', {
      what: 'the corrected request in place of the deleted one',
    });
    // One whose session ended meanwhile is superseded by the first of the next.
    const verdicts = new Set((await rollupsAt(fleet)).map(({ verdict }) => verdict));
    expect([...verdicts].filter((verdict) => verdict !== 'superseded')).toEqual(['accepted']);
  });

  it('survives every malformed frame in one session, which continues to be acknowledged', async () => {
    const cluster = await freshCluster(bed());
    const fleet = await startFleet({ seedMachines: 0 });
    const operator = await startOperator({
      bed: bed(),
      shardAddress: fleet.address,
      flags: UNHURRIED,
    });
    await cluster.create(COLLECTIONS.requests, wantedMachines(1, 'good'));
    await untilAll(cluster, COLLECTIONS.requests, {
      what: 'the request to be acknowledged',
      count: 1,
      each: (one) => phaseOf(one) === 'Acknowledged',
    });
    for (const odd of ODD_FRAMES) {
      await fleet.script('POST', '/frames', { cluster: 'test', odd });
    }
    // Behind all of them, and one that is good.
    await fleet.script('POST', '/machines/good-machine/state', {
      state: 'CONFIGURED',
      cluster: 'test',
    });
    const objects = await untilAll(cluster, COLLECTIONS.upcomingNodes, {
      what: 'the machines that can be understood',
      count: 3,
      each: (one) => phaseOf(one) !== '',
    });
    expect(Object.fromEntries(objects.map((one) => [
      textAt(one, 'metadata', 'annotations', 'bigfleet.lucy.sh/machine-id'),
      phaseOf(one),
    ]))).toEqual({
      'odd-unspecified-state': 'Provisioning',
      'Odd_Machine/№ 1': 'Ready',
      'good-machine': 'Ready',
    });
    expect(objects.map(nameOf)).toContain(objectName('good-machine'));
    const problems = operator.logs().filter(({ message }) => message === 'Frame ignored')
      .map(({ problem }) => problem);
    expect(problems).toEqual([
      expect.stringContaining('the machine state 99 is unknown'),
      expect.stringContaining('the machine id is empty'),
      expect.stringMatching(/it has 104\d{5} bytes, limit 1048576/),
      expect.stringContaining('its payload is unknown to this version'),
      expect.stringContaining('Cannot read a frame of 7 bytes'),
      expect.stringMatching(/Cannot read a frame of \d+ bytes/),
    ]);
    expect(
      operator.logs().some(({ message, echo }) =>
        message === 'Unknown ack ignored' && echo === 'reclaim_ack'
      ),
    ).toBe(true);
    await untilNextAck(fleet);
    expect(new Set((await rollupsAt(fleet)).map(({ session }) => session))).toEqual(new Set([1]));
    expect(await operator.metric('bigfleet_operator_session_reconnects_total')).toBe(0);
    expect(await operator.probe('/healthz')).toBe(200);
  });
});
