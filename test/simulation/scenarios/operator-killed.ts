/** Operators that are killed, stopped or frozen during a burst, and who writes when. */
import { textAt } from '../../../src/domain/json.ts';
import { overlapping } from '../../support/api/audited-writes.ts';
import { COLLECTIONS, phaseOf, uidOf } from '../../support/api/cluster-connection.ts';
import { wantedMachines } from '../../support/demand/wanted-capacity.ts';
import { nameOf } from '../invariant.ts';
import { CLUSTER, ORDINARY_FLAGS, type ProcessFlags } from '../simulated-process.ts';
import { holderOf } from './drain-stopped.ts';
import type { Scenario } from './scenario.ts';
import {
  burst,
  leave,
  machineId,
  numbersTo,
  sessionSiteOptions,
  untilAcknowledged,
  untilAll,
  untilSession,
  writesBy,
} from './session-scene.ts';
import type { Harness } from './harness.ts';

const BURST = 200;
/** A burst takes seconds, and the next operator starts soon. */
const SLOWLY: Partial<ProcessFlags> = {
  qps: 60,
  burst: 20,
  lease: { leaseMs: 3000, renewMs: 2000, retryMs: 500 },
};
const siteOptions = (seed: number) => sessionSiteOptions(seed, { makesNodes: false });

const isGone = (number: number): boolean => number % 4 === 0;
const isFailed = (number: number): boolean => number % 4 === 1;

const startOf = (one: unknown): string | undefined =>
  textAt(one, 'status', 'provisioningStartTime');

/** The expected final state of each machine of the burst, by name of its object. */
const wanted: ReadonlyMap<string, string> = new Map(
  numbersTo(BURST).filter((number) => !isGone(number)).map((number) => [
    `un-${machineId(number)}`,
    isFailed(number) ? `Failed broken ${number}` : 'Ready ',
  ]),
);

export const operatorKilled: Scenario = {
  name: 'operator-killed',
  shows:
    'after a kill during a burst, the next operator writes every machine as the fleet reports it',
  siteOptions: siteOptions(36),
  flags: SLOWLY,
  play: async (harness) => {
    const { script } = harness.site;
    harness.processes.start();
    await untilSession(harness);
    burst(harness, BURST, ['CONFIGURING', 'CONFIGURED']);
    const before = await harness.until('some of the objects', () => {
      const objects = harness.list(COLLECTIONS.upcomingNodes);
      return objects.length > BURST / 10 && objects;
    });
    harness.processes.crash();
    const some = harness.list(COLLECTIONS.upcomingNodes).length;
    harness.is('it is killed in the middle', some < BURST, true);
    for (const number of numbersTo(BURST)) {
      if (!isGone(number) && !isFailed(number)) continue;
      script.place(machineId(number), {
        state: isGone(number) ? 'IDLE' : 'FAILED',
        cluster: CLUSTER,
        lastError: `broken ${number}`,
      });
    }
    harness.processes.start();
    const after = await untilAll(harness, COLLECTIONS.upcomingNodes, {
      what: 'every object matches the fleet',
      count: wanted.size,
      each: (one) =>
        wanted.get(nameOf(one)) === `${phaseOf(one)} ${textAt(one, 'status', 'lastError') ?? ''}`,
    });
    const known = new Map(before.map((one) => [nameOf(one), one]));
    const kept = after.filter((one) => known.has(nameOf(one)));
    const others = kept.filter((one) => {
      const earlier = known.get(nameOf(one));
      const began = startOf(earlier);
      return uidOf(one) !== uidOf(earlier) || (began !== undefined && startOf(one) !== began);
    });
    harness.is('objects and their start times are kept', [kept.length > 0, others], [true, []]);
  },
};

const MACHINES = 300;
const REQUESTS = 100;
/** Writes after which the burst is well in progress, and far from its end. */
const UNDER_WAY = 60;
/** A short lease, so that takeovers are fast. */
const LONG = { leaseMs: 600_000, renewMs: 540_000, retryMs: 2000 };
const SHORT = { leaseMs: 6000, renewMs: 4000, retryMs: 1000 };

/** A cluster with demand, a leader in the middle of a burst, and a standby. */
const inBurst = async (harness: Harness): Promise<void> => {
  harness.create(COLLECTIONS.requests, wantedMachines(REQUESTS, 'wanted'));
  harness.processes.start();
  await untilSession(harness);
  harness.processes.start();
  await untilAcknowledged(harness, REQUESTS);
  harness.is('the first one leads', holderOf(harness), 'process-1');
  const before = writesBy(harness, 'process-1').length;
  burst(harness, MACHINES, ['CONFIGURING', 'CONFIGURED']);
  await harness.until(
    'the burst is in progress',
    () => writesBy(harness, 'process-1').length > before + UNDER_WAY,
  );
  harness.is('the standby writes nothing', writesBy(harness, 'process-2'), []);
};

/** The standby has taken over and completed the burst. */
const checkFinished = async (harness: Harness): Promise<void> => {
  await untilSession(harness, 1);
  await untilAll(harness, COLLECTIONS.upcomingNodes, {
    what: 'every machine is Ready',
    count: MACHINES,
    each: (one) => phaseOf(one) === 'Ready',
  });
  harness.is('the standby leads', holderOf(harness), 'process-2');
  const [old, own] = [writesBy(harness, 'process-1'), writesBy(harness, 'process-2')];
  const lastMs = old.at(-1)?.receivedMs ?? 0;
  const firstMs = own[0]?.receivedMs ?? 0;
  harness.is('one writes after the other', [own.length > 0, lastMs <= firstMs], [true, true]);
  harness.is('no two writes of one object at once', overlapping([...old, ...own]), []);
};

const twoOperators = (
  { name, shows, seed, lease }: {
    readonly name: string;
    readonly shows: string;
    readonly seed: number;
    readonly lease: ProcessFlags['lease'];
  },
  play: (harness: Harness) => Promise<void>,
): Scenario => ({
  name,
  shows,
  siteOptions: siteOptions(seed),
  flags: { ...ORDINARY_FLAGS, qps: 60, burst: 20, lease },
  play: async (harness) => {
    await inBurst(harness);
    await play(harness);
  },
});

export const twoOperatorsStopped = twoOperators({
  name: 'two-operators-stopped',
  shows: 'DR-15: a standby writes nothing before the leader is stopped, and takes over at once',
  seed: 37,
  lease: LONG,
}, async (harness) => {
  await leave(harness);
  await checkFinished(harness);
  harness.is('sessions one after the other', harness.site.fleet.sessions(), [
    'connected',
    'ended: The cluster closed the stream',
    'connected',
  ]);
});

export const twoOperatorsKilled = twoOperators({
  name: 'two-operators-killed',
  shows: 'DR-15: a standby takes over from a killed leader when the lease has expired',
  seed: 38,
  lease: SHORT,
}, async (harness) => {
  harness.processes.crash();
  await checkFinished(harness);
});

const TOO_LONG_MS = 20_000;

/** The standby takes over, and the other one notices when it goes on. */
const untilTakenOver = async (harness: Harness): Promise<void> => {
  await harness.until('the standby has the lease', () => holderOf(harness) === 'process-2');
  await harness.until(
    'the other one lost leadership',
    () =>
      harness.logged().some(({ process, message }) =>
        process === 'process-1' && message === 'Lost leadership'
      ),
  );
  await checkFinished(harness);
};

export const twoOperatorsSuspended = twoOperators({
  name: 'two-operators-suspended',
  shows: 'DR-15: a leader frozen beyond its lease stops writing and becomes the standby',
  seed: 39,
  lease: SHORT,
}, async (harness) => {
  harness.processes.freeze(TOO_LONG_MS);
  await untilTakenOver(harness);
});

export const twoMachinesSuspended = twoOperators({
  name: 'two-machines-suspended',
  shows: 'DR-15: a leader whose machine and monotonic clock stood still writes nothing more',
  seed: 63,
  lease: SHORT,
}, async (harness) => {
  harness.processes.suspend(TOO_LONG_MS);
  await untilTakenOver(harness);
});
