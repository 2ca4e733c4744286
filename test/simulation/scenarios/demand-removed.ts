/** Demand goes away, and machines go back. */
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
import { boundIds, rollupsOf, sessionSetting, untilAll, UPCOMING } from './session-scene.ts';
import type { Stage } from './stage.ts';

/** As many rows as the guard looks after, and two more. */
const ROWS = 12;
const REMOVED = 5;
const OWNED = 40;
const SEEN_MS = 1000;

/** A machine for each of `ROWS` needs. */
const settle = async (stage: Stage): Promise<void> => {
  stage.house.start();
  const requests = wantedMachines(ROWS, 'wanted', (priority) => ({ priority }));
  stage.create(COLLECTIONS.requests, requests);
  await untilAll(stage, COLLECTIONS.upcomingNodes, {
    what: 'every machine is Ready with its Node',
    count: ROWS,
    each: isJoined,
  });
};

const remove = (stage: Stage, count: number): void => {
  stage.note(`${count} requests are removed`);
  for (let number = 0; number < count; number += 1) {
    stage.remove(`${COLLECTIONS.requests}/wanted-${number}`);
  }
};

const untilGone = (stage: Stage, collection: string): Promise<boolean> =>
  stage.until(`${collection} is empty`, () => stage.list(collection).length === 0);

export const demandRemoved: Scenario = {
  name: 'demand-removed',
  shows: 'as many machines go back as are not wanted, and the others are left alone',
  setting: sessionSetting(32, { machines: OWNED }),
  play: async (stage) => {
    await settle(stage);
    const seen = stage.following(UPCOMING);
    const before = stage.list(COLLECTIONS.upcomingNodes);
    remove(stage, REMOVED);
    const left = await untilAll(stage, COLLECTIONS.upcomingNodes, {
      what: 'the machines of the removed requests go back',
      count: ROWS - REMOVED,
      each: (one) => phaseOf(one) === 'Ready',
    });
    const kept = new Set(left.map(uidOf));
    for (const one of before) {
      const phases = phasesIn(seen.of(nameOf(one)));
      const wanted = kept.has(uidOf(one)) ? [] : ['Draining', 'Drained'];
      stage.is(`the way of ${nameOf(one)}`, phases, wanted);
    }
    stage.is('as many deletions', seen.deleted().length, REMOVED);
    await stage.until(
      'their Nodes go',
      () => stage.list(COLLECTIONS.nodes).length === ROWS - REMOVED,
    );
    const last = rollupsOf(stage).at(-1);
    stage.is('the demand is known', [last?.rows, last?.acked], [ROWS - REMOVED, true]);
    const { reclaims, reclaimAcks } = stage.site.script.shard;
    stage.is('an instruction and an ack each', [reclaims.total(), reclaimAcks.total()], [
      REMOVED,
      REMOVED,
    ]);
  },
};

export const demandGone: Scenario = {
  name: 'demand-gone',
  shows: 'everything goes back once the fleet believes that nothing is wanted any more',
  setting: sessionSetting(33, { machines: OWNED }),
  play: async (stage) => {
    await settle(stage);
    const { script } = stage.site;
    // Without a session, so that no roll-up tells of half the deletion.
    script.door.refuse = true;
    script.end(CLUSTER, { status: undefined, message: '' });
    remove(stage, ROWS);
    await stage.wait(SEEN_MS);
    script.door.refuse = false;
    await untilGone(stage, COLLECTIONS.upcomingNodes);
    await untilGone(stage, COLLECTIONS.nodes);
    await untilGone(stage, COLLECTIONS.capacities);
    stage.is('no machine is left', boundIds(stage), []);
    const rollups = rollupsOf(stage);
    const first = rollups.findIndex(({ verdict }) => verdict === 'doubted');
    const verdicts = rollups.slice(first, first + 3)
      .map(({ rows, verdict, acked }) => [rows, verdict, acked]);
    // From many rows to none: the guard doubts it twice, and acks all the same.
    stage.is('doubted twice', verdicts, [
      [0, 'doubted', true],
      [0, 'doubted', true],
      [0, 'accepted', true],
    ]);
    const idle = [...script.shard.inventory.values()].filter(({ state }) => state === 'IDLE');
    stage.is('all are idle', idle.length, OWNED);
  },
};
