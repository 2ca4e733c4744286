/**
 * Drains of ours beside `kubectl drain`, of the same nodes on the same bed in the same run:
 * requests, time and CPU.
 *
 * Counted: every request of the one who drains, except watches and the Lease, which go on without a
 * drain. Not measured: real kubelets (pods take 1 s to go here), a network, and what the
 * controllers and the scheduler do, which share the cores.
 */
import { readdir, readFile } from 'node:fs/promises';
import { realTime } from '../../src/effects/real-time.ts';
import { runCommand } from '../../tools/testbed/commands.ts';
import type { TestbedUser } from '../../tools/testbed/credentials.ts';
import { startTestbed, type Testbed } from '../../tools/testbed/testbed.ts';
import { evictionsIn, requestsBy } from '../support/drains/audited-drains.ts';
import { reclaimEach, untilEnded, untilReadyInCluster } from '../support/drains/reclaims.ts';
import { operatorBy } from '../support/processes/operator-child.ts';
import { spawnTidegate } from '../support/processes/tidegate-child.ts';
import { type Scene, setScene } from './drain-scene.ts';
import { duration, print, printFigure } from './measurement.ts';

/** What the drain of one scene took. */
interface Cost {
  readonly requests: number;
  readonly refused: number;
  readonly ms: number;
  /** Undefined where it is unknown. */
  readonly cpuSeconds: number | undefined;
}

const GRACE_SECONDS = 3600;
const PATIENT_MS = 20 * 60_000;
/** Of `/proc`: a hundred in a second, on every Linux that there is. */
const TICKS_PER_SECOND = 100;
const QUARTER = { maxUnavailable: '25%' };

const SMALL_SCENES: readonly Scene[] = [
  { title: '1 node x 100 pods, no budget', nodes: 1, podsOfNode: 100, workloads: 5 },
  {
    title: '1 node x 100 pods, budgets of 25 %',
    nodes: 1,
    podsOfNode: 100,
    workloads: 5,
    allowance: QUARTER,
  },
  {
    title: '1 node x 20 pods behind one slot, replacements take 3 s',
    nodes: 1,
    podsOfNode: 20,
    workloads: 1,
    allowance: { maxUnavailable: 1 },
    readyAfter: '3s',
  },
  { title: '20 nodes x 30 pods, no budget', nodes: 20, podsOfNode: 30, workloads: 30 },
  {
    title: '20 nodes x 30 pods, budgets of 25 %',
    nodes: 20,
    podsOfNode: 30,
    workloads: 30,
    allowance: QUARTER,
  },
];

const LARGE_SCENES: readonly Scene[] = [
  { title: '100 nodes x 30 pods, no budget', nodes: 100, podsOfNode: 30, workloads: 150 },
  {
    title: '100 nodes x 30 pods, budgets of 25 %',
    nodes: 100,
    podsOfNode: 30,
    workloads: 150,
    allowance: QUARTER,
  },
];

const countOf = async (bed: Testbed, user: TestbedUser, sinceMs: number) => {
  const requests = (await requestsBy(bed, user, sinceMs))
    .filter(({ verb, resource }) => verb !== 'watch' && resource !== 'leases');
  return {
    requests: requests.length,
    refused: evictionsIn(requests).filter(({ code }) => code !== 201).length,
  };
};

/** CPU seconds of the processes whose command line contains this word; Linux only. */
const cpuOf = async (word: string): Promise<number | undefined> => {
  const ids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  let ticks: number | undefined;
  for (const id of ids) {
    const command = await readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '');
    if (!command.includes(word)) continue;
    const stat = await readFile(`/proc/${id}/stat`, 'utf8').catch(() => '');
    // Behind the name, which may have spaces: state is the first field, utime the twelfth.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    ticks = (ticks ?? 0) + Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
  }
  return ticks === undefined ? undefined : ticks / TICKS_PER_SECOND;
};

const drainByTidegate = async (bed: Testbed, scene: Scene, number: number): Promise<Cost> => {
  const { cluster, fleet, machines, close } = await setScene(bed, scene, `ours-${number}-`);
  const identity = `bench-${number}`;
  const operator = await operatorBy(spawnTidegate, {
    bed,
    shardAddress: fleet.address,
    runtime: 'node',
    flags: { 'log-level': 'info', identity },
  });
  try {
    await operator.untilReady();
    await untilReadyInCluster(cluster, machines);
    const startMs = realTime.now();
    const cpuBefore = await cpuOf(identity);
    await reclaimEach(fleet, machines, GRACE_SECONDS);
    await untilEnded(cluster, machines, PATIENT_MS);
    const ms = realTime.now() - startMs;
    const cpuAfter = await cpuOf(identity);
    const cpuSeconds = cpuBefore === undefined || cpuAfter === undefined
      ? undefined
      : cpuAfter - cpuBefore;
    return { ...await countOf(bed, 'tidegate', startMs), ms, cpuSeconds };
  } finally {
    await operator.stop();
    await close();
  }
};

/** Makes a shell print a command's resource usage after it has run. */
const TIMED = 'TIMEFORMAT="cpu %U %S"; time "$@"';

const drainByKubectl = async (bed: Testbed, scene: Scene, number: number): Promise<Cost> => {
  const { machines, close } = await setScene(bed, scene, `kubectl-${number}-`);
  try {
    const startMs = realTime.now();
    const { code, stderr } = await runCommand('bash', [
      '-c',
      TIMED,
      'bash',
      bed.binaries.kubectl,
      `--kubeconfig=${bed.kubeconfigFor('pods')}`,
      'drain',
      ...machines,
      '--ignore-daemonsets',
      '--delete-emptydir-data',
    ]);
    const ms = realTime.now() - startMs;
    if (code !== 0) throw new Error(`kubectl ended with ${code}: ${stderr.slice(-1000)}`);
    const [, user, system] = /cpu (\S+) (\S+)\s*$/.exec(stderr) ?? [];
    const cpuSeconds = user === undefined ? undefined : Number(user) + Number(system);
    return { ...await countOf(bed, 'pods', startMs), ms, cpuSeconds };
  } finally {
    await close();
  }
};

const share = (ours: number, beside: number): string => `${(ours / beside).toFixed(2)} x`;

const printCosts = (scene: Scene, ours: Cost, kubectl: Cost): void => {
  print(`  ${scene.title}`);
  const row = (what: string, value: (cost: Cost) => number, text: (value: number) => string) =>
    printFigure(
      `  ${what}`,
      share(value(ours), value(kubectl)),
      `${text(value(ours))} beside ${text(value(kubectl))}`,
    );
  row('requests', ({ requests }) => requests, String);
  row('time', ({ ms }) => ms, duration);
  row('CPU', ({ cpuSeconds = Number.NaN }) => cpuSeconds * 1000, duration);
  const pods = scene.nodes * scene.podsOfNode;
  printFigure(
    '  requests for each pod',
    (ours.requests / pods).toFixed(2),
    'linear when it stays so',
  );
  printFigure('  refused evictions', String(ours.refused), `beside ${kubectl.refused}`);
};

const benchScenes = async (scenes: readonly Scene[]): Promise<void> => {
  print();
  print('Drains beside kubectl drain, as shares of what kubectl took');
  const bed = await startTestbed({ controllers: true, scheduler: true, kwok: true });
  try {
    for (const [number, scene] of scenes.entries()) {
      const ours = await drainByTidegate(bed, scene, number);
      printCosts(scene, ours, await drainByKubectl(bed, scene, number));
    }
  } finally {
    await bed.stop();
  }
};

/** Up to 600 pods, or up to 3,000 when it is to be `full`. */
export const benchDrains = (full: boolean): Promise<void> =>
  benchScenes(full ? [...SMALL_SCENES, ...LARGE_SCENES] : SMALL_SCENES);
