/**
 * The API server is away in the middle of a burst, for long. Shortly, or slow at first:
 * `api-server-away-shortly.test.ts`.
 */
import { expect, it } from 'vitest';
import { describeWithTestbed, type Testbed } from '../support/api/testbed.ts';
import { BURST, goOn, inBurst, untilLastFrames } from '../support/fleet/cut-burst.ts';
import { needsAt, rollupsAt } from '../support/fleet/fleet-script.ts';
import { untilLeaseLost, untilWatchesFail } from '../support/processes/operator-outage.ts';
import { atScale } from '../support/scale.ts';

/** Watches that fail once the lease is lost, of all collections. */
const FAILED_WATCHES = atScale({ commit: 1, release: 30 });
const CREATED = 201;

/** Objects created by the burst; the burst is cut in the middle when some are missing. */
const expectCutInTheMiddle = async (bed: Testbed): Promise<void> => {
  const created = (await bed.audit()).filter(({ verb, resource, subresource, code }) =>
    verb === 'create' && resource === 'upcomingnodes' && subresource === '' && code === CREATED
  );
  expect(new Set(created.map(({ name }) => name)).size).toBeGreaterThan(0);
  expect(new Set(created.map(({ name }) => name)).size).toBeLessThan(BURST);
};

describeWithTestbed('operator, when the API server is away', {}, (bed) => {
  it('ends with every object in the state of its last frame after a long time without it', async () => {
    const { cluster, fleet, operator } = await inBurst(bed());
    await bed().stopApiServer();
    const before = await rollupsAt(fleet);
    await expectCutInTheMiddle(bed());
    await goOn(fleet);
    await untilLeaseLost(operator);
    await untilWatchesFail(operator, FAILED_WATCHES);
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
});
