/** Fixtures of session scenarios: demand, machines by the hundred, and their expectations. */
import { type JsonRecord, textAt } from '../../../src/domain/json.ts';
import type { FleetMachineState } from '../../../packages/stand-in-fleet/src/machine.ts';
import type { AuditEntry } from '../../../tools/testbed/audit.ts';
import { COLLECTIONS, phaseOf } from '../../support/api/cluster-connection.ts';
import type { SiteOptions } from '../embedded-site.ts';
import { nameOf } from '../invariant.ts';
import { CLUSTER } from '../simulated-process.ts';
import type { Harness } from './harness.ts';

export const UPCOMING = 'upcomingnodes.bigfleet.lucy.sh';
export const REQUESTS = 'capacityrequests.bigfleet.lucy.sh';

const PROVIDER_DRAIN_MS = 2000;

/** A fleet with this many machines, which join as Nodes. */
export const sessionSiteOptions = (seed: number, more: Partial<SiteOptions> = {}): SiteOptions => ({
  seed,
  providerDrainMs: PROVIDER_DRAIN_MS,
  machines: 0,
  ...more,
});

/** Waits until this many objects match, and returns them. */
export const untilAll = (
  harness: Harness,
  collection: string,
  { what, count, each }: {
    readonly what: string;
    readonly count: number;
    readonly each: (object: JsonRecord) => boolean;
  },
): Promise<readonly JsonRecord[]> =>
  harness.until(what, () => {
    const objects = harness.list(collection);
    return objects.length === count && objects.every(each) && objects;
  });

/** Waits until this many requests are acknowledged. */
export const untilAcknowledged = (harness: Harness, count: number): Promise<unknown> =>
  untilAll(harness, COLLECTIONS.requests, {
    what: `${count} requests are acknowledged`,
    count,
    each: (one) => phaseOf(one) === 'Acknowledged',
  });

/** Waits for a session with this many acknowledged roll-ups. */
export const untilSession = async (harness: Harness, after = 0): Promise<void> => {
  await harness.until('there is one session with acks', () => {
    const sessions = [...harness.site.script.shard.sessions.values()].map((one) => one.report());
    const [session, ...others] = sessions;
    return session !== undefined && others.length === 0 && session.number > after &&
      session.rollupAcks > 0;
  });
};

/** Longer than shutdown waits for answers. */
const LEAVING_MS = 30_000;

/** Stops the leader; waits until it is gone. */
export const leave = async (harness: Harness): Promise<void> => {
  let gone = false;
  void harness.processes.dismiss().then(() => gone = true);
  await harness.until('the leader is gone', () => gone, { mostMs: LEAVING_MS });
};

/** Machines by number, taken through these states in sequence, all at once. */
export const burst = (
  harness: Harness,
  count: number,
  states: readonly FleetMachineState[],
): void => {
  harness.note(`${count} machines go through ${states.join(', ')}`);
  harness.site.script.mass({ cluster: CLUSTER, count, prefix: 'mass-', states, order: 'state' });
};

/** The machine of a number. */
export const machineId = (number: number): string => `mass-${String(number).padStart(6, '0')}`;

/** 1, 2, … */
export const numbersTo = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => index + 1);

/** Roll-ups as received by the current fleet. */
export const rollupsOf = ({ site }: Harness) => site.script.shard.rollups.records.entries();

/** The demand in effect at the fleet. */
export const needsOf = ({ site }: Harness) =>
  (site.script.shard.clusters.get(CLUSTER)?.needs ?? []).map(({ wire }) => ({
    resources: { ...wire.aggregateResources },
    priority: wire.priority,
  }));

/** Writes of a process, without the lease. */
export const writesBy = (harness: Harness, process: string): readonly AuditEntry[] =>
  harness.audit().filter(({ user, verb, resource }) =>
    user === process && verb !== 'get' && verb !== 'list' && resource !== 'leases'
  );

/** Ids of the machines that are bound to the cluster. */
export const boundIds = ({ site }: Harness): readonly string[] => site.bound().map(({ id }) => id);

/** Names of objects, in order. */
export const namesOf = (objects: readonly unknown[]): readonly string[] =>
  objects.map(nameOf).toSorted();

/** UIDs of objects, in order. */
export const uidsOf = (objects: readonly unknown[]): readonly string[] =>
  objects.map((one) => textAt(one, 'metadata', 'uid') ?? '').toSorted();
