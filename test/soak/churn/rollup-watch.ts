/**
 * Reads every roll-up that the fleet accepts, and compares it with what was wanted for a minute.
 *
 * Promises: looks four times in the interval of roll-ups, so that it misses none.
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

/** The cores in the demand that the fleet has accepted, by priority. */
export const acceptedCores = async (site: ChurnSite): Promise<ReadonlyMap<number, number>> =>
  coresByPriority(
    (await needsAt(site.fleet(), 'test')).map((need) => ({
      priority: numberAt(need, 'priority') ?? 0,
      cores: Number(textAt(need, 'aggregateResources', 'cpu') ?? 0),
    })),
  );

/** When the last accepted roll-up was received; undefined before the first. */
const lastAccepted = async (site: ChurnSite): Promise<number | undefined> =>
  listOrEmptyAt(await site.fleet().script('GET', '/rollups'), 'rollups')
    .filter((one) => valueAt(one, 'acked') === true)
    .map((one) => numberAt(one, 'receivedAt') ?? 0)
    .at(-1);

const shortfalls = async (site: ChurnSite, atMs: number): Promise<readonly string[]> => {
  const bound = site.demand.boundAt(atMs);
  const accepted = await acceptedCores(site);
  return [...bound].filter(([priority, cores]) => (accepted.get(priority) ?? 0) < cores)
    .map(([priority, cores]) =>
      `a roll-up has ${accepted.get(priority) ?? 0} cores of priority ${priority}, ` +
      `and ${cores} were wanted for a minute`
    );
};

/** Watches until it is stopped; a fleet that is away has no roll-ups. */
export const watchRollups = (site: ChurnSite): RollupWatch => {
  const problems: string[] = [];
  let seen = 0;
  let stopped = false;
  let last: number | undefined;
  const look = async (): Promise<void> => {
    const receivedMs = await lastAccepted(site);
    if (receivedMs === undefined || receivedMs === last) return;
    last = receivedMs;
    seen += 1;
    const time = new Date(receivedMs).toISOString();
    problems.push(...(await shortfalls(site, receivedMs)).map((problem) => `${time}: ${problem}`));
  };
  const watch = async (): Promise<void> => {
    while (!stopped) {
      await look().catch(() => {});
      await pause(LOOK_MS);
    }
  };
  const watching = watch();
  return {
    seen: () => seen,
    problems: () => problems,
    stop: async () => {
      stopped = true;
      await watching;
    },
  };
};
