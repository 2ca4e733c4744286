/**
 * Measures the operator's latencies in a drain on a real API server: `npm run measure [-- TRIALS]`.
 * Targets are printed beside the figures. Not measured: a kubelet (kwok simulates it) and a network
 * (everything runs on one machine).
 */
import process from 'node:process';
import { listOrEmptyAt, numberAt, textAt } from '../../src/domain/json.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { duration, median, print, printFigure, printMachine } from '../bench/measurement.ts';
import { untilPodsReady } from '../support/drains/drain-site.ts';
import {
  joinMachines,
  reclaimEach,
  reclaimTogether,
  spareNodes,
  untilEnded,
} from '../support/drains/reclaims.ts';
import { budget, deployment, DRAIN_COLLECTIONS } from '../support/drains/workloads.ts';
import { eventually } from '../support/eventually.ts';
import type { OperatorProcess } from '../support/processes/operator-child.ts';
import {
  emptyToWrittenMs,
  evictionCount,
  firstEvictionMs,
  openToEvictionMs,
  percentile,
} from './drain-latencies.ts';
import { type Crew, crew, type MeasureSite, measureSite } from './measure-site.ts';

const GRACE_SECONDS = 900;
/** Pods behind the tight budget; 200 by default. */
const TRIALS = Number(process.argv[2] ?? 200);
const PATIENT_MS = 600_000;
const CROWD = 3000;
const FRAMES_AT_ONCE = 50;

const printEmptyToWritten = async (
  { bed }: MeasureSite,
  { machines, podsOf }: Crew,
  aim: string,
): Promise<void> => {
  const audit = await bed.audit();
  const figures = machines.map((machine) => emptyToWrittenMs(audit, machine, podsOf(machine)));
  printFigure('last pod gone to Drained written, median', duration(median(figures)), aim);
  printFigure('  the longest of ' + figures.length, duration(Math.max(...figures)), aim);
};

const measureEmpty = async (site: MeasureSite): Promise<void> => {
  print('A quiet cluster, 10 nodes with 20 pods each');
  const empty = await crew(site, { prefix: 'quiet-', machines: 10, pods: 20 });
  await reclaimEach(site.fleet, empty.machines, GRACE_SECONDS);
  await untilEnded(site.cluster, empty.machines, PATIENT_MS);
  await printEmptyToWritten(site, empty, 'aim 0.3 s');
};

/** Frames of machines that have no Node, as fast as they are taken. */
const crowdOfFrames = async ({ fleet }: MeasureSite): Promise<void> => {
  for (let from = 0; from < CROWD; from += FRAMES_AT_ONCE) {
    const some = Array.from({ length: FRAMES_AT_ONCE }, (_, at) => `crowd-${from + at}`);
    await Promise.all(some.map((machineId) =>
      fleet.script('POST', '/frames', {
        cluster: 'test',
        frame: {
          nodeStateUpdate: {
            supersedesKey: `node:${machineId}`,
            machineId,
            state: 'MACHINE_STATE_CONFIGURING',
            resources: { resources: { cpu: '1' } },
          },
        },
      })
    ));
  }
};

const measureFull = async (site: MeasureSite): Promise<void> => {
  print('The write budget used up by frames of 3,000 machines, 3 nodes with 20 pods each');
  const full = await crew(site, { prefix: 'full-', machines: 3, pods: 20, deleteAfter: '6s' });
  const before = evictionCount(await site.bed.audit());
  await reclaimEach(site.fleet, full.machines, GRACE_SECONDS);
  await eventually(async () => evictionCount(await site.bed.audit()) - before >= 60, {
    what: 'every pod to be evicted',
  });
  await crowdOfFrames(site);
  await untilEnded(site.cluster, full.machines, PATIENT_MS);
  await printEmptyToWritten(site, full, 'aim 0.5 s');
};

const measureAcks = async (site: MeasureSite): Promise<void> => {
  print('One instruction for 100 nodes');
  const machines = await joinMachines(site, { count: 100, prefix: 'many-' });
  const sentMs = realTime.now();
  const instructionId = 'measured-together';
  await reclaimTogether(site.fleet, machines, { instructionId, graceSeconds: GRACE_SECONDS });
  const ack = await eventually(async () => {
    const acks = listOrEmptyAt(await site.fleet.script('GET', '/reclaims'), 'acks');
    return acks.find((one) => textAt(one, 'instructionId') === instructionId);
  }, { what: 'the ack' });
  const started = numberAt(ack, 'nodesStarted') ?? 0;
  const ackMs = (numberAt(ack, 'receivedAt') ?? Number.NaN) - sentMs;
  printFigure(`instruction to ack, ${started} nodes started`, duration(ackMs), 'aim 2 s');
  await untilEnded(site.cluster, machines, PATIENT_MS);
};

const timeOf = (operator: OperatorProcess, message: string): number => {
  const line = operator.logs().find((one) => one['message'] === message);
  return Date.parse(textAt(line, 'time') ?? '');
};

/** Kills the operator in the middle of a drain of 100 pods; gives the next. */
const measureRestart = async (
  site: MeasureSite,
  operator: OperatorProcess,
): Promise<OperatorProcess> => {
  print('kill -9 in the middle of a drain of 100 pods');
  await operator.stop();
  const slow = await site.startOperator({ qps: '10', burst: '1' });
  await slow.untilReady();
  const hundred = await crew(site, { prefix: 'killed-', machines: 1, pods: 100 });
  const before = evictionCount(await site.bed.audit());
  await reclaimEach(site.fleet, hundred.machines, GRACE_SECONDS);
  await eventually(async () => evictionCount(await site.bed.audit()) - before >= 20, {
    what: 'some pods to be evicted',
  });
  slow.signal('KILL');
  await slow.exited;
  const next = await site.startOperator();
  await untilEnded(site.cluster, hundred.machines, PATIENT_MS);
  const leadsMs = timeOf(next, 'Became leader');
  const onMs = firstEvictionMs(await site.bed.audit(), leadsMs) - leadsMs;
  printFigure('lease won to the next eviction', duration(onMs), 'aim 1 s');
  return next;
};

const measureOpening = async (site: MeasureSite): Promise<void> => {
  print(`${TRIALS} pods behind a one-slot budget`);
  const machines = await joinMachines(site, { count: 1, prefix: 'tight-' });
  const { deployments, budgets } = DRAIN_COLLECTIONS;
  await site.cluster.create(deployments, [deployment('tight', TRIALS)]);
  await site.cluster.create(budgets, [budget('tight', { maxUnavailable: 1 })]);
  await untilPodsReady(site.cluster, TRIALS);
  await eventually(async () => {
    const all = await site.cluster.list(budgets);
    return all.some((one) => numberAt(one, 'status', 'disruptionsAllowed') === 1);
  }, { what: 'the budget to allow one', timeoutMs: PATIENT_MS });
  await spareNodes(site.cluster, { count: 1 });
  const sinceMs = realTime.now();
  await reclaimEach(site.fleet, machines, GRACE_SECONDS);
  await untilEnded(site.cluster, machines, PATIENT_MS);
  const audit = (await site.bed.audit()).filter(({ receivedMs }) => receivedMs >= sinceMs);
  const figures = openToEvictionMs(audit, 'tight');
  printFigure(`budget opens to eviction, median of ${figures.length}`, duration(median(figures)));
  printFigure('  99 of 100 within', duration(percentile(figures, 0.99)), 'aim 0.1 s');
  printFigure('  evictions for these pods', `${evictionCount(audit)} of ${TRIALS}`);
};

printMachine();
print();
const site = await measureSite();
try {
  const first = await site.startOperator();
  await first.untilReady();
  await measureEmpty(site);
  await measureAcks(site);
  const second = await measureRestart(site, first);
  await measureOpening(site);
  // Measured last: a restarted operator considers the crowd unbound from the cluster.
  await measureFull(site);
  await second.stop();
} finally {
  await site.close();
}
