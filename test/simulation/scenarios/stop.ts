/** How the operator stops. */
import { overlapping } from '../../support/api/audited-writes.ts';
import { COLLECTIONS, phaseOf } from '../../support/api/cluster-connection.ts';
import { wantedMachines } from '../../support/demand/wanted-capacity.ts';
import { holderOf } from './drain-stopped.ts';
import type { Scenario } from './scenario.ts';
import {
  burst,
  leave,
  sessionSiteOptions,
  untilAcknowledged,
  untilAll,
  untilSession,
  writesBy,
} from './session-scene.ts';
import type { Harness } from './harness.ts';

const MACHINES = 300;
const REQUESTS = 10;
const UNDER_WAY = 60;
const FLAGS = { qps: 60, burst: 20 };
const AFTER_END_MS = 30_000;
/** Longer than shutdown waits for answers. */
const LEAVING_MS = 30_000;

const siteOptions = (seed: number) => sessionSiteOptions(seed, { makesNodes: false });

/** In a session, with writes in flight. */
const getBusy = async (harness: Harness): Promise<void> => {
  harness.create(COLLECTIONS.requests, wantedMachines(REQUESTS, 'wanted'));
  harness.processes.start();
  await untilSession(harness);
  await untilAcknowledged(harness, REQUESTS);
  const before = writesBy(harness, 'process-1').length;
  burst(harness, MACHINES, ['CONFIGURING', 'CONFIGURED']);
  await harness.until(
    'the burst is in progress',
    () => writesBy(harness, 'process-1').length > before + UNDER_WAY,
  );
};

/** The next process completes the burst. */
const checkFinished = async (harness: Harness): Promise<void> => {
  harness.processes.start();
  await untilAll(harness, COLLECTIONS.upcomingNodes, {
    what: 'the next one completes the burst',
    count: MACHINES,
    each: (one) => phaseOf(one) === 'Ready',
  });
};

export const stopInBurst: Scenario = {
  name: 'stop-in-burst',
  shows: 'DR-15: on stop it closes its session, releases its lease and leaves nothing behind',
  siteOptions: siteOptions(44),
  flags: FLAGS,
  play: async (harness) => {
    await getBusy(harness);
    await leave(harness);
    harness.is('the lease is released', holderOf(harness), '');
    harness.is('the session is closed', harness.site.fleet.sessions(), [
      'connected',
      'ended: The cluster closed the stream',
    ]);
    const writes = writesBy(harness, 'process-1');
    harness.is('in the middle of the burst', writes.length < 2 * MACHINES, true);
    harness.is('no two writes of one object at once', overlapping(writes), []);
    harness.is('no errors', harness.logged().filter(({ level }) => level === 'error'), []);
    await harness.wait(AFTER_END_MS);
    harness.is('nothing more is sent', writesBy(harness, 'process-1').length, writes.length);
    await checkFinished(harness);
  },
};

export const stopWhileAway: Scenario = {
  name: 'stop-while-away',
  shows: 'it stops while the API server is away, during a burst',
  siteOptions: siteOptions(45),
  flags: FLAGS,
  play: async (harness) => {
    await getBusy(harness);
    const { weather, trouble } = harness.state;
    harness.note('the API server is away');
    trouble(LEAVING_MS);
    weather.outage = true;
    for (const { api } of harness.processes.all()) api.dropWatches('cut');
    await leave(harness);
    const { sessions } = harness.site.script.shard;
    harness.is('the session is closed', sessions.size, 0);
    weather.outage = false;
    harness.note('the API server is back');
    await checkFinished(harness);
  },
};
