/**
 * `maintenance plan --simulate` beside the same maintenances on a real API server, scheduler and
 * controllers, of random clusters. Not measured: a kubelet (kwok simulates it; pods start and stop
 * after two seconds on both sides), and other things that go on in a cluster.
 */
import { startTestbed } from '../../tools/testbed/testbed.ts';
import { connectCluster } from '../support/api/cluster-connection.ts';
import { randomCluster } from '../support/node-maintenance/random-cluster.ts';
import {
  compareMaintenance,
  type Comparison,
  type MaintenanceOutcome,
} from '../support/node-maintenance/simulated-beside-real.ts';
import { roleBy } from '../support/processes/role-child.ts';
import { spawnTidegate } from '../support/processes/tidegate-child.ts';
import { print, printFigure } from './measurement.ts';

/** A quarter of the real time. */
const TOLERANCE = 0.25;
/** A simulated time has whole seconds. */
const ROUNDING_SECONDS = 0.5;

const textOf = ({ order, blockers, drained }: MaintenanceOutcome): string =>
  JSON.stringify([order, blockers, drained]);

const isNear = ({ simulated, real }: Comparison): boolean =>
  Math.abs(simulated.seconds - real.seconds) <= real.seconds * TOLERANCE + ROUNDING_SECONDS;

const printOne = (seed: number, comparison: Comparison): void => {
  const { simulated, real } = comparison;
  const isSame = textOf(simulated) === textOf(real);
  printFigure(
    `cluster ${seed}: ${real.order.length} nodes, ${real.drained ? 'drained' : 'blocked'}`,
    `${simulated.seconds} s / ${real.seconds.toFixed(1)} s`,
    `${isSame ? 'same' : `DIFFERENT: ${textOf(simulated)} ${textOf(real)}`}`,
  );
};

/** Compares so many clusters. */
export const benchSimulations = async (clusters: number): Promise<void> => {
  print();
  print(`Simulated maintenances of ${clusters} random clusters: simulated / real time`);
  const bed = await startTestbed({
    controllers: true,
    scheduler: true,
    kwok: true,
    print: () => {},
  });
  try {
    await bed.installCrds();
    const { client: cluster, close } = await connectCluster(bed);
    const operator = await roleBy(spawnTidegate, {
      role: 'operator',
      name: 'operator',
      flags: { roles: 'maintenance', kubeconfig: bed.kubeconfigFor('tidegate') },
    });
    await operator.untilReady();
    const all: Comparison[] = [];
    for (let seed = 1; seed <= clusters; seed += 1) {
      const comparison = await compareMaintenance(
        { bed, cluster, operator },
        randomCluster(seed),
      );
      printOne(seed, comparison);
      all.push(comparison);
    }
    const same = all.filter(({ simulated, real }) => textOf(simulated) === textOf(real));
    printFigure('the same order of nodes and blockers', `${same.length} of ${clusters}`);
    const drained = all.filter(({ real }) => real.drained);
    const near = drained.filter(isNear).length;
    printFigure('drained within a quarter of the real time', `${near} of ${drained.length}`);
    await operator.stop();
    await close();
  } finally {
    await bed.stop();
  }
};
