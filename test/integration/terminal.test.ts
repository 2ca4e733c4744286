/**
 * A terminal after every command, and a machine after a demo that was killed: no process and no
 * folder is left, and the scrollback is intact.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { runCluster } from '@tidegate/embedded-kubernetes';
import { expect, onTestFinished, test } from 'vitest';
import { definitions } from '../../src/api/definitions.ts';
import { demoFolder } from '../../src/cli/demo/demo-folder.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { eventually } from '../support/eventually.ts';
import { tidegateCommand } from '../support/processes/program.ts';
import { ALTERNATE_SCREEN, scrollbackHarm, TIDEGATE, typedBy } from '../support/processes/typed.ts';

const { file: PROGRAM, args: ARGS } = tidegateCommand();
const PATIENT_MS = 120_000;

const scratch = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'tidegate-killed-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

/** Processes whose command line names the folder. */
const processesOf = async (folder: string): Promise<readonly string[]> => {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const commands = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  );
  return commands.filter((command) => command.includes(folder));
};

const begun = async (folder: string) => {
  const demo = spawn(PROGRAM, [...ARGS, 'demo'], {
    env: { ...process.env, TMPDIR: folder },
    stdio: 'ignore',
  });
  onTestFinished(() => void demo.kill('SIGKILL'));
  const ended = new Promise<number | null>((resolve) => demo.once('exit', resolve));
  await eventually(async () => (await processesOf(folder)).length > 0, {
    what: 'the operator of the demo',
    timeoutMs: PATIENT_MS,
  });
  return { demo, ended };
};

const gone = (folder: string) =>
  eventually(
    async () => (await processesOf(folder)).length === 0 && (await readdir(folder)).length === 0,
    { what: 'the end of every process and folder', timeoutMs: PATIENT_MS },
  );

test.each(['SIGKILL', 'SIGHUP', 'SIGTERM'] as const)(
  'a demo that ends by %s leaves no process and no folder',
  { timeout: 2 * PATIENT_MS },
  async (signal) => {
    const folder = await scratch();
    const { demo, ended } = await begun(folder);
    demo.kill(signal);
    await ended;
    await gone(folder);
  },
);

test('a demo removes the folders of demos that were killed, and no other', async () => {
  const folder = await scratch();
  const own = await demoFolder(folder);
  const killed = await mkdtemp(join(folder, 'tidegate-demo-999999999-'));
  const running = await mkdtemp(join(folder, `tidegate-demo-${process.ppid}-`));
  const other = await mkdtemp(join(folder, 'tidegate-demolition-1-'));
  const second = await demoFolder(folder);
  const left = (await readdir(folder)).map((name) => join(folder, name));
  expect(left.toSorted()).toEqual([own, running, other, second].toSorted());
  expect(left).not.toContain(killed);
});

/** A cluster with nothing to drain. */
const kubeconfigIn = async (folder: string): Promise<string> => {
  const cluster = await runCluster({
    time: realTime,
    listen: { host: '127.0.0.1', port: 0 },
    seed: 1,
    nodes: 1,
    rate: 1,
    definitions: definitions(),
  });
  onTestFinished(cluster.stop);
  const file = join(folder, 'kubeconfig');
  await writeFile(file, cluster.kubeconfig);
  return file;
};

test('a terminal keeps its scrollback over a demo, and has what happened and the conclusion', {
  timeout: 2 * PATIENT_MS,
}, async () => {
  const folder = await scratch();
  const typed = await typedBy(`${TIDEGATE} demo`, folder);
  expect(scrollbackHarm(typed)).toEqual([]);
  const [before = '', drawn = '', ...more] = typed.split(ALTERNATE_SCREEN.on);
  expect([before, more]).toEqual(['', []]);
  const [picture = '', after = '', ...again] = drawn.split(ALTERNATE_SCREEN.off);
  expect(again).toEqual([]);
  expect(picture).toContain('Tidegate demo');
  expect(after).toMatch(/Pods now: \d+ of \d+ running/);
  await gone(folder);
});

test.each([
  ['drain status -w', 'No node is drained'],
  ['evictions -A -w', 'No eviction is requested'],
])('a terminal keeps its scrollback over %s, and the last table', {
  timeout: PATIENT_MS,
}, async (given, last) => {
  const folder = await scratch();
  const kubeconfig = await kubeconfigIn(folder);
  const command = `${TIDEGATE} ${given} --kubeconfig=${kubeconfig}`;
  const typed = await typedBy(`timeout -s INT 10 ${command}`, folder);
  expect(scrollbackHarm(typed)).toEqual([]);
  expect(typed.startsWith(ALTERNATE_SCREEN.on)).toBe(true);
  expect(typed.split(ALTERNATE_SCREEN.off).at(-1)).toBe(`${last}\r\n`);
});

/** How a person types each command; those that run on are ended as by Ctrl-C. */
const TYPED: Readonly<Record<string, string>> = {
  tidegate: '',
  explain: 'explain node-1',
  drain: 'drain',
  'drain-status': 'drain status -A',
  'drain-plan': 'drain plan node-1',
  'drain-acknowledge': 'drain acknowledge nobody',
  evict: 'evict default/nobody --requester=a.b.example.com',
  evictions: 'evictions -A',
  maintenance: 'maintenance',
  'maintenance-start': 'maintenance start nobody',
  'maintenance-cordon': 'maintenance cordon nobody',
  'maintenance-drain': 'maintenance drain nobody',
  'maintenance-complete': 'maintenance complete nobody',
  'maintenance-status': 'maintenance status nobody',
  'maintenance-list': 'maintenance list',
  'maintenance-plan': 'maintenance plan nobody',
  node: 'node',
  'node-status': 'node status node-1',
  'node-disable': 'node disable nobody --why=test',
  'node-enable': 'node enable nobody',
  'node-confirm-gone': 'node confirm-gone nobody',
  tree: 'tree node-1',
  doctor: 'doctor --shard-addr=127.0.0.1:1',
  demo: 'demo --scenario=nothing',
  charts: 'charts',
  'charts-export': 'charts export leadership',
  'charts-diff': 'charts diff',
  replay: 'replay nothing.jsonl',
  completion: 'completion bash',
  version: 'version',
};
const ENDED: Readonly<Record<string, string>> = {
  cluster: 'cluster --listen=127.0.0.1:0',
  fleet: 'fleet --listen=127.0.0.1:0 --script-listen=0',
  operator: 'operator --cluster-id=c --shard-addr=127.0.0.1:1 --insecure-plaintext ' +
    '--metrics-addr=0 --health-addr=127.0.0.1:0',
  pods: 'pods --metrics-addr=0 --health-addr=127.0.0.1:0',
  'demo that is interrupted': 'demo',
};

test('every command is typed', async () => {
  const recorded = await readdir(new URL('../unit/cli/golden', import.meta.url));
  const commands = recorded.filter((name) => name.endsWith('.txt'))
    .map((name) => name.slice(0, -'.txt'.length));
  const typed = Object.keys({ ...TYPED, ...ENDED });
  expect(commands.filter((command) => !typed.includes(command))).toEqual([]);
});

test.each(Object.entries(TYPED))('a terminal keeps its scrollback over %s', {
  timeout: PATIENT_MS,
}, async (_, given) => {
  const folder = await scratch();
  const kubeconfig = await kubeconfigIn(folder);
  const typed = await typedBy(`KUBECONFIG=${kubeconfig} ${TIDEGATE} ${given}`, folder);
  expect(typed).not.toBe('');
  expect(scrollbackHarm(typed)).toEqual([]);
});

/** Ctrl-C comes after this: a busy machine needs as long to start all of them. */
const INTERRUPTED_AFTER_S = 15;

test('a terminal keeps its scrollback over commands that are interrupted', {
  timeout: PATIENT_MS,
}, async () => {
  // All of them wait at the same time.
  const seen = await Promise.all(
    Object.entries(ENDED).map(async ([name, given]) => {
      const folder = await scratch();
      const kubeconfig = await kubeconfigIn(folder);
      const limited = `timeout -s INT ${INTERRUPTED_AFTER_S} ${TIDEGATE} ${given}`;
      const typed = await typedBy(`KUBECONFIG=${kubeconfig} ${limited}`, folder);
      return { name, isEmpty: typed === '', harm: scrollbackHarm(typed) };
    }),
  );
  expect(seen).toEqual(
    Object.keys(ENDED).map((name) => ({ name, isEmpty: false, harm: [] })),
  );
});

test.each([
  ['\u001b[3J', ['the scrollback is erased', '"\\u001b[3J" outside of it']],
  ['a\u001b[2A', ['"\\u001b[2A" outside of it']],
  [`${ALTERNATE_SCREEN.on}\u001b[H`, ['an alternate screen is not left']],
  [`${ALTERNATE_SCREEN.on}\u001b[?25l${ALTERNATE_SCREEN.off}`, ['the cursor stays hidden']],
  [`\u001b[2mdim${ALTERNATE_SCREEN.on}\u001b[H${ALTERNATE_SCREEN.off}`, []],
])('harm to a scrollback is found in %j', (typed, harm) => {
  expect(scrollbackHarm(typed)).toEqual(harm);
});
