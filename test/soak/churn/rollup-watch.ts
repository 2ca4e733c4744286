/**
 * Reads every roll-up that the fleet accepts, and compares it with what was wanted for a minute.
 *
 * Promises: looks four times in the interval of roll-ups, so that it misses none; only a fleet that
 * is away is ignored.
 */
import { listOrEmptyAt, numberAt, textAt, valueAt } from '../../../src/domain/json.ts';
import { needsAt } from '../../support/fleet/fleet-script.ts';
import { pause } from '../../support/eventually.ts';
import type { ChurnSite } from './churn-site.ts';
import { coresByPriority } from './wanted-demand.ts';

const LOOK_MS = 250;

/** What the watch has found so far. */
export interface RollupWatch {
  readonly seen: () => number;
  readonly problems: () => readonly string[];
  readonly stop: () => Promise<void>;
}

const acceptedNeeds = (site: ChurnSite): Promise<readonly unknown[]> =>
  needsAt(site.fleet(), 'test');

const coresIn = (needs: readonly unknown[]): ReadonlyMap<number, number> =>
  coresByPriority(
    needs.map((need) => ({
      priority: numberAt(need, 'priority') ?? 0,
      cores: Number(textAt(need, 'aggregateResources', 'cpu') ?? 0),
    })),
  );

/** The cores in the demand that the fleet has accepted, by priority. */
export const acceptedCores = async (site: ChurnSite): Promise<ReadonlyMap<number, number>> =>
  coresIn(await acceptedNeeds(site));

/** When the last accepted roll-up was received; undefined before the first. */
const lastAccepted = (rollups: unknown): number | undefined =>
  listOrEmptyAt(rollups, 'rollups')
    .filter((one) => valueAt(one, 'acked') === true)
    .map((one) => numberAt(one, 'receivedAt') ?? 0)
    .at(-1);

const shortfalls = (
  site: ChurnSite,
  atMs: number,
  accepted: ReadonlyMap<number, number>,
): readonly string[] => {
  const bound = site.demand.boundAt(atMs);
  return [...bound].filter(([priority, cores]) => (accepted.get(priority) ?? 0) < cores)
    .map(([priority, cores]) =>
      `a roll-up has ${accepted.get(priority) ?? 0} cores of priority ${priority}, ` +
      `and ${cores} were wanted for a minute`
    );
};

/** `undefined` when the fleet is away. */
const fromFleet = <T>(answer: Promise<T>): Promise<T | undefined> => answer.catch(() => undefined);

/** Watches until it is stopped; a fleet that is away has no roll-ups. */
export const watchRollups = (site: ChurnSite): RollupWatch => {
  const problems: string[] = [];
  let seen = 0;
  let stopped = false;
  let last: number | undefined;
  const look = async (): Promise<void> => {
    const receivedMs = lastAccepted(await fromFleet(site.fleet().script('GET', '/rollups')));
    if (receivedMs === undefined || receivedMs === last) return;
    const needs = await fromFleet(acceptedNeeds(site));
    if (needs === undefined) return;
    last = receivedMs;
    seen += 1;
    const time = new Date(receivedMs).toISOString();
    problems.push(
      ...shortfalls(site, receivedMs, coresIn(needs)).map((problem) => `${time}: ${problem}`),
    );
  };
  const watch = async (): Promise<void> => {
    while (!stopped) {
      await look();
      await pause(LOOK_MS);
    }
  };
  const watching = watch().catch((defect: unknown) => {
    problems.push(`Cannot watch roll-ups: ${String(defect)}`);
  });
  return {
    seen: () => seen,
    problems: () => problems,
    stop: async () => {
      stopped = true;
      await watching;
    },
  };
};
