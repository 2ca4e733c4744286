/**
 * One operator with the role evictions in a cluster of very many EvictionRequests: from its start
 * until it leads and has an actor for each open one.
 *
 * Not measured: a busy API server and a network. The API server of the bench makes its objects as
 * it lists them, on the same cores, which makes the start slower than alone.
 */
import { realTime } from '../../src/effects/real-time.ts';
import { pause } from '../support/eventually.ts';
import { memoryOf, processorMs } from './bench-process.ts';
import { duration, mebibytes, print, printFigure } from './measurement.ts';
import {
  type RequestCounts,
  startRequestCluster,
  startRequestsRole,
  untilServing,
} from './requests-process.ts';

/** Figures are measured at rest. */
const REST_MS = 5000;
const HEAPS = [undefined, 1400];

const run = async (counts: RequestCounts, heap: number | undefined): Promise<void> => {
  const cluster = await startRequestCluster(counts);
  const startMs = realTime.monotonic();
  const role = await startRequestsRole(cluster, heap);
  try {
    await untilServing(role, counts.open);
    const ms = realTime.monotonic() - startMs;
    const used = await processorMs(role.pid);
    await pause(REST_MS);
    const [memory, seen] = [await memoryOf(role.pid), await cluster.seen()];
    print(
      `  ${heap === undefined ? 'with a heap of any size' : `with --max-old-space-size=${heap}`}`,
    );
    printFigure('  wall time', duration(ms));
    printFigure('  processor time', duration(used));
    printFigure('  listed', mebibytes(seen.bytes), `in ${seen.pages} pages`);
    printFigure('  writes', String(seen.writes));
    printFigure('  resident', mebibytes(memory.now));
    printFigure('  resident at its peak', mebibytes(memory.peak), 'of 2048 MiB, the aim');
  } finally {
    role.end();
    await cluster.end();
  }
};

/** Measures and prints. */
export const benchRequests = async (requests: number): Promise<void> => {
  for (const open of [requests / 150, requests / 15]) {
    print();
    print(
      `The role evictions, ${requests} EvictionRequests of which ${open} are open, and as many pods`,
    );
    for (const heap of HEAPS) await run({ requests, open, pods: requests }, heap);
  }
};
