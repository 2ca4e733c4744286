/**
 * An operator with all roles on an embedded cluster, watched by Prometheus: workloads that need
 * machines, a reclaim behind a tight budget, a requested eviction and a maintenance.
 *
 * Promises: what Prometheus answers is what it scraped from this operator.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listOrEmptyAt, textAt, valueAt } from '../../../src/domain/json.ts';
import { ROLE_NAMES } from '../../../src/domain/operator-roles.ts';
import { accepts, freePort } from '../../../tools/testbed/ports.ts';
import { supervise } from '../../../tools/testbed/processes.ts';
import { eventually } from '../eventually.ts';
import { startClusterBy } from '../processes/cluster-child.ts';
import { fleetBy } from '../processes/fleet-child.ts';
import type { StartTidegate } from '../processes/tidegate-child.ts';

const RULES = fileURLToPath(new URL('../../../docs/tasks/alerts.yaml', import.meta.url));
const MACHINES = '/apis/bigfleet.lucy.sh/v1alpha1/upcomingnodes';
const REPLICAS = 12;
const LABELS = { app: 'web' };

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
  /** Asks the HTTP API of Prometheus, such as `query`; gives `data`. */
  readonly ask: (path: string, query?: Readonly<Record<string, string>>) => Promise<unknown>;
  readonly stop: () => Promise<void>;
}

type Post = (path: string, body: object) => Promise<unknown>;

const DEPLOYMENT = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas: REPLICAS,
    selector: { matchLabels: LABELS },
    template: {
      metadata: { labels: LABELS },
      spec: {
        containers: [{
          name: 'web',
          image: 'web',
          resources: { requests: { cpu: '2', memory: '4Gi' } },
        }],
      },
    },
  },
};

const BUDGET = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'web' },
  spec: { maxUnavailable: 1, selector: { matchLabels: LABELS } },
};

const maintenanceOf = (node: string): object => ({
  apiVersion: 'lifecycle.tidegate.dev/v1alpha1',
  kind: 'NodeMaintenance',
  metadata: { name: 'kernel' },
  spec: {
    nodeSelector: {
      nodeSelectorTerms: [{
        matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }],
      }],
    },
    stage: 'Drain',
    reason: 'New kernel',
  },
});

const startCluster = async ({ start, folder }: MonitoredRunOptions) => {
  const { child, kubeconfig, server } = await startClusterBy(start, join(folder, 'kubeconfig'));
  const post: Post = async (path, body) => {
    const answer = await fetch(`${server}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`Cannot POST ${path}: ${await answer.text()}`);
    return await answer.json();
  };
  const list = async (path: string): Promise<readonly unknown[]> =>
    listOrEmptyAt(await (await fetch(`${server}${path}`)).json(), 'items');
  return { child, kubeconfig, post, list };
};

const startPrometheus = async ({ prometheus, folder }: MonitoredRunOptions, target: number) => {
  const port = await freePort();
  const file = join(folder, 'prometheus.yml');
  const targets = [`127.0.0.1:${target}`];
  await writeFile(
    file,
    JSON.stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: [RULES],
      scrape_configs: [{ job_name: 'tidegate', static_configs: [{ targets }] }],
    }),
  );
  const child = supervise({
    name: 'prometheus',
    file: prometheus,
    args: [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    log: join(folder, 'prometheus.log'),
  });
  await eventually(() => accepts(port), { what: 'Prometheus to listen' });
  const ask: MonitoredRun['ask'] = async (path, query = {}) => {
    const url = `http://127.0.0.1:${port}/api/v1/${path}?${new URLSearchParams(query)}`;
    const answer: unknown = await (await fetch(url)).json();
    if (textAt(answer, 'status') !== 'success') {
      throw new Error(`Prometheus cannot answer ${url}: ${textAt(answer, 'error')}`);
    }
    return valueAt(answer, 'data');
  };
  return { child, ask };
};

/** Starts it, and gives the operator its work. The caller stops it. */
export const monitoredRun = async (options: MonitoredRunOptions): Promise<MonitoredRun> => {
  const { child: cluster, kubeconfig, post, list } = await startCluster(options);
  const fleet = await fleetBy(options.start, { kubeconfig });
  const metrics = await freePort();
  const operator = options.start({
    name: 'operator',
    args: [
      ...['operator', '--cluster-id=monitored', `--shard-addr=${fleet.address}`],
      ...['--insecure-plaintext', `--kubeconfig=${kubeconfig}`, `--roles=${ROLE_NAMES.join(',')}`],
      ...[`--metrics-addr=127.0.0.1:${metrics}`, '--health-addr=0', '--rollup-interval=500ms'],
    ],
  });
  const { child: prometheus, ask } = await startPrometheus(options, metrics);
  await post('/apis/apps/v1/namespaces/default/deployments', DEPLOYMENT);
  await post('/apis/policy/v1/namespaces/default/poddisruptionbudgets', BUDGET);
  const joined = await eventually(async () => {
    const running = (await list('/api/v1/pods'))
      .filter((pod) => textAt(pod, 'status', 'phase') === 'Running');
    const nodes = (await list(MACHINES))
      .flatMap((machine) => textAt(machine, 'status', 'nodeRef', 'name') ?? []);
    return running.length >= REPLICAS && nodes.length > 1 ? { running, nodes } : undefined;
  }, { what: 'every pod to run on machines of the fleet' });
  const [reclaimed = '', maintained = ''] = joined.nodes;
  await fleet.script('POST', '/reclaim', { machine: reclaimed, graceSeconds: 120 });
  await post('/apis/lifecycle.tidegate.dev/v1alpha1/nodemaintenances', maintenanceOf(maintained));
  const pod = joined.running.find((one) => textAt(one, 'spec', 'nodeName') === maintained);
  const requester = options.start({
    name: 'requester',
    args: [
      ...['evict', `default/${textAt(pod, 'metadata', 'name')}`, `--kubeconfig=${kubeconfig}`],
      '--requester=upgrade.nodes.example.com',
    ],
  });
  return {
    ask,
    stop: async () => {
      for (const one of [requester, operator, fleet, cluster, prometheus]) await one.stop();
    },
  };
};
