/**
 * The operator of an empty cluster as it is installed: the program of the image, with the account
 * of a pod and the settings of the chart's defaults.
 * From its start to its first roll-up, and what it takes at rest.
 *
 * Not measured: a network, and an API server other than the embedded one, which runs with the
 * stand-in fleet on the same cores.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { listOrEmptyAt, parseJson, textAt } from '../../src/domain/json.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { PROGRAM } from '../../tools/package/bundle.ts';
import { writePackage } from '../../tools/package/npm-package.ts';
import { freePort } from '../../tools/testbed/ports.ts';
import { eventually } from '../support/eventually.ts';
import {
  endChild,
  ITS_OWN,
  memoryOf,
  type NodeSettings,
  podNode,
  processorMs,
} from './bench-process.ts';
import { duration, mebibytes, median, print, printFigure } from './measurement.ts';

const NODE = fileURLToPath(new URL('../../node_modules/.bin/node', import.meta.url));
const ACCOUNT_SOURCE = fileURLToPath(new URL('./pod-account.ts', import.meta.url));
/** As in the chart's defaults. */
const LIMIT_MEBIBYTES = 512;
const STARTS = 5;
const SETTLE_MS = 5000;
const REST_MS = 60_000;
const LOOK_MS = 5;

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    realTime.schedule(ms, resolve);
  });

/** What an operator of the bench is started with. */
interface Site {
  readonly program: string;
  /** Loaded before it, in JavaScript: to strip types, Node loads a compiler into the operator. */
  readonly preload: string;
  readonly account: string;
  readonly api: number;
  readonly shard: number;
  readonly script: number;
}

/** Token and authority of the embedded cluster, as a pod has them. */
const writeAccount = async (kubeconfigFile: string, account: string): Promise<void> => {
  const config = parseJson(await readFile(kubeconfigFile, 'utf8'));
  const [user] = listOrEmptyAt(config, 'users');
  const [cluster] = listOrEmptyAt(config, 'clusters');
  const authority = textAt(cluster, 'cluster', 'certificate-authority-data') ?? '';
  await mkdir(account);
  await writeFile(join(account, 'token'), textAt(user, 'user', 'token') ?? '');
  await writeFile(join(account, 'ca.crt'), Buffer.from(authority, 'base64'));
  await writeFile(join(account, 'namespace'), 'default');
};

/** The roll-ups that the fleet received; undefined while it does not answer. */
const rollups = async (script: number): Promise<number | undefined> => {
  const answer = await fetch(`http://127.0.0.1:${script}/rollups`).catch(() => undefined);
  if (answer === undefined) return undefined;
  return listOrEmptyAt(await answer.json(), 'rollups').length;
};

const startSite = async (folder: string, children: ChildProcess[]): Promise<Site> => {
  const program = join(folder, 'package', PROGRAM);
  await writePackage(join(folder, 'package'));
  const site = {
    program,
    preload: join(folder, 'pod-account.mjs'),
    account: join(folder, 'account'),
    api: await freePort(),
    shard: await freePort(),
    script: await freePort(),
  };
  await writeFile(site.preload, stripTypeScriptTypes(await readFile(ACCOUNT_SOURCE, 'utf8')));
  const kubeconfigFile = join(folder, 'kubeconfig');
  const start = (...args: readonly string[]): number =>
    children.push(spawn(NODE, [program, ...args], { stdio: ['ignore', 'ignore', 'inherit'] }));
  start(
    ...['cluster', '--authorization=RBAC', '--nodes=0', `--listen=127.0.0.1:${site.api}`],
    `--write-kubeconfig=${kubeconfigFile}`,
  );
  start(
    ...['fleet', '--seed-machines=0', `--listen=127.0.0.1:${site.shard}`],
    `--script-listen=127.0.0.1:${site.script}`,
  );
  await eventually(() => readFile(kubeconfigFile, 'utf8'), { what: 'the cluster to listen' });
  await eventually(async () => await rollups(site.script) !== undefined, {
    what: 'the fleet to listen',
  });
  await writeAccount(kubeconfigFile, site.account);
  return site;
};

const startOperator = (
  { program, preload, account, api, shard }: Site,
  node: NodeSettings,
): ChildProcess =>
  spawn(NODE, [
    ...node.options,
    `--import=${preload}`,
    ...[program, 'operator', '--cluster-id=idle', `--shard-addr=127.0.0.1:${shard}`],
    ...['--insecure-plaintext', '--metrics-addr=127.0.0.1:0', '--health-addr=127.0.0.1:0'],
    '--log-level=error',
  ], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      ...process.env,
      ...node.env,
      HOME: account,
      KUBECONFIG: '',
      BENCH_ACCOUNT: account,
      KUBERNETES_SERVICE_HOST: '127.0.0.1',
      KUBERNETES_SERVICE_PORT: String(api),
    },
  });

/** Waits for its first roll-up; in milliseconds since its start, and of processor time. */
const firstRollup = async (
  { script }: Site,
  operator: ChildProcess,
  before: number,
): Promise<{ readonly ms: number; readonly processor: number }> => {
  const startMs = realTime.monotonic();
  while ((await rollups(script) ?? 0) <= before) {
    if (operator.exitCode !== null) throw new Error('The operator ended before its first roll-up');
    await pause(LOOK_MS);
  }
  const ms = realTime.monotonic() - startMs;
  return { ms, processor: await processorMs(operator.pid ?? 0) };
};

/** Ends it by its own will, so that the next one need not wait for the Lease. */
const ended = (operator: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    operator.once('exit', () => resolve());
    operator.kill('SIGTERM');
  });

const printStarts = async (site: Site): Promise<void> => {
  const walls: number[] = [];
  const processors: number[] = [];
  for (let turn = 0; turn < STARTS; turn += 1) {
    const before = await rollups(site.script) ?? 0;
    const operator = startOperator(site, podNode(LIMIT_MEBIBYTES));
    const first = await firstRollup(site, operator, before);
    walls.push(first.ms);
    processors.push(first.processor);
    await ended(operator);
  }
  printFigure(`start to first roll-up, median of ${STARTS}`, duration(median(walls)), 'aim 0.5 s');
  printFigure('  processor time until then, all threads', duration(median(processors)));
};

const printRest = async (site: Site, title: string, node: NodeSettings): Promise<void> => {
  const before = await rollups(site.script) ?? 0;
  const operator = startOperator(site, node);
  await firstRollup(site, operator, before);
  await pause(SETTLE_MS);
  const pid = operator.pid ?? 0;
  const startMs = await processorMs(pid);
  await pause(REST_MS);
  const share = (await processorMs(pid) - startMs) / REST_MS * 100;
  const memory = await memoryOf(pid);
  print(`  at rest, ${title}`);
  printFigure('  resident', mebibytes(memory.now), 'aim 100 MB');
  printFigure('  resident at its peak', mebibytes(memory.peak));
  printFigure('  processor time, of one core', `${share.toFixed(2)} %`, 'aim 0.5 %');
  await ended(operator);
};

/** Measures and prints. */
export const benchIdle = async (): Promise<void> => {
  print();
  print('The program of the image in an empty cluster, with the account of a pod');
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-bench-'));
  const children: ChildProcess[] = [];
  try {
    const site = await startSite(folder, children);
    await printStarts(site);
    await printRest(site, 'as in a pod with the defaults of the chart', podNode(LIMIT_MEBIBYTES));
    await printRest(site, 'with the memory managed as Node does it', ITS_OWN);
  } finally {
    children.forEach(endChild);
    await rm(folder, { recursive: true, force: true });
  }
};
