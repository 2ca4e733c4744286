/**
 * An operator with all roles on an embedded cluster, watched by Prometheus, in which something of
 * each kind happens: a node falls silent, a reclaim waits behind a tight budget, a maintenance and
 * a requested eviction meet a pod without a replacement, the fleet shows an impossible change, and
 * what connects the operator breaks.
 *
 * Promises: what Prometheus answers is what it scraped from this operator.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCluster } from '@tidegate/embedded-kubernetes';
import { definitions } from '../../../src/api/definitions.ts';
import { listOrEmptyAt, textAt } from '../../../src/domain/json.ts';
import { ROLE_NAMES } from '../../../src/domain/operator-roles.ts';
import { realTime } from '../../../src/effects/real-time.ts';
import { freePort } from '../../../tools/testbed/ports.ts';
import { eventually } from '../eventually.ts';
import { fleetBy, type FleetProcess } from '../processes/fleet-child.ts';
import type { StartTidegate } from '../processes/tidegate-child.ts';
import {
  BILLING,
  BUDGET,
  CACHE,
  DEPLOYMENTS,
  maintenanceOf,
  REQUEST,
  WEB,
} from './monitored-objects.ts';
import { type AskPrometheus, startPrometheus } from './prometheus-process.ts';

const CLUSTER = 'monitored';
const DEPLOYMENTS_PATH = '/apis/apps/v1/namespaces/default/deployments';
const BUDGETS = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
const REQUESTS = '/apis/bigfleet.lucy.sh/v1alpha1/namespaces/default/capacityrequests';
const UPCOMING = '/apis/bigfleet.lucy.sh/v1alpha1/upcomingnodes';
const MAINTENANCES = '/apis/lifecycle.tidegate.dev/v1alpha1/nodemaintenances';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
/** The node that the cluster has before any machine joins. */
const FIRST_NODE = 'node-1';
/** The least that the operator takes. */
const OFFLINE_AFTER = '10s';

/** How it is started. */
export interface MonitoredRunOptions {
  readonly start: StartTidegate;
  /** The path of Prometheus. */
  readonly prometheus: string;
  /** An empty folder. */
  readonly folder: string;
}

/** A run that is watched. */
export interface MonitoredRun {
  readonly ask: AskPrometheus;
  readonly stop: () => Promise<void>;
}

type Cluster = Awaited<ReturnType<typeof startCluster>>;

const startCluster = async (folder: string) => {
  const running = await runCluster({
    time: realTime,
    listen: { host: '127.0.0.1', port: 0 },
    seed: 1,
    nodes: 1,
    rate: 1,
    definitions: definitions(),
  });
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, running.kubeconfig);
  const call = (method: string, path: string, body?: object): unknown => {
    const headers = {
      'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
    };
    const answer = running.cluster.answer({ method, path, headers, ...(body && { body }) });
    if (answer._tag === 'Answer' && answer.status < 300) return answer.body;
    throw new Error(`Cannot ${method} ${path}: ${JSON.stringify(answer)}`);
  };
  /** The pods of a workload that run. */
  const podsOf = ({ name }: { readonly name: string }): readonly unknown[] =>
    listOrEmptyAt(call('GET', `/api/v1/pods?labelSelector=app%3D${name}`), 'items')
      .filter((pod) => textAt(pod, 'status', 'phase') === 'Running');
  return { ...running, kubeconfig, call, podsOf };
};

const nodeOf = (pod: unknown): string => textAt(pod, 'spec', 'nodeName') ?? '';

/** How pods and their demand are, for the message of a wait that takes too long. */
const situationIn = ({ call }: Pick<Cluster, 'call'>): string => {
  const count = (path: string, textOf: (object: unknown) => string): string => {
    const groups = Map.groupBy(listOrEmptyAt(call('GET', path), 'items'), textOf);
    return [...groups].map(([text, { length }]) => `${length} ${text}`).join(', ');
  };
  const phaseOf = (object: unknown): string => textAt(object, 'status', 'phase') ?? 'without phase';
  const pods = count('/api/v1/pods', (pod) => `${phaseOf(pod)} on "${nodeOf(pod)}"`);
  return `pods: ${pods}; requests: ${count(REQUESTS, phaseOf)}; ` +
    `nodes: ${count('/api/v1/nodes', (node) => textAt(node, 'metadata', 'name') ?? '')}; ` +
    `machines: ${count(UPCOMING, phaseOf)}`;
};

const untilRunning = (cluster: Cluster, ...workloads: readonly (typeof WEB)[]) =>
  eventually(() => {
    if (workloads.every((one) => cluster.podsOf(one).length >= one.replicas)) return true;
    throw new Error(situationIn(cluster));
  }, {
    what: `the pods of ${workloads.map(({ name }) => name).join(' and ')} to run`,
  });

/** Its kubelet stops, and its Lease is as old as after a minute. */
const silence = ({ call, silence: stopKubelet, time }: Cluster, node: string): void => {
  stopKubelet(node, true);
  const renewTime = new Date(time.now() - 60_000).toISOString().replace('Z', '000Z');
  call('PATCH', `${LEASES}/${node}`, { spec: { renewTime } });
};

/**
 * Two nodes are to leave: one for the fleet, and one of which a pod cannot. The first write about
 * that pod's EvictionRequest fails. Gives the pod.
 */
const drainNodes = async ({ call, podsOf, cluster }: Cluster, fleet: FleetProcess) => {
  const [billing] = podsOf(BILLING);
  const maintained = nodeOf(billing);
  const reclaimed = podsOf(WEB).map(nodeOf).find((node) => node !== maintained) ?? '';
  const request = textAt(billing, 'metadata', 'uid') ?? '';
  cluster.faults.set({
    trouble: { kind: 'refuse', status: 500 },
    path: `/evictionrequests/${request}/status`,
    times: 1,
  });
  await fleet.script('POST', '/reclaim', { machine: reclaimed, graceSeconds: 120 });
  call('POST', MAINTENANCES, maintenanceOf(maintained));
  return textAt(billing, 'metadata', 'name') ?? '';
};

/** A machine becomes what none can, and what connects the operator breaks. */
const disturb = async ({ cluster, call }: Cluster, fleet: FleetProcess): Promise<void> => {
  for (const state of ['SPECULATIVE', 'CONFIGURED']) {
    await fleet.script('POST', '/machines/odd/state', { state, cluster: CLUSTER });
  }
  cluster.watches.drop({ resource: 'nodes', quietly: false });
  await fleet.script('POST', '/faults', { ackRollups: false });
  call('POST', REQUESTS, REQUEST);
  const path = `${REQUESTS}/${textAt(REQUEST, 'metadata', 'name')}`;
  await eventually(() => textAt(call('GET', path), 'status', 'phase') === 'Pending' || undefined, {
    what: 'the request to be pending while the fleet acknowledges nothing',
  });
  await fleet.script('POST', '/faults', { ackRollups: true });
  // A cluster whose roll-ups were not acknowledged for 9 s ends its session, and begins another.
  await eventually(async () => {
    await fleet.script('POST', '/sessions/end', { cluster: CLUSTER });
    return true;
  }, { what: 'the fleet to end the session of the cluster' });
};

/** Series of histograms with labels: their first observations show only once a second one comes. */
const FIRST_OBSERVATIONS: readonly string[] = [
  'bigfleet_operator_node_state_update_duration_seconds_count{phase="Ready"}',
  'workqueue_work_duration_seconds_count',
];

const untilScraped = (ask: AskPrometheus, series: readonly string[]) =>
  eventually(async () => {
    const answers = await Promise.all(series.map((query) => ask('query', { query })));
    return answers.every((answer) => listOrEmptyAt(answer, 'result').length > 0) || undefined;
  }, { what: `Prometheus to have ${series.join(' and ')}` });

/** An operator of all roles. */
const operatorArgs = (
  { kubeconfig, shard, metrics }: Readonly<Record<'kubeconfig' | 'shard' | 'metrics', string>>,
): readonly string[] => [
  ...['operator', `--cluster-id=${CLUSTER}`, `--shard-addr=${shard}`, '--insecure-plaintext'],
  ...[`--kubeconfig=${kubeconfig}`, `--roles=${ROLE_NAMES.join(',')}`],
  ...[`--metrics-addr=${metrics}`, '--health-addr=0', '--rollup-interval=3s'],
  ...[`--offline-after=${OFFLINE_AFTER}`, '--without-surge=wait'],
];

interface Stoppable {
  readonly stop: () => Promise<unknown>;
  /** Of a process of Tidegate. */
  readonly logs?: () => readonly unknown[];
}

/** As many lines of each process tell why a run does not go on. */
const LINES_MAX = 40;

const logsOf = (parts: readonly Stoppable[]): string =>
  parts.flatMap(({ logs }) => logs?.().slice(-LINES_MAX) ?? [])
    .map((line) => JSON.stringify(line)).join('\n');

/** Starts each part, and gives the operator its work; `keep` is called with all that runs. */
const play = async (
  options: MonitoredRunOptions,
  keep: (running: Stoppable) => void,
): Promise<AskPrometheus> => {
  const cluster = await startCluster(options.folder);
  keep(cluster);
  const { call, kubeconfig } = cluster;
  const [cache = {}, ...others] = DEPLOYMENTS;
  call('POST', DEPLOYMENTS_PATH, cache);
  const fleet = await fleetBy(options.start, { kubeconfig });
  keep(fleet);
  await untilRunning(cluster, CACHE);
  const port = await freePort();
  const metrics = `127.0.0.1:${port}`;
  keep(options.start({
    name: 'operator',
    args: operatorArgs({ kubeconfig, shard: fleet.address, metrics }),
  }));
  const { child, ask } = await startPrometheus(options, metrics);
  keep(child);
  silence(cluster, FIRST_NODE);
  for (const deployment of others) call('POST', DEPLOYMENTS_PATH, deployment);
  call('POST', BUDGETS, BUDGET);
  await untilRunning(cluster, WEB, BILLING);
  const pod = await drainNodes(cluster, fleet);
  await untilScraped(ask, FIRST_OBSERVATIONS);
  keep(options.start({
    name: 'requester',
    args: [
      ...['evict', `default/${pod}`, `--kubeconfig=${kubeconfig}`],
      '--requester=upgrade.nodes.example.com',
    ],
  }));
  await disturb(cluster, fleet);
  return ask;
};

/** Starts it, and gives the operator its work. The caller stops it. */
export const monitoredRun = async (options: MonitoredRunOptions): Promise<MonitoredRun> => {
  const parts: Stoppable[] = [];
  const stop = async (): Promise<void> => {
    for (const part of parts.splice(0).toReversed()) await part.stop();
  };
  try {
    return { ask: await play(options, (part) => void parts.push(part)), stop };
  } catch (cause) {
    const logs = logsOf(parts);
    await stop();
    throw new Error(`The run does not go on; its processes logged:\n${logs}`, { cause });
  }
};
