/** The fleet is killed and restarts with its recorded bindings. */
import { COLLECTIONS, isJoined, phaseOf } from '../../support/api/cluster-connection.ts';
import { wantedMachines } from '../../support/demand/wanted-capacity.ts';
import { nameOf } from '../invariant.ts';
import { CLUSTER } from '../simulated-process.ts';
import type { Scenario } from './scenario.ts';
import {
  boundIds,
  namesOf,
  rollupsOf,
  sessionSiteOptions,
  uidsOf,
  untilAll,
  UPCOMING,
} from './session-scene.ts';
import type { Harness } from './harness.ts';

const MACHINES = 6;
const VANISHED = 2;
const OWNED = 24;
const HOUR_MS = 3_600_000;
const AWAY_MS = 5000;

const isReady = (one: object): boolean => phaseOf(one) === 'Ready';

/** The number of consecutive ends without a completed resync. */
const attempts = (harness: Harness, since: number): readonly unknown[] =>
  harness.logged().slice(since).filter(({ message }) => message === 'Session ended')
    .map(({ fields }) => fields?.['attempt']);

const settle = async (harness: Harness) => {
  harness.processes.start();
  harness.create(COLLECTIONS.requests, wantedMachines(MACHINES, 'wanted'));
  return await untilAll(harness, COLLECTIONS.upcomingNodes, {
    what: 'every machine is Ready with its Node',
    count: MACHINES,
    each: isJoined,
  });
};

/** The fleet dies; two of its machines are not in its recorded bindings. */
const kill = async (harness: Harness, vanished: readonly string[]): Promise<void> => {
  harness.note('the fleet is killed');
  harness.state.trouble(AWAY_MS);
  await harness.site.fleet.kill();
  harness.site.fleet.forget(vanished.map((name) => name.slice('un-'.length)));
  await harness.wait(AWAY_MS);
};

export const fleetKilled: Scenario = {
  name: 'fleet-killed',
  shows: 'wire 7: reconnects, duplicates nothing, and deletes missing machines after the replay',
  siteOptions: sessionSiteOptions(34, { machines: OWNED, fleetTiming: { drainingMs: 2000 } }),
  play: async (harness) => {
    const before = await settle(harness);
    const vanished = namesOf(before).slice(0, VANISHED);
    const kept = before.filter((one) => !vanished.includes(nameOf(one)));
    const seen = harness.following(UPCOMING);
    const mark = harness.logged().length;
    await kill(harness, vanished);
    const stands = uidsOf(harness.list(COLLECTIONS.upcomingNodes));
    harness.is('nothing is deleted without a session', stands, uidsOf(before));

    harness.note('the fleet is back, and acks no roll-ups');
    // No cycle: no machine is allocated.
    harness.site.fleet.restart({ cycleMs: HOUR_MS });
    harness.site.script.shard.rollups.faults.acks = false;
    await harness.until('two roll-ups', () => rollupsOf(harness).length > 1);
    harness.is('nothing is deleted before an ack', seen.deleted(), []);
    const tried = attempts(harness, mark);
    harness.is('the attempts are counted', tried, tried.map((_, index) => index + 1));

    harness.note('the fleet acks roll-ups');
    harness.site.script.shard.rollups.faults.acks = true;
    const after = await untilAll(harness, COLLECTIONS.upcomingNodes, {
      what: 'missing machines are deleted',
      count: MACHINES - VANISHED,
      each: isReady,
    });
    harness.is('the others are kept', uidsOf(after), uidsOf(kept));
    harness.is('they equal the fleet', boundIds(harness).map((id) => `un-${id}`), namesOf(kept));
    harness.is('two deletions', seen.deleted().toSorted(), vanished);
    const touched = kept.flatMap((one) => seen.of(nameOf(one)));
    harness.is('correct objects are not written', touched, []);
    const rows = new Set(rollupsOf(harness).map((one) => one.rows));
    harness.is('every roll-up is the whole demand', [...rows], [1]);
    const pulls = harness.site.script.shard.bootstraps.answered.total();
    harness.is('no bootstrap pull', pulls, 0);

    const proven = harness.logged().length;
    harness.site.script.end(CLUSTER, { status: undefined, message: '' });
    await harness.until('the session ends', () => attempts(harness, proven).length > 0);
    harness.is('it counts from one again', attempts(harness, proven), [1]);
  },
};

export const fleetKilledReplaced: Scenario = {
  name: 'fleet-killed-replaced',
  shows: 'missing machines are replaced, and the others are kept',
  siteOptions: sessionSiteOptions(35, { machines: OWNED }),
  play: async (harness) => {
    const before = await settle(harness);
    const vanished = namesOf(before).slice(0, VANISHED);
    await kill(harness, vanished);
    harness.note('the fleet is back');
    harness.site.fleet.restart();
    const after = await harness.until('as many machines as before', () => {
      const objects = harness.list(COLLECTIONS.upcomingNodes);
      const bound = boundIds(harness).map((id) => `un-${id}`);
      return bound.length === MACHINES && objects.every(isReady) &&
        namesOf(objects).join() === bound.join() && objects;
    });
    const uids = uidsOf(after);
    const kept = uidsOf(before.filter((one) => !vanished.includes(nameOf(one))));
    harness.is('the others are kept', kept.filter((uid) => !uids.includes(uid)), []);
    const pulls = harness.site.script.shard.bootstraps.answered.total();
    harness.is('a bootstrap pull for each new one', pulls, VANISHED);
  },
};
