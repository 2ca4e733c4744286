/** A burst of machines that an outage of the API server cuts in the middle. */
import { type JsonRecord, textAt } from '../../../src/domain/json.ts';
import {
  type ClusterClient,
  COLLECTIONS,
  nameOf,
  phaseOf,
  untilAll,
} from '../api/cluster-client.ts';
import { freshCluster } from '../api/fresh-cluster.ts';
import type { Testbed } from '../api/testbed.ts';
import { wantedMachines } from '../demand/wanted-capacity.ts';
import { eventually } from '../eventually.ts';
import { type FleetProcess, startFleet } from '../processes/fleet-process.ts';
import { startOperator } from '../processes/operator-process.ts';
import { objectName } from './fleet-script.ts';

/** Machines of the burst. */
export const BURST = 300;
const REQUESTS = 4;
/** So slow that a burst takes seconds. */
const SLOWLY = { 'qps': '60', 'burst': '20' };

/** The ends of the burst's machines during the outage, by number modulo 5. */
const ENDS = [
  { state: 'CONFIGURED', phase: 'Ready' },
  { state: 'DRAINING', phase: 'Draining' },
  { state: 'IDLE', phase: 'gone' },
  { state: 'FAILED', phase: 'Failed' },
  undefined,
] as const;

const machineId = (number: number): string => `mass-${String(number).padStart(6, '0')}`;
const numbers = Array.from({ length: BURST }, (_, index) => index + 1);
const endOf = (number: number): (typeof ENDS)[number] => ENDS[number % ENDS.length];

const burst = (fleet: FleetProcess): Promise<unknown> =>
  fleet.script('POST', '/mass', {
    cluster: 'test',
    count: BURST,
    states: ['CREATING', 'CONFIGURING', 'CONFIGURED', 'DRAINING', 'CONFIGURING'],
  });

/** Takes each machine to its own end, if it has one. */
export const goOn = async (fleet: FleetProcess): Promise<void> => {
  for (const number of numbers) {
    const end = endOf(number);
    if (end === undefined) continue;
    await fleet.script('POST', `/machines/${machineId(number)}/state`, {
      state: end.state,
      cluster: 'test',
      ...(end.state === 'FAILED' ? { lastError: `broken ${number}` } : {}),
    });
  }
};

/** The expected phase and error of each object, by name. */
const expected = new Map(
  numbers.flatMap((number) => {
    const { phase } = endOf(number) ?? { phase: 'Registered' };
    const error = phase === 'Failed' ? `broken ${number}` : '';
    return phase === 'gone' ? [] : [[objectName(machineId(number)), `${phase} ${error}`] as const];
  }),
);

const current = (one: JsonRecord): string =>
  `${phaseOf(one)} ${textAt(one, 'status', 'lastError') ?? ''}`;

/** Waits until every object has the last frame of its machine. */
export const untilLastFrames = (cluster: ClusterClient): Promise<readonly JsonRecord[]> =>
  untilAll(cluster, COLLECTIONS.upcomingNodes, {
    what: 'every object to show the last frame of its machine',
    count: expected.size,
    each: (one) => expected.get(nameOf(one)) === current(one),
    timeoutMs: 120_000,
  });

/** Starts a fleet and an operator with demand, and resolves when the burst has begun. */
export const inBurst = async (bed: Testbed, flags: Readonly<Record<string, string>> = {}) => {
  const cluster = await freshCluster(bed);
  const fleet = await startFleet({ seedMachines: 0 });
  const operator = await startOperator({
    bed,
    shardAddress: fleet.address,
    flags: { ...SLOWLY, ...flags },
  });
  await cluster.create(COLLECTIONS.requests, wantedMachines(REQUESTS, 'wanted'));
  await untilAll(cluster, COLLECTIONS.requests, {
    what: 'every request to be acknowledged',
    count: REQUESTS,
    each: (one) => phaseOf(one) === 'Acknowledged',
  });
  await burst(fleet);
  await eventually(async () => (await cluster.list(COLLECTIONS.upcomingNodes)).length > 0, {
    what: 'the first object of the burst',
    everyMs: 5,
  });
  return { cluster, fleet, operator };
};
