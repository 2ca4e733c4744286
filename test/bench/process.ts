/**
 * One operator process with 100,000 machines and 100,000 CapacityRequests: from its start to its
 * first roll-up, and its memory once synced.
 *
 * Not measured: a busy API server and a network. The cluster and the shard run on the same cores,
 * which makes the start slower than alone.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { realTime } from '../../src/effects/real-time.ts';
import { freePort } from '../../tools/testbed/ports.ts';
import { metricValue } from '../support/processes/metric-texts.ts';
import {
  endChild,
  ITS_OWN,
  kubeconfig,
  memoryOf,
  type NodeSettings,
  podNode,
  processorMs,
} from './bench-process.ts';
import type { ClusterOutput } from './large-cluster.ts';
import { duration, mebibytes, print, printFigure, ratio } from './measurement.ts';

const NODE = fileURLToPath(new URL('../../node_modules/.bin/node', import.meta.url));
const CLUSTER = fileURLToPath(new URL('./large-cluster.ts', import.meta.url));
const OPERATOR = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
/** Longer than this is a failure. */
const PATIENCE_MS = 180_000;
const LOOK_MS = 500;
/** Figures are measured at rest. */
const REST_MS = 5_000;

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    realTime.schedule(ms, resolve);
  });

/** The cluster and the shard; `until` returns the first event of a kind and its time. */
const startCluster = (machines: number, requests: number) => {
  const child = spawn(NODE, [CLUSTER, String(machines), String(requests)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const emitted: { readonly event: ClusterOutput; readonly atMs: number }[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    emitted.push({ event: JSON.parse(line), atMs: realTime.monotonic() });
  });
  const count = (kind: ClusterOutput['event']): number =>
    emitted.filter(({ event }) => event.event === kind).length;
  const until = async (kind: ClusterOutput['event'], alive: () => boolean) => {
    for (const startMs = realTime.monotonic(); realTime.monotonic() - startMs < PATIENCE_MS;) {
      const found = emitted.find(({ event }) => event.event === kind);
      if (found !== undefined) return found;
      if (!alive()) throw new Error(`The operator ended before "${kind}"`);
      await pause(LOOK_MS / 10);
    }
    throw new Error(`No "${kind}" within ${duration(PATIENCE_MS)}`);
  };
  return { child, until, count };
};

const LIMIT_MEBIBYTES = 1024;

const startOperator = (
  ports: { readonly metrics: number; readonly health: number; readonly shard: number },
  kubeconfigFile: string,
  node: NodeSettings,
): ChildProcess =>
  spawn(NODE, [
    ...node.options,
    OPERATOR,
    'operator',
    '--cluster-id=bench',
    `--shard-addr=127.0.0.1:${ports.shard}`,
    '--insecure-plaintext',
    `--kubeconfig=${kubeconfigFile}`,
    `--metrics-addr=127.0.0.1:${ports.metrics}`,
    `--health-addr=127.0.0.1:${ports.health}`,
    '--lease-namespace=default',
    '--log-level=warn',
  ], { stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, ...node.env } });

const machinesKnown = async (port: number): Promise<number> => {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`).catch(() => undefined);
  return answer === undefined ? 0 : metricValue(await answer.text(), 'tidegate_machines', {});
};

interface ProcessFigures {
  readonly firstRollupMs: number;
  readonly firstRollupProcessorMs: number;
  readonly memory: { readonly now: number; readonly peak: number };
  readonly known: number;
  readonly written: number;
}

const measured = async (
  machines: number,
  requests: number,
  node: NodeSettings,
): Promise<ProcessFigures> => {
  const cluster = startCluster(machines, requests);
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-bench-'));
  let operator: ChildProcess | undefined;
  try {
    const { event } = await cluster.until('listening', () => true);
    if (event.event !== 'listening') throw new Error('The cluster is not listening');
    const file = join(folder, 'kubeconfig');
    await writeFile(file, kubeconfig(event.api));
    const ports = { metrics: await freePort(), health: await freePort(), shard: event.shard };
    const startMs = realTime.monotonic();
    const running = startOperator(ports, file, node);
    operator = running;
    const alive = (): boolean => running.exitCode === null && running.signalCode === null;
    const { atMs } = await cluster.until('rollup', alive);
    const firstRollupProcessorMs = await processorMs(running.pid ?? 0);
    await cluster.until('replayed', alive);
    await pause(REST_MS);
    return {
      firstRollupMs: atMs - startMs,
      firstRollupProcessorMs,
      memory: await memoryOf(running.pid ?? 0),
      known: await machinesKnown(ports.metrics),
      written: cluster.count('written'),
    };
  } finally {
    if (operator !== undefined) endChild(operator);
    endChild(cluster.child);
    await rm(folder, { recursive: true, force: true });
  }
};

const GIBIBYTE = 2 ** 30;

const printSize = (figures: ProcessFigures, empty: ProcessFigures, machines: number): void => {
  const { now, peak } = figures.memory;
  const more = now - empty.memory.now;
  printFigure('  start to first roll-up', duration(figures.firstRollupMs), 'aim 10 s');
  printFigure('  beside an empty cluster', ratio(figures.firstRollupMs, empty.firstRollupMs));
  printFigure('  processor time until then', duration(figures.firstRollupProcessorMs));
  printFigure('  resident', mebibytes(now), `${(now / GIBIBYTE).toFixed(2)} of 1 GiB, the aim`);
  printFigure('  resident at its peak', mebibytes(peak));
  printFigure('  beside an empty cluster', ratio(now, empty.memory.now));
  printFigure('  more for each machine and request', `${Math.round(more / machines)} B`);
  printFigure('  machines known', String(figures.known));
  printFigure('  writes, where every object is right', String(figures.written));
};

/** Measures and prints. */
export const benchProcess = async (machines: number, requests: number): Promise<void> => {
  print();
  print(`One process, ${machines} machines and ${requests} CapacityRequests`);
  const empty = await measured(0, 0, ITS_OWN);
  print('  in an empty cluster');
  printFigure('  start to first roll-up', duration(empty.firstRollupMs));
  printFigure('  resident', mebibytes(empty.memory.now));
  const settings = { 'as Node does it': ITS_OWN, 'as in a pod of 1 GiB': podNode(LIMIT_MEBIBYTES) };
  for (const [title, node] of Object.entries(settings)) {
    const figures = await measured(machines, requests, node);
    print(`  with the memory managed ${title}`);
    printSize(figures, empty, machines);
  }
};
