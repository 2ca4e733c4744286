/** The API server is away in the middle of a burst while the lease lasts, or slow at first. */
import { expect, it } from 'vitest';
import { COLLECTIONS, nameOf, uidOf } from '../support/api/cluster-client.ts';
import { startFaultProxy } from '../support/api/fault-proxy.ts';
import { freshCluster } from '../support/api/fresh-cluster.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { wantedMachines } from '../support/demand/wanted-capacity.ts';
import { eventually } from '../support/eventually.ts';
import { goOn, inBurst, untilLastFrames } from '../support/fleet/cut-burst.ts';
import { rollupsAt } from '../support/fleet/fleet-script.ts';
import { startFleet } from '../support/processes/fleet-process.ts';
import { startOperator } from '../support/processes/operator-process.ts';
import { atScale } from '../support/scale.ts';

/** What the fleet still gets while the API server is away. */
const ROLLUPS_AWAY = atScale({ commit: 6, release: 12 });
/** Three pages of 500. */
const MANY_REQUESTS = 1500;
/** What the operator lists beside them. */
const OTHER_LISTS = 7;

describeWithTestbed('operator, when the API server is away shortly', {}, (bed) => {
  it('wire 5: keeps session and demand while its lease lasts, and writes what it missed', async () => {
    const lease = { 'lease-duration': '120s', 'lease-renew-deadline': '100s' };
    const { cluster, fleet, operator } = await inBurst(bed(), lease);
    const uids = new Map(
      (await cluster.list(COLLECTIONS.upcomingNodes)).map((one) => [nameOf(one), uidOf(one)]),
    );
    await bed().stopApiServer();
    const before = await rollupsAt(fleet);
    await goOn(fleet);
    await eventually(async () => (await rollupsAt(fleet)).length >= before.length + ROLLUPS_AWAY, {
      what: 'roll-ups without the API server',
    });

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
    const proxy = await startFaultProxy(bed());
    proxy.hold((target) => target.includes('/capacityrequests?') && target.includes('continue='));
    const fleet = await startFleet({ seedMachines: 0 });
    const operator = await startOperator({
      bed: bed(),
      shardAddress: fleet.address,
      flags: { kubeconfig: proxy.kubeconfig },
    });
    await eventually(() => proxy.held().length > 0, { what: 'the request for the second page' });
    // It waits for nothing else, does not dial, and is not called ready.
    const lists = (): Promise<number> => operator.metric('tidegate_watch_relists_total');
    await eventually(async () => await lists() >= OTHER_LISTS, {
      what: 'all other lists',
    });
    expect(await fleet.script('GET', '/state')).toMatchObject({ sessions: [], rollups: 0 });
    expect(await operator.probe('/readyz')).toBe(503);
    expect(await operator.probe('/healthz')).toBe(200);

    proxy.release();
    await eventually(async () => (await rollupsAt(fleet)).length > 0, { what: 'a roll-up' });
    expect((await rollupsAt(fleet))[0]).toMatchObject({ rows: MANY_REQUESTS, session: 1 });
    await operator.untilReady();
  });
});
