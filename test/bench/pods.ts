/**
 * One `tidegate pods` in a cluster of many pods: from its start until every pod has its request,
 * and from a restart until it has observed that every pod has one.
 *
 * Not measured: a busy API server and a network. The bench's API server answers at once and runs on
 * the same cores, which makes the process slower than alone.
 */
import { numberAt, parseJson } from '../../src/domain/json.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { eventually, pause } from '../support/eventually.ts';
import { endChild, memoryOf, processorMs } from './bench-process.ts';
import { duration, mebibytes, print, printFigure, ratio } from './measurement.ts';
import {
  type PodCluster,
  type PodsProcess,
  startPodCluster,
  startPodsProcess,
} from './pods-process.ts';

/** Longer than this is a failure. */
const PATIENCE_MS = 600_000;
/** Figures are measured at rest. */
const REST_MS = 5_000;
const MEGABYTE = 1e6;
const AIM_MEGABYTES = 600;

const writesAt = async (port: number): Promise<number> => {
  const seen = parseJson(await (await fetch(`http://127.0.0.1:${port}/seen`)).text());
  return ['created', 'stamped', 'other'].reduce(
    (sum, kind) => sum + (numberAt(seen, kind) ?? 0),
    0,
  );
};

interface Run {
  readonly ms: number;
  readonly processorMs: number;
  readonly memory: { readonly now: number; readonly peak: number };
  readonly writes: number;
}

const isReady = (role: PodsProcess): Promise<boolean> => role.isReady();

/** One process from its start until `isDone`. */
const run = async (
  { port, child: server }: PodCluster,
  heapMebibytes: number | undefined,
  isDone: (role: PodsProcess) => boolean | Promise<boolean>,
): Promise<Run> => {
  const before = await writesAt(port);
  const startMs = realTime.monotonic();
  const role = await startPodsProcess({ api: port, heapMebibytes });
  const { child } = role;
  try {
    await eventually(() => isDone(role), {
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
    await role.end();
  }
};

const printRun = (what: string, { ms, processorMs: used, memory, writes }: Run): void => {
  print(`  ${what}`);
  printFigure('  wall time', duration(ms));
  printFigure('  processor time', duration(used));
  printFigure('  writes', String(writes));
  printFigure('  resident', mebibytes(memory.now), `${Math.round(memory.now / MEGABYTE)} MB`);
  printFigure(
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
  print();
  print(`One controller, ${pods} pods of 2000 workloads`);
  const nobody = await startPodCluster(0);
  const empty = await run(nobody, undefined, isReady);
  endChild(nobody.child);
  printRun('in an empty cluster', empty);
  for (const { heap, title } of HEAPS) {
    const cluster = await startPodCluster(pods);
    try {
      print(`  ${title}`);
      printRun(
        'from no request to one for each pod',
        await run(cluster, heap, () => cluster.completions() > 0),
      );
      const again = await run(cluster, heap, isReady);
      printRun('where every pod has its request', again);
      printFigure('  wall time beside an empty cluster', ratio(again.ms, empty.ms));
    } finally {
      endChild(cluster.child);
    }
  }
};
