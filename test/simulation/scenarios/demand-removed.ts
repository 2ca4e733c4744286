/** Demand is removed, and machines are returned. */
import {
  COLLECTIONS,
  isJoined,
  phaseOf,
  phasesIn,
  uidOf,
} from '../../support/api/cluster-connection.ts';
import { wantedMachines } from '../../support/demand/wanted-capacity.ts';
import { nameOf } from '../invariant.ts';
import { CLUSTER } from '../simulated-process.ts';
import type { Scenario } from './scenario.ts';
import { boundIds, rollupsOf, sessionSiteOptions, untilAll, UPCOMING } from './session-scene.ts';
import type { Harness } from './harness.ts';

/** As many rows as the guard checks, and two more. */
const ROWS = 12;
const REMOVED = 5;
const OWNED = 40;
const SEEN_MS = 1000;

/** A machine for each of `ROWS` needs. */
const settle = async (harness: Harness): Promise<void> => {
  harness.processes.start();
  const requests = wantedMachines(ROWS, 'wanted', (priority) => ({ priority }));
  harness.create(COLLECTIONS.requests, requests);
  await untilAll(harness, COLLECTIONS.upcomingNodes, {
    what: 'every machine is Ready with its Node',
    count: ROWS,
    each: isJoined,
  });
};

const remove = (harness: Harness, count: number): void => {
  harness.note(`${count} requests are removed`);
  for (let number = 0; number < count; number += 1) {
    harness.remove(`${COLLECTIONS.requests}/wanted-${number}`);
  }
};

const untilGone = (harness: Harness, collection: string): Promise<boolean> =>
  harness.until(`${collection} is empty`, () => harness.list(collection).length === 0);

export const demandRemoved: Scenario = {
  name: 'demand-removed',
  shows: 'as many machines are returned as are not needed, and the others are left alone',
  siteOptions: sessionSiteOptions(32, { machines: OWNED }),
  play: async (harness) => {
    await settle(harness);
    const seen = harness.following(UPCOMING);
    const before = harness.list(COLLECTIONS.upcomingNodes);
    remove(harness, REMOVED);
    const left = await untilAll(harness, COLLECTIONS.upcomingNodes, {
      what: 'the machines of the removed requests are returned',
      count: ROWS - REMOVED,
      each: (one) => phaseOf(one) === 'Ready',
    });
    const kept = new Set(left.map(uidOf));
    for (const one of before) {
      const phases = phasesIn(seen.of(nameOf(one)));
      const wanted = kept.has(uidOf(one)) ? [] : ['Draining', 'Drained'];
      harness.is(`the way of ${nameOf(one)}`, phases, wanted);
    }
    harness.is('as many deletions', seen.deleted().length, REMOVED);
    await harness.until(
      'their Nodes are deleted',
      () => harness.list(COLLECTIONS.nodes).length === ROWS - REMOVED,
    );
    const last = rollupsOf(harness).at(-1);
    harness.is('the demand is reported', [last?.rows, last?.acked], [ROWS - REMOVED, true]);
    const { reclaims, reclaimAcks } = harness.site.script.shard;
    harness.is('an instruction and an ack each', [reclaims.total(), reclaimAcks.total()], [
      REMOVED,
      REMOVED,
    ]);
  },
};

export const demandGone: Scenario = {
  name: 'demand-gone',
  shows: 'everything is returned once the fleet accepts that there is no demand',
  siteOptions: sessionSiteOptions(33, { machines: OWNED }),
  play: async (harness) => {
    await settle(harness);
    const { script } = harness.site;
    // Without a session, so that no roll-up reports half of the deletion.
    script.admission.refuse = true;
    script.end(CLUSTER, { status: undefined, message: '' });
    remove(harness, ROWS);
    await harness.wait(SEEN_MS);
    script.admission.refuse = false;
    await untilGone(harness, COLLECTIONS.upcomingNodes);
    await untilGone(harness, COLLECTIONS.nodes);
    await untilGone(harness, COLLECTIONS.capacities);
    harness.is('no machine is left', boundIds(harness), []);
    const rollups = rollupsOf(harness);
    const first = rollups.findIndex(({ verdict }) => verdict === 'doubted');
    const verdicts = rollups.slice(first, first + 3)
      .map(({ rows, verdict, acked }) => [rows, verdict, acked]);
    // From many rows to none: the guard doubts it twice, and acks all the same.
    harness.is('doubted twice', verdicts, [
      [0, 'doubted', true],
      [0, 'doubted', true],
      [0, 'accepted', true],
    ]);
    const idle = [...script.shard.inventory.values()].filter(({ state }) => state === 'IDLE');
    harness.is('all are idle', idle.length, OWNED);
  },
};
