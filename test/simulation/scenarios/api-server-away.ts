/** The API server goes away in the middle of things, is slow at first, or forgets. */
import { type JsonRecord, textAt } from '../../../src/domain/json.ts';
import { COLLECTIONS, phaseOf, uidOf } from '../../support/api/cluster-connection.ts';
import { wantedMachine, wantedMachines } from '../../support/demand/wanted-capacity.ts';
import { nameOf } from '../invariant.ts';
import { CLUSTER, type ProcessFlags } from '../simulated-process.ts';
import type { Scenario } from './scenario.ts';
import {
  burst,
  machineId,
  namesOf,
  needsOf,
  numbersTo,
  REQUESTS as REQUESTS_STORED,
  rollupsOf,
  sessionSetting,
  untilAcknowledged,
  untilAll,
  untilSession,
} from './session-scene.ts';
import type { Stage } from './stage.ts';

const AWAY_MS = 60_000;
const AWAY_SHORTLY_MS = 15_000;
const BURST = 300;
const REQUESTS = 4;
/** So slowly that a burst takes seconds. */
const SLOWLY: Partial<ProcessFlags> = { qps: 60, burst: 20, rollupIntervalMs: 1000 };
const PATIENT_LEASE = { leaseMs: 120_000, renewMs: 100_000, retryMs: 2000 };
/** Three pages of 500. */
const MANY_REQUESTS = 1500;
const HOUR_MS = 3_600_000;
const SEVERAL_INTERVALS_MS = 30_000;

const setting = (seed: number) => sessionSetting(seed, { makesNodes: false });

/** What becomes of the burst's machines while nobody can write it down, by number modulo 5. */
const ENDS = [
  { state: 'CONFIGURED', phase: 'Ready' },
  { state: 'DRAINING', phase: 'Draining' },
  { state: 'IDLE', phase: 'gone' },
  { state: 'FAILED', phase: 'Failed' },
  undefined,
] as const;

const endOf = (number: number): (typeof ENDS)[number] => ENDS[number % ENDS.length];

/** What each object must look like when all is done: phase and error by name. */
const expected: ReadonlyMap<string, string> = new Map(
  numbersTo(BURST).flatMap((number) => {
    const { phase } = endOf(number) ?? { phase: 'Registered' };
    const error = phase === 'Failed' ? `broken ${number}` : '';
    return phase === 'gone' ? [] : [[`un-${machineId(number)}`, `${phase} ${error}`] as const];
  }),
);

const shown = (one: JsonRecord): string =>
  `${phaseOf(one)} ${textAt(one, 'status', 'lastError') ?? ''}`;

const untilLastFrames = (stage: Stage): Promise<readonly JsonRecord[]> =>
  untilAll(stage, COLLECTIONS.upcomingNodes, {
    what: 'every object shows the last frame of its machine',
    count: expected.size,
    each: (one) => expected.get(nameOf(one)) === shown(one),
  });

/** The API server is away for so long, and breaks off what is open. */
const goAway = (stage: Stage, forMs: number): void => {
  const { weather, trouble } = stage.state;
  stage.note(`the API server is away for ${forMs} ms`);
  trouble(forMs);
  weather.outage = true;
  for (const { api } of stage.house.all()) api.dropWatches('cut');
};

const comeBack = (stage: Stage): void => {
  stage.note('the API server is back');
  stage.state.weather.outage = false;
};

/** Takes each machine to its end, if it has one of its own. */
const goOn = (stage: Stage): void => {
  for (const number of numbersTo(BURST)) {
    const end = endOf(number);
    if (end === undefined) continue;
    stage.site.script.place(machineId(number), {
      state: end.state,
      cluster: CLUSTER,
      ...(end.state === 'FAILED' ? { lastError: `broken ${number}` } : {}),
    });
  }
};

/** A burst, of which the first objects are there. */
const inBurst = async (stage: Stage): Promise<readonly JsonRecord[]> => {
  stage.house.start();
  stage.create(COLLECTIONS.requests, wantedMachines(REQUESTS, 'wanted'));
  await untilAcknowledged(stage, REQUESTS);
  burst(stage, BURST, ['CREATING', 'CONFIGURING', 'CONFIGURED', 'DRAINING', 'CONFIGURING']);
  const objects = await stage.until('the first objects of the burst', () => {
    const all = stage.list(COLLECTIONS.upcomingNodes);
    return all.length > 0 && all;
  }, { everyMs: 5 });
  stage.is('the burst is cut in the middle', objects.length < BURST, true);
  return objects;
};

export const apiServerAway: Scenario = {
  name: 'api-server-away',
  shows: 'every object is in the state of its last frame after 60 s without the API server',
  setting: setting(40),
  flags: SLOWLY,
  play: async (stage) => {
    await inBurst(stage);
    goAway(stage, AWAY_MS);
    const before = rollupsOf(stage).length;
    goOn(stage);
    await stage.wait(AWAY_MS);
    // As long as it may still lead, it goes on saying what it knows.
    stage.is('it goes on for a while', rollupsOf(stage).length > before, true);
    comeBack(stage);
    await untilLastFrames(stage);
    const rows = new Set(rollupsOf(stage).slice(before).map((one) => one.rows));
    stage.is('every roll-up is the whole demand', [...rows], [1]);
    stage.is('the demand', needsOf(stage).map(({ resources }) => resources['cpu']), ['32']);
    stage.is('the same process', stage.house.all().map(({ identity }) => identity), ['process-1']);
  },
};

export const apiServerAwayShortly: Scenario = {
  name: 'api-server-away-shortly',
  shows:
    'wire 5: session and demand are kept while the lease lasts, and what was missed is written',
  setting: setting(41),
  flags: { ...SLOWLY, lease: PATIENT_LEASE },
  play: async (stage) => {
    const uids = new Map((await inBurst(stage)).map((one) => [nameOf(one), uidOf(one)]));
    goAway(stage, AWAY_SHORTLY_MS);
    const before = rollupsOf(stage).length;
    goOn(stage);
    await stage.wait(AWAY_SHORTLY_MS);
    stage.is('it goes on', rollupsOf(stage).length - before > 3, true);
    comeBack(stage);
    const objects = await untilLastFrames(stage);
    const others = objects.filter((one) => (uids.get(nameOf(one)) ?? uidOf(one)) !== uidOf(one));
    stage.is('objects are kept', others, []);
    const rollups = rollupsOf(stage);
    stage.is('one session', [...new Set(rollups.map(({ session }) => session))], [1]);
    const bad = rollups.slice(before).filter(({ rows, acked }) => rows !== 1 || !acked);
    stage.is('every roll-up is whole and acked', bad.length, 0);
  },
};

export const slowFirstList: Scenario = {
  name: 'slow-first-list',
  shows: 'wire 5: no roll-up is sent before a slow first list is complete',
  // No cycle: 1500 needs that nobody can meet are looked at once an hour.
  setting: sessionSetting(42, { makesNodes: false, fleetTiming: { cycleMs: HOUR_MS } }),
  play: async (stage) => {
    const { shard } = stage.site.script;
    const many = wantedMachines(MANY_REQUESTS, 'many', (priority) => ({ priority }));
    stage.create(COLLECTIONS.requests, many);
    stage.door.hold(({ path, query }) =>
      path.endsWith('/capacityrequests') && query?.['continue'] !== undefined
    );
    stage.house.start();
    await stage.until('the second page is asked for', () => stage.door.held().length > 0);
    stage.state.trouble(SEVERAL_INTERVALS_MS);
    await stage.wait(SEVERAL_INTERVALS_MS / 2);
    stage.is('nobody dials', [shard.sessions.size, rollupsOf(stage).length], [0, 0]);
    stage.door.release();
    await stage.until('a roll-up', () => rollupsOf(stage).length > 0);
    const [first] = rollupsOf(stage);
    stage.is('it is the whole demand', [first?.rows, first?.session], [MANY_REQUESTS, 1]);
  },
};

const MACHINES = 5;
const isReady = (one: JsonRecord): boolean => phaseOf(one) === 'Ready';
const UNSEEN_MS = 5000;

export const unseenChanges: Scenario = {
  name: 'unseen-changes',
  shows: 'after its revisions were forgotten all is listed anew, and what was changed is mended',
  setting: setting(43),
  flags: { lease: PATIENT_LEASE },
  play: async (stage) => {
    stage.house.start();
    stage.create(COLLECTIONS.requests, wantedMachines(3, 'wanted'));
    await untilSession(stage);
    burst(stage, MACHINES, ['CONFIGURING', 'CONFIGURED']);
    const before = await untilAll(stage, COLLECTIONS.upcomingNodes, {
      what: 'every machine is Ready',
      count: MACHINES,
      each: isReady,
    });
    const [deleted = '', defaced = '', ...kept] = namesOf(before);
    const uidIn = (objects: readonly JsonRecord[], name: string) =>
      objects.filter((one) => nameOf(one) === name).map(uidOf)[0];

    goAway(stage, UNSEEN_MS);
    stage.note('things change that nobody sees');
    stage.remove(`${COLLECTIONS.requests}/wanted-0`);
    stage.create(COLLECTIONS.requests, [wantedMachine('late', { priority: 7 })]);
    stage.remove(`${COLLECTIONS.upcomingNodes}/${deleted}`);
    stage.patch(`${COLLECTIONS.upcomingNodes}/${defaced}/status`, {
      status: { phase: 'Failed', lastError: 'somebody else says so' },
    });
    stage.site.cluster.store.compact();
    await stage.wait(UNSEEN_MS);
    comeBack(stage);

    const after = await untilAll(stage, COLLECTIONS.upcomingNodes, {
      what: 'every machine is shown as the fleet has it',
      count: MACHINES,
      each: isReady,
    });
    const others = [defaced, ...kept].filter((name) => uidIn(after, name) !== uidIn(before, name));
    stage.is('objects are kept', others, []);
    stage.is('one is made anew', uidIn(after, deleted) === uidIn(before, deleted), false);
    await stage.until('the demand is known as it is now', () => needsOf(stage).length === 2);
    const needs = needsOf(stage).toSorted((one, other) => one.priority - other.priority);
    stage.is('the demand', needs, [
      { resources: { cpu: '8', memory: '32Gi' }, priority: 7 },
      { resources: { cpu: '16', memory: '64Gi' }, priority: 1000 },
    ]);
    const lists = stage.audit().filter(({ verb, resource, apiGroup }) =>
      verb === 'list' && `${resource}.${apiGroup}` === REQUESTS_STORED
    );
    stage.is('listed twice', lists.length, 2);
    stage.is('one session', [...new Set(rollupsOf(stage).map(({ session }) => session))], [1]);
  },
};
