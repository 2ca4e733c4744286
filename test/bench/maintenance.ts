/**
 * One NodeMaintenance of a thousand Nodes with thirty pods each, fifty at once, under budgets of a
 * tenth: requests for each pod, Events for each Node, and memory.
 *
 * Not measured: a real API server, kubelets and a network; all times are simulated. The memory and
 * the processor time are those of the operator and of the embedded cluster together.
 */
import process from 'node:process';
import {
  maintenanceCrowd,
  type MaintenanceCrowdOptions,
} from '../simulation/node-maintenance-crowd.ts';
import { totalOf } from '../simulation/node-maintenance-requests.ts';
import { collectGarbage, duration, mebibytes, print, printFigure } from './measurement.ts';

/** Requests for each pod, from the first cordon until every node is drained. */
const REQUESTS_MAX = 1.15;
/** For each node. */
const EVENTS_MAX = 3;
/** A node goes back into service by two requests: its cordon leaves, and its conditions do. */
const RETURNS_MAX = 2;
/** Of the memory after the first half of the nodes. */
const GROWTH_MAX = 0.05;
/** How often the memory is read. */
const SAMPLES = 10;

type Crowd = Awaited<ReturnType<typeof maintenanceCrowd>>;

const liveBytes = (): number => {
  collectGarbage();
  return process.memoryUsage().heapUsed;
};

/** Drains every node; the live memory after each tenth of them. */
const drain = async ({ enter, until, is, doneNodes }: Crowd, nodes: number) => {
  const samples: number[] = [];
  enter('Drain');
  await until('every node is drained', () => {
    if (doneNodes() * SAMPLES >= (samples.length + 1) * nodes) samples.push(liveBytes());
    return is('Drained');
  });
  return samples;
};

/** Whether a bound is kept; the run fails otherwise. */
const verdict = (figure: number, most: number): string => {
  if (figure <= most) return `kept: at most ${most}`;
  process.exitCode = 1;
  return `MISSED: at most ${most}`;
};

const printBound = (what: string, figure: number, most: number): void =>
  printFigure(what, figure.toFixed(3), verdict(figure, most));

const printMemory = (samples: readonly number[]): void => {
  for (const [tenth, bytes] of samples.entries()) {
    printFigure(`  live memory after ${(tenth + 1) * SAMPLES} % of the nodes`, mebibytes(bytes));
  }
  const half = samples[SAMPLES / 2 - 1] ?? Number.NaN;
  const last = samples.at(-1) ?? Number.NaN;
  printBound('growth in the second half, as a share', (last - half) / half, GROWTH_MAX);
};

const printRequests = (
  { counts }: Crowd,
  { nodes, pods }: { readonly nodes: number; readonly pods: number },
): void => {
  const kinds = { ...counts.drain(), ...counts.returns() };
  for (const [kind, count] of Object.entries(kinds)) printFigure(`  ${kind}`, String(count));
  for (const [reason, count] of Object.entries(counts.reasons())) {
    printFigure(`  Events ${reason}`, String(count));
  }
  printBound('requests for each pod', totalOf(counts.drain()) / pods, REQUESTS_MAX);
  printBound('further ones for each node', totalOf(counts.returns()) / nodes, RETURNS_MAX);
  printBound('refused requests', totalOf(counts.refused()), 0);
  printBound('Events for each node', totalOf(counts.reasons()) / nodes, EVENTS_MAX);
  printBound('the most about one node', counts.eventsOfNodeMax(), EVENTS_MAX);
  const status = 'patch nodemaintenances/status';
  const writes = counts.drain()[status] ?? 0;
  const kilobytes = Math.round(counts.bytesOf(status) / writes / 1000);
  printFigure('a write of the status, on average', `${kilobytes} kB`);
};

/** Measures and prints; a bound that is missed fails the run. */
export const benchMaintenance = async (options: MaintenanceCrowdOptions): Promise<void> => {
  const { nodes, podsOfNode, atOnce } = options;
  const pods = nodes * podsOfNode;
  print();
  print(`One NodeMaintenance of ${nodes} nodes, ${atOnce} at once, with ${pods} pods`);
  const crowd = await maintenanceCrowd(options);
  const before = process.cpuUsage();
  await crowd.plan();
  printFigure(
    'requests for each node, planned',
    (totalOf(crowd.counts.drain()) / nodes).toFixed(3),
  );
  crowd.counts.reset();
  const startMs = crowd.time.monotonic();
  const samples = await drain(crowd, nodes);
  const { user, system } = process.cpuUsage(before);
  printFigure('simulated time', duration(crowd.time.monotonic() - startMs));
  printFigure('processor time, the embedded cluster included', duration((user + system) / 1000));
  crowd.enter('Complete');
  await crowd.until('it is completed', () => crowd.is('Completed'));
  printRequests(crowd, { nodes, pods });
  printMemory(samples);
  crowd.stop();
};
