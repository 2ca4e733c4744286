/**
 * A cluster with demand, a fleet, a leader in the middle of a burst, and a standby.
 *
 * Each operator has its own user, so that the audit log distinguishes them. Leases do not count as
 * writes: they decide who may write.
 */
import { expect } from 'vitest';
import { textAt } from '../../../src/domain/json.ts';
import type { AuditEntry } from '../../../tools/testbed/audit.ts';
import { writesBy } from '../api/audited-writes.ts';
import {
  type ClusterClient,
  clusterClient,
  COLLECTIONS,
  phaseOf,
  untilAll,
} from '../api/cluster-client.ts';
import type { Testbed } from '../api/testbed.ts';
import { wantedMachines } from '../demand/wanted-capacity.ts';
import { eventually } from '../eventually.ts';
import { type FleetProcess, startFleet } from '../processes/fleet-process.ts';
import { type OperatorProcess, startOperator } from '../processes/operator-process.ts';
import { atScale } from '../scale.ts';
import { untilSession } from './fleet-sessions.ts';

const MACHINES = atScale({ commit: 200, release: 1500 });
const REQUESTS = 100;
/** Writes after which the burst is well in progress, and far from its end. */
const UNDER_WAY = atScale({ commit: 50, release: 300 });
const OK = 200;

const LEASE = '/apis/coordination.k8s.io/v1/namespaces/default/leases/tidegate-operator';

type User = 'tidegate-a' | 'tidegate-b';

/** A Lease too long to expire within a test. */
export const LONG_LEASE = {
  'lease-duration': '10m',
  'lease-renew-deadline': '9m',
  'lease-retry-period': '2s',
};
/** Short, but not so short that a busy machine loses it. */
export const SHORT_LEASE = {
  'lease-duration': '6s',
  'lease-renew-deadline': '4s',
  'lease-retry-period': '1s',
};

const endOf = (writes: readonly AuditEntry[]): number =>
  Math.max(...writes.map(({ answeredMs }) => answeredMs));
const startOf = (writes: readonly AuditEntry[]): number =>
  Math.min(...writes.map(({ receivedMs }) => receivedMs));

/** A cluster with demand, a fleet, a leader in the middle of a burst, and a standby. */
export interface TwoOperators {
  readonly cluster: ClusterClient;
  readonly fleet: FleetProcess;
  readonly leader: OperatorProcess;
  readonly standby: OperatorProcess;
  readonly holder: () => Promise<string>;
}

const operatorOf = (
  { bed, fleet }: { readonly bed: Testbed; readonly fleet: FleetProcess },
  user: User,
  lease: Readonly<Record<string, string>>,
): Promise<OperatorProcess> =>
  startOperator({
    bed,
    user,
    shardAddress: fleet.address,
    flags: { ...lease, 'identity': user, 'log-level': 'info' },
  });

/** Starts both, and resolves in the middle of the leader's burst. */
export const inBurst = async (
  bed: Testbed,
  lease: Readonly<Record<string, string>>,
): Promise<TwoOperators> => {
  await bed.installCrds();
  const cluster = await clusterClient(bed);
  const holder = async () =>
    textAt((await cluster.call('GET', LEASE)).body, 'spec', 'holderIdentity') ?? '';
  const fleet = await startFleet({ seedMachines: 0 });
  await cluster.create(COLLECTIONS.requests, wantedMachines(REQUESTS, 'wanted'));
  const leader = await operatorOf({ bed, fleet }, 'tidegate-a', lease);
  await untilSession(fleet);
  const standby = await operatorOf({ bed, fleet }, 'tidegate-b', lease);
  await standby.untilReady();
  expect(await holder()).toBe('tidegate-a');
  await fleet.script('POST', '/mass', {
    cluster: 'test',
    count: MACHINES,
    states: ['CONFIGURING', 'CONFIGURED'],
  });
  await eventually(async () => (await writesBy(bed, 'tidegate-a')).length > UNDER_WAY, {
    what: 'the leader to be in the middle of the burst',
  });
  expect(await standby.probe('/readyz')).toBe(OK);
  expect(await writesBy(bed, 'tidegate-b')).toEqual([]);
  return { cluster, fleet, leader, standby, holder };
};

/** The standby has taken over and completed the burst. */
export const finishedBy = async (
  bed: Testbed,
  { cluster, fleet, holder }: TwoOperators,
): Promise<void> => {
  await untilSession(fleet, { after: 1 });
  await untilAll(cluster, COLLECTIONS.upcomingNodes, {
    what: 'every machine to be Ready',
    count: MACHINES,
    each: (one) => phaseOf(one) === 'Ready',
  });
  await untilAll(cluster, COLLECTIONS.requests, {
    what: 'every request to be acknowledged',
    count: REQUESTS,
    each: (one) => phaseOf(one) === 'Acknowledged',
  });
  expect(await holder()).toBe('tidegate-b');
  const writes = await writesBy(bed, 'tidegate-b');
  expect(writes.length).toBeGreaterThan(0);
  expect(endOf(await writesBy(bed, 'tidegate-a'))).toBeLessThanOrEqual(startOf(writes));
};
