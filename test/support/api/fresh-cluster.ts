/** A cleaned test bed for each test of a suite. */
import { type ClusterClient, clusterClient, COLLECTIONS } from './cluster-client.ts';
import type { Testbed } from './testbed.ts';

const LEFT_OVERS = [
  COLLECTIONS.requests,
  COLLECTIONS.upcomingNodes,
  COLLECTIONS.capacities,
  COLLECTIONS.nodes,
];

/** Installs the CRDs and takes away what an earlier test left. Must be called inside a test. */
export const freshCluster = async (bed: Testbed): Promise<ClusterClient> => {
  await bed.installCrds();
  const cluster = await clusterClient(bed);
  for (const collection of LEFT_OVERS) await cluster.clear(collection);
  return cluster;
};
