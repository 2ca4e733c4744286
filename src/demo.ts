/**
 * The environment of `tidegate demo`: a cluster without Nodes (the embedded one unless another is
 * given), a fleet with machines, and the operator as a separate process.
 *
 * Promises: needs nothing but this runtime; listens only on loopback, on free ports; leaves no
 * process and no folder behind, however it ends.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { RunningCluster } from '@tidegate/embedded-kubernetes';
import type { RunningFleet } from '@tidegate/stand-in-fleet';
import { definitions } from './api/definitions.ts';
import type { DemoSite, StartDemoSite } from './cli/demo/demo-site.ts';
import { demoFolder } from './cli/demo/demo-folder.ts';
import { loadEmbeddedKubernetes, loadStandInFleet } from './cli/on-demand-packages.ts';
import { PAGE_LOG } from './cli/operator/inspectors.ts';
import { listOrEmptyAt, parseJson, textAt } from './domain/json.ts';
import { realTime } from './effects/real-time.ts';

const CLUSTER = 'demo';
const LOOPBACK = '127.0.0.1';
const MACHINES = 40;
const KUBECONFIG_MODE = 0o600;
/** Fast enough to watch to the end. */
const FLEET_TIMING = { cycleMs: 500, creationMs: 800, joiningMs: 500, drainingMs: 2000 };
/** The fleet takes back unneeded machines without a confirmation delay. */
const LISTEN = { host: LOOPBACK, port: 0 };

const MERGE = { 'content-type': 'application/merge-patch+json' };
const APPLY = { 'content-type': 'application/apply-patch+yaml' };

/** The cluster of a demo. */
export interface DemoCluster
  extends Pick<DemoSite, 'apply' | 'ask' | 'kubeconfig' | 'list' | 'silence'> {
  /** Kubeconfigs of the operator and of the fleet. */
  readonly kubeconfigs: { readonly operator: string; readonly fleet: string };
  readonly stop: () => Promise<void>;
}

const asking = ({ cluster }: RunningCluster): Pick<DemoSite, 'apply' | 'ask' | 'list'> => ({
  list: (path) => {
    const answer = cluster.answer({ method: 'GET', path });
    return answer._tag === 'Answer' ? listOrEmptyAt(answer.body, 'items') : [];
  },
  ask: (method, path, body) => {
    const answer = cluster.answer({
      method,
      path,
      ...(method === 'PATCH' ? { headers: MERGE } : {}),
      ...(body === undefined ? {} : { body }),
    });
    if (answer._tag === 'Answer' && answer.status >= 400) {
      throw new Error(`${method} ${path}: ${textAt(answer.body, 'message') ?? answer.status}`);
    }
  },
  apply: (path, body, fieldManager) => {
    const query = new URLSearchParams({ fieldManager, force: 'true' });
    const answer = cluster.answer({
      method: 'PATCH',
      path: `${path}?${query}`,
      headers: APPLY,
      body,
    });
    if (answer._tag === 'Answer' && answer.status >= 400) {
      throw new Error(`apply ${path}: ${textAt(answer.body, 'message') ?? answer.status}`);
    }
  },
});

const fleetOf = async (kubeconfig: string, folder: string) => {
  const { runFleet } = await loadStandInFleet('demo');
  let port = 0;
  const start = (): Promise<RunningFleet> =>
    runFleet({
      time: realTime,
      listen: { host: LOOPBACK, port },
      bindingsFile: join(folder, 'bindings.json'),
      seedMachines: MACHINES,
      kubeconfig,
      timing: FLEET_TIMING,
      guarded: false,
    });
  let running = await start();
  port = running.address.port;
  const bound = (): readonly string[] =>
    [...running.script.shard.inventory.values()].filter(({ cluster }) => cluster === CLUSTER)
      .map(({ id }) => id);
  return {
    port,
    fleet: {
      bound,
      reclaim: (machine: string, graceSeconds: number) => {
        running.script.place(machine, { state: 'CONFIGURED' });
        running.script.reclaim(machine, { graceSeconds }, false);
        running.script.place(machine, { state: 'DRAINING' });
      },
      returnMachine: (machine: string) => void running.script.place(machine, { state: 'IDLE' }),
      stop: () => running.stop(),
      start: async () => {
        running = await start();
      },
    },
  };
};

type Page = ReturnType<DemoSite['page']>;

/** The operator's live page, from a line of its log. */
const pageAfter = (page: Page, line: string): Page => {
  const entry = parseJson(line);
  switch (textAt(entry, 'message')) {
    case PAGE_LOG.served:
      return { url: textAt(entry, 'url') ?? '', isOpened: false };
    case PAGE_LOG.opened:
      return page && { ...page, isOpened: true };
    default:
      return page;
  }
};

const startOperator = (
  flags: readonly string[],
  { folder, log, onLine }: {
    readonly folder: string;
    readonly log: string;
    readonly onLine: (line: string) => void;
  },
): ChildProcess => {
  // Beside this file, in the sources and in a bundle.
  const name = import.meta.url.endsWith('.ts') ? 'demo-operator.ts' : 'demo-operator.js';
  const main = fileURLToPath(new URL(name, import.meta.url));
  const runtime = 'deno' in process.versions ? ['run', '-A', '-q'] : [];
  const child = spawn(process.execPath, [...runtime, main, folder, 'operator', ...flags], {
    // Never written to: its end tells the operator that the demo is gone.
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const file = createWriteStream(log);
  child.stdout.pipe(file);
  child.stderr.pipe(file);
  createInterface({ input: child.stdout }).on('line', onLine);
  return child;
};

const stopped = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
};

const LOG_LINES_MAX = 5;

const embeddedCluster = async (folder: string): Promise<DemoCluster> => {
  const { runCluster } = await loadEmbeddedKubernetes('demo');
  const cluster = await runCluster({
    time: realTime,
    listen: LISTEN,
    seed: 1,
    nodes: 0,
    rate: 1,
    definitions: definitions(),
  });
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, cluster.kubeconfig, { mode: KUBECONFIG_MODE });
  return {
    ...asking(cluster),
    kubeconfig,
    kubeconfigs: { operator: kubeconfig, fleet: kubeconfig },
    silence: cluster.silence,
    stop: cluster.stop,
  };
};

/** Creates the environment on a cluster that `start` makes, with a folder of the demo. */
export const demoSiteOn =
  (start: (folder: string) => Promise<DemoCluster>): StartDemoSite =>
  async ({ inspectAddress, recordFile, operatorFlags }) => {
    const folder = await demoFolder();
    const { apply, ask, list, silence, kubeconfig, kubeconfigs, stop } = await start(folder);
    const { port, fleet } = await fleetOf(kubeconfigs.fleet, folder);
    const log = join(folder, 'operator.log');
    let page: Page;
    const operator = startOperator([
      `--cluster-id=${CLUSTER}`,
      `--shard-addr=${LOOPBACK}:${port}`,
      '--insecure-plaintext',
      `--kubeconfig=${kubeconfigs.operator}`,
      '--metrics-addr=0',
      `--health-addr=${LOOPBACK}:0`,
      '--rollup-interval=1s',
      ...operatorFlags,
      ...(inspectAddress === undefined ? [] : [`--inspect-addr=${inspectAddress}`]),
      ...(recordFile === undefined ? [] : [`--record=${recordFile}`]),
    ], {
      folder,
      log,
      onLine: (line) => {
        page = pageAfter(page, line);
      },
    });
    let failure: string | undefined;
    let isStopping = false;
    operator.once('exit', (code) => {
      void readFile(log, 'utf8').catch(() => '').then((text) => {
        const last = text.trimEnd().split('\n').slice(-LOG_LINES_MAX).join('\n');
        if (!isStopping) failure = `the operator ended with ${code}:\n${last}`;
      });
    });
    return {
      kubeconfig,
      page: () => page,
      apply,
      ask,
      list,
      silence,
      fleet,
      failure: () => failure,
      stop: async () => {
        isStopping = true;
        await stopped(operator);
        await fleet.stop();
        await stop();
        await rm(folder, { recursive: true, force: true });
      },
    };
  };

/** Creates the environment on an embedded cluster. */
export const startDemoSite: StartDemoSite = demoSiteOn(embeddedCluster);
