/** What scenarios of sessions stand on: demand, machines by the hundred, and who says what. */
import { type JsonRecord, textAt } from '../../../src/domain/json.ts';
import type { FleetMachineState } from '../../../src/embedded/fleet/machine.ts';
import type { AuditEntry } from '../../../tools/testbed/audit.ts';
import { COLLECTIONS, phaseOf } from '../../support/api/cluster-connection.ts';
import type { Setting } from '../embedded-site.ts';
import { nameOf } from '../invariant.ts';
import { CLUSTER } from '../simulated-process.ts';
import type { Stage } from './stage.ts';

export const UPCOMING = 'upcomingnodes.bigfleet.lucy.sh';
export const REQUESTS = 'capacityrequests.bigfleet.lucy.sh';

const PROVIDER_DRAIN_MS = 2000;

/** A fleet with so many machines of its own, which join as Nodes. */
export const sessionSetting = (seed: number, more: Partial<Setting> = {}): Setting => ({
  seed,
  providerDrainMs: PROVIDER_DRAIN_MS,
  machines: 0,
  ...more,
});

/** Waits until there are so many objects, each as wanted, and gives them. */
export const untilAll = (
  stage: Stage,
  collection: string,
  { what, count, each }: {
    readonly what: string;
    readonly count: number;
    readonly each: (object: JsonRecord) => boolean;
  },
): Promise<readonly JsonRecord[]> =>
  stage.until(what, () => {
    const objects = stage.list(collection);
    return objects.length === count && objects.every(each) && objects;
  });

/** Waits until so many requests are acknowledged. */
export const untilAcknowledged = (stage: Stage, count: number): Promise<unknown> =>
  untilAll(stage, COLLECTIONS.requests, {
    what: `${count} requests are acknowledged`,
    count,
    each: (one) => phaseOf(one) === 'Acknowledged',
  });

/** Waits until there is a session, with so many roll-ups acknowledged. */
export const untilSession = async (stage: Stage, after = 0): Promise<void> => {
  await stage.until('there is one session, and it is heard', () => {
    const sessions = [...stage.site.script.shard.sessions.values()].map((one) => one.report());
    const [session, ...others] = sessions;
    return session !== undefined && others.length === 0 && session.number > after &&
      session.rollupAcks > 0;
  });
};

/** Longer than the answers of writes are waited for. */
const LEAVING_MS = 30_000;

/** The leader is told to go; waits until it has. */
export const leave = async (stage: Stage): Promise<void> => {
  let gone = false;
  void stage.house.dismiss().then(() => gone = true);
  await stage.until('the leader is gone', () => gone, { mostMs: LEAVING_MS });
};

/** Machines by number, taken through these states one after the other, all at once. */
export const burst = (
  stage: Stage,
  count: number,
  states: readonly FleetMachineState[],
): void => {
  stage.note(`${count} machines go through ${states.join(', ')}`);
  stage.site.script.mass({ cluster: CLUSTER, count, prefix: 'mass-', states, order: 'state' });
};

/** The machine of a number. */
export const machineId = (number: number): string => `mass-${String(number).padStart(6, '0')}`;

/** 1, 2, … */
export const numbersTo = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => index + 1);

/** Roll-ups as the fleet that is there now took them. */
export const rollupsOf = ({ site }: Stage) => site.script.shard.rollups.records.entries();

/** The demand that counts at the fleet. */
export const needsOf = ({ site }: Stage) =>
  (site.script.shard.clusters.get(CLUSTER)?.needs ?? []).map(({ wire }) => ({
    resources: { ...wire.aggregateResources },
    priority: wire.priority,
  }));

/** Writes of a process, but for the lease, which decides who may. */
export const writesBy = (stage: Stage, process: string): readonly AuditEntry[] =>
  stage.audit().filter(({ user, verb, resource }) =>
    user === process && verb !== 'get' && verb !== 'list' && resource !== 'leases'
  );

/** Ids of the machines that are bound to the cluster. */
export const boundIds = ({ site }: Stage): readonly string[] => site.bound().map(({ id }) => id);

/** Names of objects, in order. */
export const namesOf = (objects: readonly unknown[]): readonly string[] =>
  objects.map(nameOf).toSorted();

/** UIDs of objects, in order. */
export const uidsOf = (objects: readonly unknown[]): readonly string[] =>
  objects.map((one) => textAt(one, 'metadata', 'uid') ?? '').toSorted();
