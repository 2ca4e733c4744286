/** The API server of a test bed for one test: see `cluster-connection.ts`. */
import { onTestFinished } from 'vitest';
import type { JsonRecord } from '../../../src/domain/json.ts';
import type { Testbed } from '../../../tools/testbed/testbed.ts';
import { eventually } from '../eventually.ts';
import { type ClusterClient, connectCluster } from './cluster-connection.ts';

export type { ClusterClient, History } from './cluster-connection.ts';
export {
  adminAccess,
  COLLECTIONS,
  isJoined,
  nameOf,
  phaseOf,
  phasesIn,
  uidOf,
} from './cluster-connection.ts';

/** Connects. Must be called inside a test, with which it ends. */
export const clusterClient = async (bed: Testbed): Promise<ClusterClient> => {
  const { client, close } = await connectCluster(bed);
  onTestFinished(close);
  return client;
};

/** Waits until `count` objects of a collection are as wanted, and returns them. */
export const untilAll = async (
  client: ClusterClient,
  collection: string,
  wanted: {
    readonly what: string;
    readonly count: number;
    readonly each: (object: JsonRecord) => boolean;
    readonly timeoutMs?: number;
  },
): Promise<readonly JsonRecord[]> => {
  const { what, count, each, timeoutMs } = wanted;
  return await eventually(async () => {
    const objects = await client.list(collection);
    const good = objects.filter(each).length;
    if (objects.length === count && good === count) return objects;
    throw new Error(`there are ${objects.length}, of which ${good} are so`);
  }, { what, everyMs: 250, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
};
