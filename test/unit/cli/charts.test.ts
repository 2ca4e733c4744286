/** `tidegate charts`, in one process, in a temporary repository. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMachine } from 'xstate';
import { runChartsDiff, runChartsExport } from '../../../src/cli/charts/charts.ts';
import { EXIT } from '../../../src/cli/exit-codes.ts';
import { PLAIN_TERMINAL } from '../../support/terminal/plain-terminal.ts';

const lamp = createMachine({
  id: 'lamp',
  initial: 'off',
  states: { off: { on: { 'switch.pressed': 'on' } }, on: {} },
});
const brighter = createMachine({
  id: 'lamp',
  initial: 'off',
  states: { off: { on: { 'switch.pressed': 'on' } }, on: {}, dim: {} },
});
const bell = createMachine({ id: 'bell', initial: 'silent', states: { silent: {} } });

const listening = () => {
  const output = { stdout: '', stderr: '' };
  return {
    output,
    terminal: {
      print: (text: string) => void (output.stdout += text),
      report: (line: string) => void (output.stderr += `${line}\n`),
      ...PLAIN_TERMINAL,
    },
  };
};

const everything = { machines: [], out: undefined, format: undefined };

describe('charts export', () => {
  test('prints one machine in the requested format', async () => {
    const { output, terminal } = listening();
    const request = { machines: ['lamp'], out: undefined, format: 'mermaid' };
    expect(await runChartsExport(request, { lamp, bell }, terminal)).toBe(EXIT.ok);
    expect(output.stdout.split('\n')[0]).toBe('stateDiagram-v2');
    expect(output.stderr).toBe('');
  });

  test('writes all machines in all formats into a folder', async () => {
    const out = mkdtempSync(join(tmpdir(), 'charts-'));
    const { terminal } = listening();
    expect(await runChartsExport({ ...everything, out }, { lamp, bell }, terminal)).toBe(EXIT.ok);
    expect(readdirSync(out).toSorted()).toEqual([
      'bell.json',
      'bell.mmd',
      'bell.svg',
      'lamp.json',
      'lamp.mmd',
      'lamp.svg',
    ]);
    rmSync(out, { recursive: true });
  });

  test.each([
    [{ ...everything, machines: ['lmap'] }, 'Cannot use machine "lmap": unknown value'],
    [{ ...everything, machines: ['lamp'], format: 'png' }, 'Cannot use --format "png"'],
    [everything, 'Cannot print several charts: name one machine, or add --out=DIR'],
  ])('refuses %o with one line', async (request, sentence) => {
    const { output, terminal } = listening();
    expect(await runChartsExport(request, { lamp, bell }, terminal)).toBe(EXIT.usage);
    expect(output.stderr).toContain(sentence);
    expect(output.stderr.trimEnd()).not.toContain('\n');
    expect(output.stdout).toBe('');
  });
});

describe('charts diff', () => {
  const before = process.cwd();
  const repository = mkdtempSync(join(tmpdir(), 'charts-repository-'));
  const git = (...args: readonly string[]): void => {
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
      cwd: repository,
    });
  };
  beforeAll(async () => {
    git('init', '-q');
    git('commit', '-q', '--allow-empty', '-m', 'nothing');
    git('tag', 'empty');
    mkdirSync(join(repository, 'docs/lifecycles'), { recursive: true });
    const { output, terminal } = listening();
    await runChartsExport({ ...everything, format: 'json' }, { lamp }, terminal);
    writeFileSync(join(repository, 'docs/lifecycles/lamp.json'), output.stdout);
    git('add', '.');
    git('commit', '-q', '-m', 'lamp');
    process.chdir(repository);
  });
  afterAll(() => {
    process.chdir(before);
    rmSync(repository, { recursive: true });
  });

  const ask = { revision: 'HEAD', machines: [], out: undefined };

  test('prints the changes of each lifecycle, and draws them', async () => {
    const { output, terminal } = listening();
    const out = join(repository, 'pictures');
    const machines = { lamp: brighter, bell };
    expect(await runChartsDiff({ ...ask, out }, machines, terminal)).toBe(EXIT.ok);
    expect(output.stdout).toBe(`lamp
  + state dim
bell
  + state the machine
  + state silent
`);
    expect(readdirSync(out)).toEqual(['bell.diff.svg', 'lamp.diff.svg']);
    expect(readFileSync(join(out, 'lamp.diff.svg'), 'utf8')).toContain('class="state final added"');
  });

  test('reports when nothing has changed', async () => {
    const { output, terminal } = listening();
    expect(await runChartsDiff(ask, { lamp }, terminal)).toBe(EXIT.ok);
    expect(output).toEqual({ stdout: '', stderr: 'No lifecycle has changed since HEAD\n' });
  });

  test.each([
    ['nowhere', 'Cannot find revision "nowhere"'],
    ['empty', 'Cannot compare with "empty": it has no charts in docs/lifecycles'],
    ['--help', 'Cannot find revision "--help"'],
  ])('refuses revision %s with one line', async (revision, sentence) => {
    const { output, terminal } = listening();
    expect(await runChartsDiff({ ...ask, revision }, { lamp }, terminal)).toBe(EXIT.notMet);
    expect(output.stderr).toContain(sentence);
    expect(output.stdout).toBe('');
  });
});
