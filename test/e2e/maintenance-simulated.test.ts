/**
 * `maintenance plan --simulate` beside the same maintenances on a real API server, scheduler and
 * controllers: the same order of nodes, the same blockers. Times: `npm run bench -- simulate`.
 */
import { expect, it } from 'vitest';
import { freshCluster } from '../support/api/fresh-cluster.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { randomCluster } from '../support/node-maintenance/random-cluster.ts';
import {
  compareMaintenance,
  PREVIEWER,
} from '../support/node-maintenance/simulated-beside-real.ts';
import { roleBy } from '../support/processes/role-child.ts';
import { startTidegate } from '../support/processes/tidegate-process.ts';
import { atScale } from '../support/scale.ts';

const CLUSTERS = atScale({ commit: 1, release: 20 });

describeWithTestbed('simulated maintenances', {
  controllers: true,
  scheduler: true,
  kwok: true,
}, (bed) => {
  it('have the order of nodes and the blockers of the real ones, and write nothing', {
    timeout: 1_200_000,
  }, async () => {
    const cluster = await freshCluster(bed());
    const operator = await roleBy(startTidegate, {
      role: 'operator',
      name: 'operator',
      flags: { roles: 'maintenance', kubeconfig: bed().kubeconfigFor('tidegate') },
    });
    await operator.untilReady();
    for (let seed = 1; seed <= CLUSTERS; seed += 1) {
      const { simulated, real } = await compareMaintenance(
        { bed: bed(), cluster, operator },
        randomCluster(seed),
      );
      const { seconds: _simulated, ...foreseen } = simulated;
      const { seconds: _real, ...happened } = real;
      expect(foreseen, `cluster ${seed}`).toEqual(happened);
    }
    const verbs = (await bed().audit()).filter(({ user }) => user === PREVIEWER)
      .map(({ verb }) => verb);
    expect(verbs.length).toBeGreaterThan(0);
    expect(verbs.filter((verb) => verb !== 'get' && verb !== 'list')).toEqual([]);
  });
});
