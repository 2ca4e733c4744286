/** A stage of a drain for one test: see `drain-site.ts`. */
import type { Testbed } from '../../../tools/testbed/testbed.ts';
import { clusterClient } from '../api/cluster-client.ts';
import { freshCluster } from '../api/fresh-cluster.ts';
import { startFleet } from '../processes/fleet-process.ts';
import { startOperator } from '../processes/operator-process.ts';
import { createSite, type DrainFixture, type DrainSite, type SiteOptions } from './drain-site.ts';
import { clearWorkloads } from './drain-site.ts';

/** Resets a bed to the set-up. Must be called inside a test. */
export const drainSite = async (
  bed: Testbed,
  fixture: DrainFixture,
  options: SiteOptions['options'] = {},
): Promise<DrainSite> => {
  await clearWorkloads(await clusterClient(bed));
  const cluster = await freshCluster(bed);
  const fleet = await startFleet({
    seedMachines: 0,
    kubeconfig: bed.kubeconfigFor('fleet'),
    flags: { 'cycle-interval': '1h' },
  });
  return await createSite({ bed, cluster, fleet, operator: startOperator, options }, fixture);
};
