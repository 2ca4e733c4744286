/**
 * The stage of the soak: one cluster, one fleet, workloads that move on from machine to machine,
 * and operators that are killed and started again.
 *
 * Promises: the machines of the next round stand before those of this one are taken back, so that
 * the pods always have somewhere to go, and stand where the next round needs them.
 */
import { textAt } from '../../src/domain/json.ts';
import type { Testbed } from '../../tools/testbed/testbed.ts';
import { type AuditTail, auditTail } from '../support/api/audit-tail.ts';
import {
  type ClusterClient,
  COLLECTIONS,
  connectCluster,
  type History,
  nameOf,
} from '../support/api/cluster-connection.ts';
import { untilPodsReady } from '../support/drains/drain-site.ts';
import { joinMachines } from '../support/drains/reclaims.ts';
import { budget, deployment, DRAIN_COLLECTIONS } from '../support/drains/workloads.ts';
import { eventually } from '../support/eventually.ts';
import { fleetBy, type FleetProcess } from '../support/processes/fleet-child.ts';
import { operatorBy, type OperatorProcess } from '../support/processes/operator-child.ts';
import type { StartTidegate } from '../support/processes/tidegate-child.ts';

/** A workload of the soak: how many pods it has, and how many of them may be away. */
export interface Workload {
  readonly app: string;
  readonly replicas: number;
  readonly unavailable: number;
}

/** The one behind a budget with a single slot. */
export const SINGLE: Workload = { app: 'single', replicas: 6, unavailable: 1 };

/** That one, and one of which half may be away. */
export const WORKLOADS: readonly Workload[] = [
  SINGLE,
  { app: 'wide', replicas: 10, unavailable: 5 },
];

const MACHINES_OF_ROUND = 2;
const PODS = WORKLOADS.reduce((sum, { replicas }) => sum + replicas, 0);
/** Short, so that a round is; not so short that a busy machine loses it. */
const LEASE = {
  'lease-duration': '4s',
  'lease-renew-deadline': '3s',
  'lease-retry-period': '500ms',
};
const LEASE_PATH = '/apis/coordination.k8s.io/v1/namespaces/default/leases/tidegate-operator';

/** The set-up of a soak. */
export interface SoakSite {
  readonly bed: Testbed;
  readonly cluster: ClusterClient;
  readonly fleet: FleetProcess;
  readonly pods: History;
  readonly audit: AuditTail;
  /** The machines that the pods are on. */
  readonly machines: () => readonly string[];
  /** Makes the machines of the next round and gives those of this one. */
  readonly moveOn: () => Promise<readonly string[]>;
  /** Starts one more operator, named like the number that it is. */
  readonly startOperator: () => Promise<OperatorProcess>;
  /** The one that leads, and the others that run. */
  readonly leader: () => Promise<OperatorProcess>;
  readonly running: () => readonly OperatorProcess[];
  readonly close: () => Promise<void>;
}

/** Sets the stage; the processes are started by `start`. */
export const soakSite = async (bed: Testbed, start: StartTidegate): Promise<SoakSite> => {
  await bed.installCrds();
  const { client: cluster, close } = await connectCluster(bed);
  const fleet = await fleetBy(start, {
    seedMachines: 0,
    kubeconfig: bed.kubeconfigFor('fleet'),
    flags: { 'cycle-interval': '1h' },
  });
  const pods = await cluster.history(COLLECTIONS.pods);
  const operators = new Map<string, OperatorProcess>();
  let started = 0;
  let round = 0;

  const join = (): Promise<readonly string[]> => {
    round += 1;
    return joinMachines({ fleet, cluster }, { count: MACHINES_OF_ROUND, prefix: `soak-${round}-` });
  };
  let machines = await join();
  await cluster.create(
    DRAIN_COLLECTIONS.deployments,
    WORKLOADS.map(({ app, replicas }) => deployment(app, replicas)),
  );
  await cluster.create(
    DRAIN_COLLECTIONS.budgets,
    WORKLOADS.map(({ app, unavailable }) => budget(app, { maxUnavailable: unavailable })),
  );
  await untilPodsReady(cluster, PODS);

  const running = (): readonly OperatorProcess[] =>
    [...operators.values()].filter((operator) => operator.isRunning());
  return {
    bed,
    cluster,
    fleet,
    pods,
    audit: auditTail(bed),
    machines: () => machines,
    moveOn: async () => {
      const before = machines;
      machines = await join();
      return before;
    },
    startOperator: async () => {
      started += 1;
      const identity = `operator-${started}`;
      const operator = await operatorBy(start, {
        bed,
        shardAddress: fleet.address,
        flags: { ...LEASE, identity, 'log-level': 'info' },
      });
      operators.set(identity, operator);
      return operator;
    },
    leader: () =>
      eventually(async () => {
        const { body } = await cluster.call('GET', LEASE_PATH);
        const holder = operators.get(textAt(body, 'spec', 'holderIdentity') ?? '');
        return holder?.isRunning() === true ? holder : undefined;
      }, { what: 'an operator to lead' }),
    running,
    close: async () => {
      await Promise.all(running().map((operator) => operator.stop()));
      await fleet.stop();
      await close();
    },
  };
};

/** Waits until every pod of the workloads is ready again. */
export const untilWhole = ({ cluster }: SoakSite): Promise<void> => untilPodsReady(cluster, PODS);

/** Removes drained machines from the cluster: their Nodes and the objects that show them. */
export const giveBack = async (
  { cluster, fleet }: SoakSite,
  machines: readonly string[],
): Promise<void> => {
  for (const id of machines) {
    await fleet.script('POST', `/machines/${id}/state`, { state: 'IDLE' });
  }
  await eventually(async () => {
    const nodes = (await cluster.list(COLLECTIONS.nodes)).map(nameOf);
    const reported = (await cluster.list(COLLECTIONS.upcomingNodes)).map(nameOf);
    return machines.every((id) => !nodes.includes(id) && !reported.includes(`un-${id}`));
  }, { what: 'the objects of the machines to be deleted' });
};
