/** The fleet is killed without a word and comes back with what it had written down. */
import { COLLECTIONS, isJoined, phaseOf } from '../../support/api/cluster-connection.ts';
import { wantedMachines } from '../../support/demand/wanted-capacity.ts';
import { nameOf } from '../invariant.ts';
import { CLUSTER } from '../simulated-process.ts';
import type { Scenario } from './scenario.ts';
import {
  boundIds,
  namesOf,
  rollupsOf,
  sessionSetting,
  uidsOf,
  untilAll,
  UPCOMING,
} from './session-scene.ts';
import type { Stage } from './stage.ts';

const MACHINES = 6;
const VANISHED = 2;
const OWNED = 24;
const HOUR_MS = 3_600_000;
const AWAY_MS = 5000;

const isReady = (one: object): boolean => phaseOf(one) === 'Ready';

/** How many endings without a proof of life each ending was the last of. */
const attempts = (stage: Stage, since: number): readonly unknown[] =>
  stage.said().slice(since).filter(({ message }) => message === 'Session ended')
    .map(({ fields }) => fields?.['attempt']);

const settle = async (stage: Stage) => {
  stage.house.start();
  stage.create(COLLECTIONS.requests, wantedMachines(MACHINES, 'wanted'));
  return await untilAll(stage, COLLECTIONS.upcomingNodes, {
    what: 'every machine is Ready with its Node',
    count: MACHINES,
    each: isJoined,
  });
};

/** The fleet dies; two of its machines are not in what it has written down. */
const kill = async (stage: Stage, vanished: readonly string[]): Promise<void> => {
  stage.note('the fleet is killed');
  stage.state.trouble(AWAY_MS);
  await stage.site.fleet.kill();
  stage.site.fleet.forget(vanished.map((name) => name.slice('un-'.length)));
  await stage.wait(AWAY_MS);
};

export const fleetKilled: Scenario = {
  name: 'fleet-killed',
  shows: 'wire 7: reconnects, doubles nothing, and collects what vanished after the replay',
  setting: sessionSetting(34, { machines: OWNED, fleetTiming: { drainingMs: 2000 } }),
  play: async (stage) => {
    const before = await settle(stage);
    const vanished = namesOf(before).slice(0, VANISHED);
    const kept = before.filter((one) => !vanished.includes(nameOf(one)));
    const seen = stage.following(UPCOMING);
    const mark = stage.said().length;
    await kill(stage, vanished);
    const stands = uidsOf(stage.list(COLLECTIONS.upcomingNodes));
    stage.is('silence proves nothing', stands, uidsOf(before));

    stage.note('the fleet is back, and acks no roll-ups');
    // No cycle: nobody is given a new machine.
    stage.site.fleet.comeBack({ cycleMs: HOUR_MS });
    stage.site.script.shard.rollups.faults.acks = false;
    await stage.until('two roll-ups', () => rollupsOf(stage).length > 1);
    stage.is('nothing is collected before an ack', seen.deleted(), []);
    const tried = attempts(stage, mark);
    stage.is('the attempts are counted', tried, tried.map((_, index) => index + 1));

    stage.note('the fleet acks roll-ups');
    stage.site.script.shard.rollups.faults.acks = true;
    const after = await untilAll(stage, COLLECTIONS.upcomingNodes, {
      what: 'what vanished is collected',
      count: MACHINES - VANISHED,
      each: isReady,
    });
    stage.is('the others are those of before', uidsOf(after), uidsOf(kept));
    stage.is('so the fleet has them', boundIds(stage).map((id) => `un-${id}`), namesOf(kept));
    stage.is('two deletions', seen.deleted().toSorted(), vanished);
    const touched = kept.flatMap((one) => seen.of(nameOf(one)));
    stage.is('what was right stays untouched', touched, []);
    const rows = new Set(rollupsOf(stage).map((one) => one.rows));
    stage.is('every roll-up is the whole demand', [...rows], [1]);
    const pulls = stage.site.script.shard.bootstraps.answered.total();
    stage.is('nobody is pulled for', pulls, 0);

    const proven = stage.said().length;
    stage.site.script.end(CLUSTER, { status: undefined, message: '' });
    await stage.until('the session ends', () => attempts(stage, proven).length > 0);
    stage.is('it counts from one again', attempts(stage, proven), [1]);
  },
};

export const fleetKilledReplaced: Scenario = {
  name: 'fleet-killed-replaced',
  shows: 'machines come in place of those that vanished, and the others are kept',
  setting: sessionSetting(35, { machines: OWNED }),
  play: async (stage) => {
    const before = await settle(stage);
    const vanished = namesOf(before).slice(0, VANISHED);
    await kill(stage, vanished);
    stage.note('the fleet is back');
    stage.site.fleet.comeBack();
    const after = await stage.until('as many machines as before', () => {
      const objects = stage.list(COLLECTIONS.upcomingNodes);
      const bound = boundIds(stage).map((id) => `un-${id}`);
      return bound.length === MACHINES && objects.every(isReady) &&
        namesOf(objects).join() === bound.join() && objects;
    });
    const uids = uidsOf(after);
    const kept = uidsOf(before.filter((one) => !vanished.includes(nameOf(one))));
    stage.is('the others are kept', kept.filter((uid) => !uids.includes(uid)), []);
    const pulls = stage.site.script.shard.bootstraps.answered.total();
    stage.is('the new ones are pulled for', pulls, VANISHED);
  },
};
