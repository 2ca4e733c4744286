/**
 * A terminal after a command, and a machine after a demo that was killed: no process and no folder
 * is left, and the scrollback is intact.
 *
 * `script` of util-linux gives a command a real terminal and types out what it writes.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { runCluster } from '@tidegate/embedded-kubernetes';
import { expect, onTestFinished, test } from 'vitest';
import { definitions } from '../../src/api/definitions.ts';
import { demoFolder } from '../../src/cli/demo-folder.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { eventually } from '../support/eventually.ts';
import { tidegateCommand } from '../support/processes/program.ts';

const { file: PROGRAM, args: ARGS } = tidegateCommand();
const PATIENT_MS = 120_000;
const ERASE_SCROLLBACK = '\u001b[3J';
const ALTERNATE_SCREEN = { on: '\u001b[?1049h', off: '\u001b[?1049l' };

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

/** What a command writes to a terminal of its own. */
const typedBy = async (command: string, folder: string): Promise<string> => {
  const child = spawn('script', ['-qec', `stty cols 90 rows 30; ${command}`, '/dev/null'], {
    env: { ...process.env, TMPDIR: folder, TERM: 'xterm-256color' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => void chunks.push(chunk));
  await new Promise((resolve) => child.once('close', resolve));
  return Buffer.concat(chunks).toString('utf8');
};

test('a terminal keeps its scrollback over a demo, and has the story and its moral', {
  timeout: 2 * PATIENT_MS,
}, async () => {
  const folder = await scratch();
  const command = [PROGRAM, ...ARGS, 'demo'].join(' ');
  const typed = await typedBy(command, folder);
  expect(typed).not.toContain(ERASE_SCROLLBACK);
  const [before = '', drawn = '', ...more] = typed.split(ALTERNATE_SCREEN.on);
  expect([before, more]).toEqual(['', []]);
  const [picture = '', after = '', ...again] = drawn.split(ALTERNATE_SCREEN.off);
  expect(again).toEqual([]);
  expect(picture).toContain('Tidegate demo');
  expect(after).toMatch(/Pods now: \d+ of \d+ running/);
  await gone(folder);
});

test('a terminal keeps its scrollback over watched drains, and the last table', {
  timeout: PATIENT_MS,
}, async () => {
  const folder = await scratch();
  const kubeconfig = await kubeconfigIn(folder);
  const command = [PROGRAM, ...ARGS, 'drain', 'status', '-w'].join(' ');
  const typed = await typedBy(`timeout -s INT 10 ${command} --kubeconfig=${kubeconfig}`, folder);
  expect(typed).not.toContain(ERASE_SCROLLBACK);
  expect(typed.startsWith(ALTERNATE_SCREEN.on)).toBe(true);
  expect(typed.split(ALTERNATE_SCREEN.off).at(-1)).toBe('No node is drained\r\n');
});
