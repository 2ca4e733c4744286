/** The processes of `tidegate pods` benches: a cluster with many pods, and the role itself. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../tools/testbed/ports.ts';
import { eventually } from '../support/eventually.ts';
import { endChild, kubeconfig } from './bench-process.ts';
import type { PodClusterEvent } from './pod-cluster.ts';

const NODE = fileURLToPath(new URL('../../node_modules/.bin/node', import.meta.url));
const CLUSTER = fileURLToPath(new URL('./pod-cluster.ts', import.meta.url));
const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** A cluster of pods. */
export interface PodCluster {
  readonly child: ChildProcess;
  readonly port: number;
  /** How often every pod that is there had a request with a phase. */
  readonly completions: () => number;
  /** Releases more pods at once, for a cluster that holds its pods back. */
  readonly burst: (pods: number) => void;
}

/** Starts a cluster; with `later` its pods come by `burst`. The caller ends it. */
export const startPodCluster = async (
  pods: number,
  when: 'at once' | 'later' = 'at once',
): Promise<PodCluster> => {
  const args = [CLUSTER, String(pods), ...(when === 'later' ? ['--later'] : [])];
  const child = spawn(NODE, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const emitted: PodClusterEvent[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    emitted.push(JSON.parse(line));
  });
  const listening = await eventually(() => emitted.find(({ event }) => event === 'listening'), {
    what: 'the cluster to listen',
  });
  return {
    child,
    port: listening.event === 'listening' ? listening.api : 0,
    completions: () => emitted.filter(({ event }) => event === 'complete').length,
    burst: (more) => void child.stdin.write(`${more}\n`),
  };
};

/** The role as a process. */
export interface PodsProcess {
  readonly child: ChildProcess;
  readonly isReady: () => Promise<boolean>;
  /** A directory for files of this process; removed by `end`. */
  readonly folder: string;
  readonly end: () => Promise<void>;
}

/** What the role is started with. */
export interface PodsProcessOptions {
  readonly api: number;
  readonly heapMebibytes?: number | undefined;
  /** More flags, for which the folder of the process is known. */
  readonly flags?: (folder: string) => readonly string[];
}

/** Starts it, with a write budget that is out of the way. */
export const startPodsProcess = async (
  { api, heapMebibytes, flags = () => [] }: PodsProcessOptions,
): Promise<PodsProcess> => {
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-bench-'));
  const file = join(folder, 'kubeconfig');
  await writeFile(file, kubeconfig(api));
  const health = await freePort();
  const child = spawn(NODE, [
    ...(heapMebibytes === undefined ? [] : [`--max-old-space-size=${heapMebibytes}`]),
    MAIN,
    'pods',
    `--kubeconfig=${file}`,
    '--metrics-addr=0',
    `--health-addr=127.0.0.1:${health}`,
    '--lease-namespace=default',
    '--log-level=warn',
    '--qps=100000',
    '--burst=100000',
    ...flags(folder),
  ], { stdio: ['ignore', 'inherit', 'inherit'] });
  return {
    child,
    folder,
    isReady: async () =>
      (await fetch(`http://127.0.0.1:${health}/readyz`).catch(() => undefined))?.status === 200,
    end: async () => {
      endChild(child);
      await rm(folder, { recursive: true, force: true });
    },
  };
};
