/** How the operator ends when it is told to. */
import { overlapping } from '../../support/api/audited-writes.ts';
import { COLLECTIONS, phaseOf } from '../../support/api/cluster-connection.ts';
import { wantedMachines } from '../../support/demand/wanted-capacity.ts';
import { holderOf } from './drain-stopped.ts';
import type { Scenario } from './scenario.ts';
import {
  burst,
  leave,
  sessionSetting,
  untilAcknowledged,
  untilAll,
  untilSession,
  writesBy,
} from './session-scene.ts';
import type { Stage } from './stage.ts';

const MACHINES = 300;
const REQUESTS = 10;
const UNDER_WAY = 60;
const FLAGS = { qps: 60, burst: 20 };
const AFTERWARDS_MS = 30_000;
/** Longer than the answers of writes are waited for. */
const LEAVING_MS = 30_000;

const setting = (seed: number) => sessionSetting(seed, { makesNodes: false });

/** In a session, with writes under way. */
const getBusy = async (stage: Stage): Promise<void> => {
  stage.create(COLLECTIONS.requests, wantedMachines(REQUESTS, 'wanted'));
  stage.house.start();
  await untilSession(stage);
  await untilAcknowledged(stage, REQUESTS);
  const before = writesBy(stage, 'process-1').length;
  burst(stage, MACHINES, ['CONFIGURING', 'CONFIGURED']);
  await stage.until(
    'the burst is under way',
    () => writesBy(stage, 'process-1').length > before + UNDER_WAY,
  );
};

/** Whoever comes next finishes what was begun. */
const sayFinished = async (stage: Stage): Promise<void> => {
  stage.house.start();
  await untilAll(stage, COLLECTIONS.upcomingNodes, {
    what: 'the next one finishes what was begun',
    count: MACHINES,
    each: (one) => phaseOf(one) === 'Ready',
  });
};

export const stopInBurst: Scenario = {
  name: 'stop-in-burst',
  shows:
    'DR-15: told to stop it closes its session, gives its lease back and leaves nothing behind',
  setting: setting(44),
  flags: FLAGS,
  play: async (stage) => {
    await getBusy(stage);
    await leave(stage);
    stage.is('the lease is given back', holderOf(stage), '');
    stage.is('the session is closed', stage.site.fleet.sessions(), [
      'connected',
      'ended: The cluster closed the stream',
    ]);
    const writes = writesBy(stage, 'process-1');
    stage.is('in the middle of the burst', writes.length < 2 * MACHINES, true);
    stage.is('no two writes of one object at once', overlapping(writes), []);
    stage.is('no errors', stage.said().filter(({ level }) => level === 'error'), []);
    await stage.wait(AFTERWARDS_MS);
    stage.is('nothing more is sent', writesBy(stage, 'process-1').length, writes.length);
    await sayFinished(stage);
  },
};

export const stopWhileAway: Scenario = {
  name: 'stop-while-away',
  shows: 'it leaves while the API server is away, in the middle of a burst',
  setting: setting(45),
  flags: FLAGS,
  play: async (stage) => {
    await getBusy(stage);
    const { weather, trouble } = stage.state;
    stage.note('the API server is away');
    trouble(LEAVING_MS);
    weather.outage = true;
    for (const { api } of stage.house.all()) api.dropWatches('cut');
    await leave(stage);
    const { sessions } = stage.site.script.shard;
    stage.is('the session is closed', sessions.size, 0);
    weather.outage = false;
    stage.note('the API server is back');
    await sayFinished(stage);
  },
};
