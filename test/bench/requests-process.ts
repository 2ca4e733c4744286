/** An operator with the role evictions in a cluster of very many EvictionRequests. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../tools/testbed/ports.ts';
import { eventually } from '../support/eventually.ts';
import { metricValue } from '../support/processes/metric-texts.ts';
import { endChild, kubeconfig } from './bench-process.ts';
import type { RequestsSeen } from './request-cluster.ts';

const NODE = fileURLToPath(new URL('../../node_modules/.bin/node', import.meta.url));
const CLUSTER = fileURLToPath(new URL('./request-cluster.ts', import.meta.url));
const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
/** Longer than this is a failure. */
const PATIENCE_MS = 600_000;

/** How many objects there are. */
export interface RequestCounts {
  readonly requests: number;
  /** Requests with an active interceptor, and a pod; the others are final. */
  readonly open: number;
  /** Pods that nobody asked to leave. */
  readonly pods: number;
}

/** A cluster of its own process. */
export interface RequestCluster {
  /** What it was asked so far. */
  readonly seen: () => Promise<RequestsSeen>;
  readonly kubeconfig: string;
  readonly end: () => Promise<void>;
}

/** Starts it; the caller ends it. */
export const startRequestCluster = async (
  { requests, open, pods }: RequestCounts,
): Promise<RequestCluster> => {
  const args = [CLUSTER, ...[requests, open, pods].map(String)];
  const child = spawn(NODE, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const port = await new Promise<number>((resolve) =>
    createInterface({ input: child.stdout }).once('line', (line) => resolve(Number(line)))
  );
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-bench-'));
  const file = join(folder, 'kubeconfig');
  await writeFile(file, kubeconfig(port));
  return {
    kubeconfig: file,
    seen: async () => JSON.parse(await (await fetch(`http://127.0.0.1:${port}/seen`)).text()),
    end: async () => {
      endChild(child);
      await rm(folder, { recursive: true, force: true });
    },
  };
};

/** An operator of its own process. */
export interface RequestsRole {
  readonly pid: number;
  /** The sum over all series of a metric whose labels include these; 0 before it is served. */
  readonly metric: (name: string, labels?: Readonly<Record<string, string>>) => Promise<number>;
  readonly hasEnded: () => boolean;
  readonly end: () => void;
}

/** Starts an operator that serves the requests of a cluster, with a heap of this size. */
export const startRequestsRole = async (
  { kubeconfig: file }: Pick<RequestCluster, 'kubeconfig'>,
  heapMebibytes: number | undefined,
): Promise<RequestsRole> => {
  const metrics = `127.0.0.1:${await freePort()}`;
  const child = spawn(NODE, [
    ...(heapMebibytes === undefined ? [] : [`--max-old-space-size=${heapMebibytes}`]),
    MAIN,
    'operator',
    '--roles=evictions',
    `--kubeconfig=${file}`,
    `--metrics-addr=${metrics}`,
    '--health-addr=0',
    '--lease-namespace=default',
    '--log-level=warn',
  ], { stdio: ['ignore', 'inherit', 'inherit'] });
  return {
    pid: child.pid ?? 0,
    metric: async (name, labels = {}) => {
      const answer = await fetch(`http://${metrics}/metrics`).catch(() => undefined);
      return answer === undefined ? 0 : metricValue(await answer.text(), name, labels);
    },
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    end: () => endChild(child),
  };
};

/** Waits until it leads and has an actor for each open request. */
export const untilServing = async (role: RequestsRole, open: number): Promise<void> => {
  await eventually(async () => await role.metric('tidegate_eviction_requests') === open, {
    what: 'an actor for each open request',
    timeoutMs: PATIENCE_MS,
    everyMs: 250,
    hopeless: () => role.hasEnded() ? 'the operator has ended' : undefined,
  });
};
