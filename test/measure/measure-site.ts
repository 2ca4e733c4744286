/** One cluster, one fleet and the operators of one run of the measurements. */
import { startTestbed, type Testbed } from '../../tools/testbed/testbed.ts';
import { type ClusterClient, connectCluster } from '../support/api/cluster-connection.ts';
import { untilPodsReady } from '../support/drains/drain-site.ts';
import { joinMachines, untilReadyInCluster } from '../support/drains/reclaims.ts';
import { barePod, DRAIN_COLLECTIONS } from '../support/drains/workloads.ts';
import { fleetBy, type FleetProcess } from '../support/processes/fleet-child.ts';
import { operatorBy, type OperatorProcess } from '../support/processes/operator-child.ts';
import { spawnTidegate } from '../support/processes/tidegate-child.ts';

/** The wait for a dead leader; the measurement starts after it. */
const LEASE = {
  'lease-duration': '4s',
  'lease-renew-deadline': '3s',
  'lease-retry-period': '500ms',
};

/** The set-up of a measurement. */
export interface MeasureSite {
  readonly bed: Testbed;
  readonly cluster: ClusterClient;
  readonly fleet: FleetProcess;
  readonly startOperator: (
    flags?: Readonly<Record<string, string>>,
  ) => Promise<OperatorProcess>;
  readonly close: () => Promise<void>;
}

/** Sets it up. */
export const measureSite = async (): Promise<MeasureSite> => {
  const bed = await startTestbed({
    controllers: true,
    scheduler: true,
    kwok: true,
    podDeleteMs: 200,
    print: () => {},
  });
  await bed.installCrds();
  const { client: cluster, close } = await connectCluster(bed);
  const fleet = await fleetBy(spawnTidegate, {
    seedMachines: 0,
    kubeconfig: bed.kubeconfigFor('fleet'),
    flags: { 'cycle-interval': '1h' },
  });
  return {
    bed,
    cluster,
    fleet,
    startOperator: (flags) =>
      operatorBy(spawnTidegate, {
        bed,
        shardAddress: fleet.address,
        flags: { ...LEASE, 'log-level': 'info', ...flags },
      }),
    close: async () => {
      await fleet.stop();
      await close();
      await bed.stop();
    },
  };
};

/** Machines with as many pods each; the pods have no controller, so none is recreated. */
export interface Crew {
  readonly machines: readonly string[];
  readonly podsOf: (machine: string) => ReadonlySet<string>;
}

/** Joins them, and waits until all are shown. */
export const crew = async (
  { cluster, fleet }: MeasureSite,
  { prefix, machines: count, pods, deleteAfter }: {
    readonly prefix: string;
    readonly machines: number;
    readonly pods: number;
    readonly deleteAfter?: string;
  },
): Promise<Crew> => {
  const others = (await cluster.list(DRAIN_COLLECTIONS.pods)).length;
  const machines = await joinMachines({ fleet, cluster }, { count, prefix });
  const namesOn = (machine: string): readonly string[] =>
    Array.from({ length: pods }, (_, at) => `${machine}-${at}`);
  const traits = deleteAfter === undefined ? {} : { deleteAfter };
  for (const machine of machines) {
    await cluster.create(
      DRAIN_COLLECTIONS.pods,
      namesOn(machine).map((name) => barePod(name, machine, traits)),
    );
  }
  await untilPodsReady(cluster, others + count * pods);
  await untilReadyInCluster(cluster, machines);
  return { machines, podsOf: (machine) => new Set(namesOn(machine)) };
};
