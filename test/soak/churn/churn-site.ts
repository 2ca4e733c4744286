/**
 * The set-up of the churn: a cluster, a fleet that remembers its machines, and two operators with
 * the pod controller.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { textAt } from '../../../src/domain/json.ts';
import type { Testbed } from '../../../tools/testbed/testbed.ts';
import { type ClusterClient, connectCluster } from '../../support/api/cluster-connection.ts';
import { eventually } from '../../support/eventually.ts';
import { fleetBy, type FleetProcess } from '../../support/processes/fleet-child.ts';
import { operatorBy, type OperatorProcess } from '../../support/processes/operator-child.ts';
import type { StartTidegate } from '../../support/processes/tidegate-child.ts';
import { WantedDemand } from './wanted-demand.ts';

const SEED_MACHINES = 60;
const OPERATORS = 2;
const LEASE = {
  'lease-duration': '6s',
  'lease-renew-deadline': '4s',
  'lease-retry-period': '1s',
};
const LEASE_PATH = '/apis/coordination.k8s.io/v1/namespaces/default/leases/tidegate-operator';

/** What churns. */
export interface ChurnSite {
  readonly bed: Testbed;
  readonly cluster: ClusterClient;
  readonly demand: WantedDemand;
  readonly fleet: () => FleetProcess;
  /** Starts the fleet again, with the machines that it had bound. */
  readonly restartFleet: () => Promise<void>;
  /** The operator that leads; undefined while none does. */
  readonly leader: () => Promise<OperatorProcess | undefined>;
  readonly standby: () => Promise<OperatorProcess | undefined>;
  /** Starts operators until two run. */
  readonly startOperators: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Starts everything by `start`. */
export const churnSite = async (bed: Testbed, start: StartTidegate): Promise<ChurnSite> => {
  await bed.installCrds();
  const { client: cluster, close } = await connectCluster(bed);
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-churn-'));
  const options = {
    seedMachines: SEED_MACHINES,
    bindingsFile: join(folder, 'bindings'),
    kubeconfig: bed.kubeconfigFor('fleet'),
    flags: { 'cycle-interval': '500ms' },
  };
  let fleet = await fleetBy(start, options);
  const operators = new Map<string, OperatorProcess>();
  let started = 0;

  const startOperator = async (): Promise<void> => {
    started += 1;
    const identity = `operator-${started}`;
    operators.set(
      identity,
      await operatorBy(start, {
        bed,
        shardAddress: fleet.address,
        flags: { ...LEASE, identity, 'with-pods': 'true', 'log-level': 'info' },
      }),
    );
  };
  const running = () => [...operators].filter(([, operator]) => operator.isRunning());
  const holder = async (): Promise<string> =>
    textAt((await cluster.call('GET', LEASE_PATH)).body, 'spec', 'holderIdentity') ?? '';
  return {
    bed,
    cluster,
    demand: new WantedDemand(),
    fleet: () => fleet,
    restartFleet: async () => {
      fleet = await fleetBy(start, { ...options, ports: fleet.ports });
    },
    leader: async () => new Map(running()).get(await holder()),
    standby: async () => {
      const leads = await holder();
      return running().find(([identity]) => identity !== leads)?.[1];
    },
    startOperators: async () => {
      while (running().length < OPERATORS) await startOperator();
    },
    close: async () => {
      await Promise.all(running().map(([, operator]) => operator.stop()));
      if (fleet.isRunning()) await fleet.stop();
      await close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

/** Waits until one operator leads. */
export const untilLed = (site: ChurnSite): Promise<OperatorProcess> =>
  eventually(() => site.leader(), { what: 'an operator to lead', timeoutMs: 120_000 });
