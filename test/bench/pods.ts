/**
 * One `tidegate pods` in a cluster of many pods: from its start until every pod has its request,
 * and from its start until it knows that every pod has it already.
 *
 * Not measured: a busy API server and a network. The API server of the bench answers at once and
 * runs on the same cores, which makes the clock slower than it is alone.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { numberAt, parseJson } from '../../src/domain/json.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { freePort } from '../../tools/testbed/ports.ts';
import { eventually, pause } from '../support/eventually.ts';
import { endChild, kubeconfig, memoryOf, processorMs } from './bench-process.ts';
import { duration, mebibytes, ratio, say, sayFigure } from './measurement.ts';
import type { PodClusterEvent } from './pod-cluster.ts';

const NODE = fileURLToPath(new URL('../../node_modules/.bin/node', import.meta.url));
const CLUSTER = fileURLToPath(new URL('./pod-cluster.ts', import.meta.url));
const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
/** Longer than this is a failure. */
const PATIENCE_MS = 600_000;
/** What is measured is measured at rest. */
const REST_MS = 5_000;
const MEGABYTE = 1e6;
const AIM_MEGABYTES = 600;

interface PodCluster {
  readonly child: ChildProcess;
  readonly port: number;
  readonly isComplete: () => boolean;
}

const startCluster = async (pods: number): Promise<PodCluster> => {
  const child = spawn(NODE, [CLUSTER, String(pods)], { stdio: ['pipe', 'pipe', 'inherit'] });
  const told: PodClusterEvent[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    told.push(JSON.parse(line));
  });
  const listening = await eventually(() => told.find(({ event }) => event === 'listening'), {
    what: 'the cluster to listen',
  });
  return {
    child,
    port: listening.event === 'listening' ? listening.api : 0,
    isComplete: () => told.some(({ event }) => event === 'complete'),
  };
};

const writesAt = async (port: number): Promise<number> => {
  const seen = parseJson(await (await fetch(`http://127.0.0.1:${port}/seen`)).text());
  return ['created', 'stamped', 'other'].reduce(
    (sum, kind) => sum + (numberAt(seen, kind) ?? 0),
    0,
  );
};

const probe = async (port: number): Promise<boolean> =>
  (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.status === 200;

interface Run {
  readonly ms: number;
  readonly processorMs: number;
  readonly memory: { readonly now: number; readonly peak: number };
  readonly writes: number;
}

/** One process from its start until `isDone`, which is asked with the port of its probes. */
const run = async (
  { port, child: server }: PodCluster,
  heapMebibytes: number | undefined,
  isDone: (healthPort: number) => boolean | Promise<boolean>,
): Promise<Run> => {
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-bench-'));
  const file = join(folder, 'kubeconfig');
  await writeFile(file, kubeconfig(port));
  const health = await freePort();
  const before = await writesAt(port);
  const startMs = realTime.monotonic();
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
  ], { stdio: ['ignore', 'inherit', 'inherit'] });
  try {
    await eventually(() => isDone(health), {
      what: 'the requests of all pods',
      timeoutMs: PATIENCE_MS,
      everyMs: 50,
      hopeless: () =>
        child.exitCode !== null || server.exitCode !== null ? 'a process has ended' : undefined,
    });
    const ms = realTime.monotonic() - startMs;
    const used = await processorMs(child.pid ?? 0);
    await pause(REST_MS);
    const memory = await memoryOf(child.pid ?? 0);
    return { ms, processorMs: used, memory, writes: await writesAt(port) - before };
  } finally {
    endChild(child);
    await rm(folder, { recursive: true, force: true });
  }
};

const sayRun = (what: string, { ms, processorMs: used, memory, writes }: Run): void => {
  say(`  ${what}`);
  sayFigure('  wall time', duration(ms));
  sayFigure('  processor time', duration(used));
  sayFigure('  writes', String(writes));
  sayFigure('  resident', mebibytes(memory.now), `${Math.round(memory.now / MEGABYTE)} MB`);
  sayFigure(
    '  resident at its peak',
    mebibytes(memory.peak),
    `${Math.round(memory.peak / MEGABYTE)} of ${AIM_MEGABYTES} MB, the aim`,
  );
};

const HEAPS = [
  { heap: undefined, title: 'with a heap of any size' },
  { heap: 384, title: 'with --max-old-space-size=384' },
] as const;

/** Measures and prints. */
export const benchPods = async (pods: number): Promise<void> => {
  say();
  say(`One controller, ${pods} pods of 2000 workloads`);
  const nobody = await startCluster(0);
  const empty = await run(nobody, undefined, probe);
  endChild(nobody.child);
  sayRun('in an empty cluster', empty);
  for (const { heap, title } of HEAPS) {
    const cluster = await startCluster(pods);
    try {
      say(`  ${title}`);
      sayRun('from no request to one for each pod', await run(cluster, heap, cluster.isComplete));
      const again = await run(cluster, heap, probe);
      sayRun('where every pod has its request', again);
      sayFigure('  wall time beside an empty cluster', ratio(again.ms, empty.ms));
    } finally {
      endChild(cluster.child);
    }
  }
};
