/** The API server goes away during a burst, is slow at first, or loses its history. */
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
  sessionSiteOptions,
  untilAcknowledged,
  untilAll,
  untilSession,
} from './session-scene.ts';
import type { Harness } from './harness.ts';

const AWAY_MS = 60_000;
const AWAY_SHORTLY_MS = 15_000;
const BURST = 300;
const REQUESTS = 4;
/** So slow that a burst takes seconds. */
const SLOWLY: Partial<ProcessFlags> = { qps: 60, burst: 20, rollupIntervalMs: 1000 };
const PATIENT_LEASE = { leaseMs: 120_000, renewMs: 100_000, retryMs: 2000 };
/** Three pages of 500. */
const MANY_REQUESTS = 1500;
const HOUR_MS = 3_600_000;
const SEVERAL_INTERVALS_MS = 30_000;

const siteOptions = (seed: number) => sessionSiteOptions(seed, { makesNodes: false });

/** The ends of the burst's machines during the outage, by number modulo 5. */
const ENDS = [
  { state: 'CONFIGURED', phase: 'Ready' },
  { state: 'DRAINING', phase: 'Draining' },
  { state: 'IDLE', phase: 'gone' },
  { state: 'FAILED', phase: 'Failed' },
  undefined,
] as const;

const endOf = (number: number): (typeof ENDS)[number] => ENDS[number % ENDS.length];

/** The expected phase and error of each object, by name. */
const expected: ReadonlyMap<string, string> = new Map(
  numbersTo(BURST).flatMap((number) => {
    const { phase } = endOf(number) ?? { phase: 'Registered' };
    const error = phase === 'Failed' ? `broken ${number}` : '';
    return phase === 'gone' ? [] : [[`un-${machineId(number)}`, `${phase} ${error}`] as const];
  }),
);

const current = (one: JsonRecord): string =>
  `${phaseOf(one)} ${textAt(one, 'status', 'lastError') ?? ''}`;

const untilLastFrames = (harness: Harness): Promise<readonly JsonRecord[]> =>
  untilAll(harness, COLLECTIONS.upcomingNodes, {
    what: 'every object matches the last frame of its machine',
    count: expected.size,
    each: (one) => expected.get(nameOf(one)) === current(one),
  });

/** The API server is away for so long, and closes open watches. */
const goAway = (harness: Harness, forMs: number): void => {
  const { weather, trouble } = harness.state;
  harness.note(`the API server is away for ${forMs} ms`);
  trouble(forMs);
  weather.outage = true;
  for (const { api } of harness.processes.all()) api.dropWatches('cut');
};

const restart = (harness: Harness): void => {
  harness.note('the API server is back');
  harness.state.weather.outage = false;
};

/** Takes each machine to its own end, if it has one. */
const goOn = (harness: Harness): void => {
  for (const number of numbersTo(BURST)) {
    const end = endOf(number);
    if (end === undefined) continue;
    harness.site.script.place(machineId(number), {
      state: end.state,
      cluster: CLUSTER,
      ...(end.state === 'FAILED' ? { lastError: `broken ${number}` } : {}),
    });
  }
};

/** A burst whose first objects exist. */
const inBurst = async (harness: Harness): Promise<readonly JsonRecord[]> => {
  harness.processes.start();
  harness.create(COLLECTIONS.requests, wantedMachines(REQUESTS, 'wanted'));
  await untilAcknowledged(harness, REQUESTS);
  burst(harness, BURST, ['CREATING', 'CONFIGURING', 'CONFIGURED', 'DRAINING', 'CONFIGURING']);
  const objects = await harness.until('the first objects of the burst', () => {
    const all = harness.list(COLLECTIONS.upcomingNodes);
    return all.length > 0 && all;
  }, { everyMs: 5 });
  harness.is('the burst is cut in the middle', objects.length < BURST, true);
  return objects;
};

export const apiServerAway: Scenario = {
  name: 'api-server-away',
  shows: 'every object is in the state of its last frame after 60 s without the API server',
  siteOptions: siteOptions(40),
  flags: SLOWLY,
  play: async (harness) => {
    await inBurst(harness);
    goAway(harness, AWAY_MS);
    const before = rollupsOf(harness).length;
    goOn(harness);
    await harness.wait(AWAY_MS);
    // While it may still lead, it keeps sending the last known demand.
    harness.is('roll-ups continue', rollupsOf(harness).length > before, true);
    restart(harness);
    await untilLastFrames(harness);
    const rows = new Set(rollupsOf(harness).slice(before).map((one) => one.rows));
    harness.is('every roll-up is the whole demand', [...rows], [1]);
    harness.is('the demand', needsOf(harness).map(({ resources }) => resources['cpu']), ['32']);
    harness.is('the same process', harness.processes.all().map(({ identity }) => identity), [
      'process-1',
    ]);
  },
};

export const apiServerAwayShortly: Scenario = {
  name: 'api-server-away-shortly',
  shows: 'wire 5: session and demand are kept while the lease lasts, and missed writes are made up',
  siteOptions: siteOptions(41),
  flags: { ...SLOWLY, lease: PATIENT_LEASE },
  play: async (harness) => {
    const uids = new Map((await inBurst(harness)).map((one) => [nameOf(one), uidOf(one)]));
    goAway(harness, AWAY_SHORTLY_MS);
    const before = rollupsOf(harness).length;
    goOn(harness);
    await harness.wait(AWAY_SHORTLY_MS);
    harness.is('roll-ups continue', rollupsOf(harness).length - before > 3, true);
    restart(harness);
    const objects = await untilLastFrames(harness);
    const others = objects.filter((one) => (uids.get(nameOf(one)) ?? uidOf(one)) !== uidOf(one));
    harness.is('objects are kept', others, []);
    const rollups = rollupsOf(harness);
    harness.is('one session', [...new Set(rollups.map(({ session }) => session))], [1]);
    const bad = rollups.slice(before).filter(({ rows, acked }) => rows !== 1 || !acked);
    harness.is('every roll-up is whole and acked', bad.length, 0);
  },
};

export const slowFirstList: Scenario = {
  name: 'slow-first-list',
  shows: 'wire 5: no roll-up is sent before a slow first list is complete',
  // No cycle: 1500 needs without machines are evaluated once an hour.
  siteOptions: sessionSiteOptions(42, { makesNodes: false, fleetTiming: { cycleMs: HOUR_MS } }),
  play: async (harness) => {
    const { shard } = harness.site.script;
    const many = wantedMachines(MANY_REQUESTS, 'many', (priority) => ({ priority }));
    harness.create(COLLECTIONS.requests, many);
    harness.interceptor.hold(({ path, query }) =>
      path.endsWith('/capacityrequests') && query?.['continue'] !== undefined
    );
    harness.processes.start();
    await harness.until(
      'the second page is requested',
      () => harness.interceptor.held().length > 0,
    );
    harness.state.trouble(SEVERAL_INTERVALS_MS);
    await harness.wait(SEVERAL_INTERVALS_MS / 2);
    harness.is('no session is dialled', [shard.sessions.size, rollupsOf(harness).length], [0, 0]);
    harness.interceptor.release();
    await harness.until('a roll-up', () => rollupsOf(harness).length > 0);
    const [first] = rollupsOf(harness);
    harness.is('it is the whole demand', [first?.rows, first?.session], [MANY_REQUESTS, 1]);
  },
};

const MACHINES = 5;
const isReady = (one: JsonRecord): boolean => phaseOf(one) === 'Ready';
const UNSEEN_MS = 5000;

export const unseenChanges: Scenario = {
  name: 'unseen-changes',
  shows: 'after a compaction everything is listed again, and missed changes are corrected',
  siteOptions: siteOptions(43),
  flags: { lease: PATIENT_LEASE },
  play: async (harness) => {
    harness.processes.start();
    harness.create(COLLECTIONS.requests, wantedMachines(3, 'wanted'));
    await untilSession(harness);
    burst(harness, MACHINES, ['CONFIGURING', 'CONFIGURED']);
    const before = await untilAll(harness, COLLECTIONS.upcomingNodes, {
      what: 'every machine is Ready',
      count: MACHINES,
      each: isReady,
    });
    const [deleted = '', defaced = '', ...kept] = namesOf(before);
    const uidIn = (objects: readonly JsonRecord[], name: string) =>
      objects.filter((one) => nameOf(one) === name).map(uidOf)[0];

    goAway(harness, UNSEEN_MS);
    harness.note('objects change unobserved');
    harness.remove(`${COLLECTIONS.requests}/wanted-0`);
    harness.create(COLLECTIONS.requests, [wantedMachine('late', { priority: 7 })]);
    harness.remove(`${COLLECTIONS.upcomingNodes}/${deleted}`);
    harness.patch(`${COLLECTIONS.upcomingNodes}/${defaced}/status`, {
      status: { phase: 'Failed', lastError: 'set by another client' },
    });
    harness.site.cluster.store.compact();
    await harness.wait(UNSEEN_MS);
    restart(harness);

    const after = await untilAll(harness, COLLECTIONS.upcomingNodes, {
      what: 'every object matches the fleet',
      count: MACHINES,
      each: isReady,
    });
    const others = [defaced, ...kept].filter((name) => uidIn(after, name) !== uidIn(before, name));
    harness.is('objects are kept', others, []);
    harness.is('one is created again', uidIn(after, deleted) === uidIn(before, deleted), false);
    await harness.until('the current demand is reported', () => needsOf(harness).length === 2);
    const needs = needsOf(harness).toSorted((one, other) => one.priority - other.priority);
    harness.is('the demand', needs, [
      { resources: { cpu: '8', memory: '32Gi' }, priority: 7 },
      { resources: { cpu: '16', memory: '64Gi' }, priority: 1000 },
    ]);
    const lists = harness.audit().filter(({ verb, resource, apiGroup }) =>
      verb === 'list' && `${resource}.${apiGroup}` === REQUESTS_STORED
    );
    // At the start, in the term, and after the outage.
    harness.is('listed three times', lists.length, 3);
    harness.is('one session', [...new Set(rollupsOf(harness).map(({ session }) => session))], [1]);
  },
};
