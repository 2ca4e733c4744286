/** The API server is away in the middle of a burst, or slow at first. */
import { expect, it } from 'vitest';
import { type JsonRecord, textAt } from '../../src/domain/json.ts';
import {
  type ClusterClient,
  COLLECTIONS,
  nameOf,
  phaseOf,
  uidOf,
  untilAll,
} from '../support/api/cluster-client.ts';
import { startFaultProxy } from '../support/api/fault-proxy.ts';
import { freshCluster } from '../support/api/fresh-cluster.ts';
import { describeWithTestbed, type Testbed } from '../support/api/testbed.ts';
import { wantedMachines } from '../support/demand/wanted-capacity.ts';
import { eventually, pause } from '../support/eventually.ts';
import { needsAt, objectName, rollupsAt } from '../support/fleet/fleet-script.ts';
import { type FleetProcess, startFleet } from '../support/processes/fleet-process.ts';
import { startOperator } from '../support/processes/operator-process.ts';
import { atScale } from '../support/scale.ts';

const AWAY_MS = atScale({ commit: 20_000, release: 60_000 });
const AWAY_SHORTLY_MS = atScale({ commit: 8_000, release: 15_000 });
const BURST = 300;
const REQUESTS = 4;
const CREATED = 201;
/** So slow that a burst takes seconds. */
const SLOWLY = { 'qps': '60', 'burst': '20' };
/** Three pages of 500. */
const MANY_REQUESTS = 1500;

/** The ends of the burst's machines during the outage, by number modulo 5. */
const ENDS = [
  { state: 'CONFIGURED', phase: 'Ready' },
  { state: 'DRAINING', phase: 'Draining' },
  { state: 'IDLE', phase: 'gone' },
  { state: 'FAILED', phase: 'Failed' },
  undefined,
] as const;

const machineId = (number: number): string => `mass-${String(number).padStart(6, '0')}`;
const numbers = Array.from({ length: BURST }, (_, index) => index + 1);
const endOf = (number: number): (typeof ENDS)[number] => ENDS[number % ENDS.length];

const burst = (fleet: FleetProcess): Promise<unknown> =>
  fleet.script('POST', '/mass', {
    cluster: 'test',
    count: BURST,
    states: ['CREATING', 'CONFIGURING', 'CONFIGURED', 'DRAINING', 'CONFIGURING'],
  });

/** Objects created by the burst; the burst is cut in the middle when some are missing. */
const expectCutInTheMiddle = async (bed: Testbed): Promise<void> => {
  const created = (await bed.audit()).filter(({ verb, resource, subresource, code }) =>
    verb === 'create' && resource === 'upcomingnodes' && subresource === '' && code === CREATED
  );
  expect(new Set(created.map(({ name }) => name)).size).toBeGreaterThan(0);
  expect(new Set(created.map(({ name }) => name)).size).toBeLessThan(BURST);
};

/** Takes each machine to its own end, if it has one. */
const goOn = async (fleet: FleetProcess): Promise<void> => {
  for (const number of numbers) {
    const end = endOf(number);
    if (end === undefined) continue;
    await fleet.script('POST', `/machines/${machineId(number)}/state`, {
      state: end.state,
      cluster: 'test',
      ...(end.state === 'FAILED' ? { lastError: `broken ${number}` } : {}),
    });
  }
};

/** The expected phase and error of each object, by name. */
const expected = new Map(
  numbers.flatMap((number) => {
    const { phase } = endOf(number) ?? { phase: 'Registered' };
    const error = phase === 'Failed' ? `broken ${number}` : '';
    return phase === 'gone' ? [] : [[objectName(machineId(number)), `${phase} ${error}`] as const];
  }),
);

const current = (one: JsonRecord): string =>
  `${phaseOf(one)} ${textAt(one, 'status', 'lastError') ?? ''}`;

const untilLastFrames = (cluster: ClusterClient): Promise<readonly JsonRecord[]> =>
  untilAll(cluster, COLLECTIONS.upcomingNodes, {
    what: 'every object to show the last frame of its machine',
    count: expected.size,
    each: (one) => expected.get(nameOf(one)) === current(one),
    timeoutMs: 120_000,
  });

describeWithTestbed('operator, when the API server is away', { print: () => {} }, (bed) => {
  it('ends with every object in the state of its last frame after a long time without it', async () => {
    const cluster = await freshCluster(bed());
    const fleet = await startFleet({ seedMachines: 0 });
    const operator = await startOperator({
      bed: bed(),
      shardAddress: fleet.address,
      flags: SLOWLY,
    });
    await cluster.create(COLLECTIONS.requests, wantedMachines(REQUESTS, 'wanted'));
    await untilAll(cluster, COLLECTIONS.requests, {
      what: 'every request to be acknowledged',
      count: REQUESTS,
      each: (one) => phaseOf(one) === 'Acknowledged',
    });
    await burst(fleet);
    await eventually(async () => (await cluster.list(COLLECTIONS.upcomingNodes)).length > 0, {
      what: 'the first object of the burst',
      everyMs: 5,
    });
    await bed().stopApiServer();
    await expectCutInTheMiddle(bed());
    const before = await rollupsAt(fleet);
    await goOn(fleet);
    await pause(AWAY_MS);
    expect(operator.isRunning()).toBe(true);
    expect(await operator.probe('/healthz')).toBe(200);
    const meanwhile = (await rollupsAt(fleet)).slice(before.length);
    // While it may still lead, it keeps sending the last known demand.
    expect(meanwhile.length).toBeGreaterThan(0);

    await bed().startApiServer();
    await untilLastFrames(cluster);
    const rollups = await rollupsAt(fleet);
    expect(new Set(rollups.slice(before.length).map(({ rows }) => rows))).toEqual(new Set([1]));
    expect(await needsAt(fleet, 'test')).toMatchObject([{ aggregateResources: { cpu: '32' } }]);
    expect(operator.isRunning()).toBe(true);
    expect(await operator.stop()).toBe(0);
  });

  it('wire 5: keeps session and demand while its lease lasts, and writes what it missed', async () => {
    const cluster = await freshCluster(bed());
    const fleet = await startFleet({ seedMachines: 0 });
    const operator = await startOperator({
      bed: bed(),
      shardAddress: fleet.address,
      flags: { ...SLOWLY, 'lease-duration': '120s', 'lease-renew-deadline': '100s' },
    });
    await cluster.create(COLLECTIONS.requests, wantedMachines(REQUESTS, 'wanted'));
    await untilAll(cluster, COLLECTIONS.requests, {
      what: 'every request to be acknowledged',
      count: REQUESTS,
      each: (one) => phaseOf(one) === 'Acknowledged',
    });
    await burst(fleet);
    await eventually(async () => (await cluster.list(COLLECTIONS.upcomingNodes)).length > 0, {
      what: 'the first object of the burst',
      everyMs: 5,
    });
    const uids = new Map(
      (await cluster.list(COLLECTIONS.upcomingNodes)).map((one) => [nameOf(one), uidOf(one)]),
    );
    await bed().stopApiServer();
    const before = await rollupsAt(fleet);
    await goOn(fleet);
    await pause(AWAY_SHORTLY_MS);
    const sent = (await rollupsAt(fleet)).length - before.length;
    expect(sent).toBeGreaterThan(3);

    await bed().startApiServer();
    const objects = await untilLastFrames(cluster);
    for (const one of objects) expect(uids.get(nameOf(one)) ?? uidOf(one)).toBe(uidOf(one));
    const rollups = await rollupsAt(fleet);
    expect(new Set(rollups.map(({ session }) => session))).toEqual(new Set([1]));
    expect(rollups.slice(before.length).every(({ rows, acked }) => rows === 1 && acked)).toBe(true);
    expect(await operator.metric('bigfleet_operator_session_reconnects_total')).toBe(0);
  });

  it('wire 5: sends no roll-up before a slow initial list is complete', async () => {
    const cluster = await freshCluster(bed());
    // One need each, so that every request is a row of the roll-up.
    const many = wantedMachines(MANY_REQUESTS, 'many', (priority) => ({ priority }));
    await cluster.create(COLLECTIONS.requests, many);
    const proxy = await startFaultProxy(bed(), 'tidegate');
    proxy.hold((target) => target.includes('/capacityrequests?') && target.includes('continue='));
    const fleet = await startFleet({ seedMachines: 0 });
    const operator = await startOperator({
      bed: bed(),
      shardAddress: fleet.address,
      flags: { kubeconfig: proxy.kubeconfig },
    });
    await eventually(() => proxy.held().length > 0, { what: 'the request for the second page' });
    // Several intervals without a dial, and without being called ready.
    await pause(3000);
    expect(await fleet.script('GET', '/state')).toMatchObject({ sessions: [], rollups: 0 });
    expect(await operator.probe('/readyz')).toBe(503);
    expect(await operator.probe('/healthz')).toBe(200);

    proxy.release();
    await eventually(async () => (await rollupsAt(fleet)).length > 0, { what: 'a roll-up' });
    expect((await rollupsAt(fleet))[0]).toMatchObject({ rows: MANY_REQUESTS, session: 1 });
    await operator.untilReady();
  });
});
