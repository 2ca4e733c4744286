/** Supervised processes: signals reach them, and none outlives its parent. */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { supervise } from '../../../tools/testbed/processes.ts';
import { runCommand } from '../../../tools/testbed/commands.ts';
import { isRunning } from '../../../tools/testbed/locks.ts';
import { eventually } from '../../support/eventually.ts';

const shell = (name: string, script: string, onLine?: (line: string) => void) =>
  supervise({
    name,
    file: 'sh',
    args: ['-c', script],
    ...(onLine === undefined ? {} : { onLine }),
  });

const SUPERVISOR_MODULE = new URL('../../../tools/testbed/processes.ts', import.meta.url).href;

describe('supervise', () => {
  it('gives the exit code and every line, the unfinished last one included', async () => {
    const lines: string[] = [];
    const child = shell('talker', 'echo one; echo two >&2; printf three; exit 7', (line) => {
      lines.push(line);
    });
    expect(await child.exited).toBe(7);
    expect(lines.toSorted()).toEqual(['one', 'three', 'two']);
    expect(child.isRunning()).toBe(false);
  });

  it('gives 127 for a program that does not exist', async () => {
    const child = supervise({ name: 'ghost', file: '/nowhere/ghost', args: [] });
    expect(await child.exited).toBe(127);
  });

  it('appends to a log file when asked to', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tidegate-processes-'));
    const log = join(folder, 'a.log');
    await writeFile(log, 'before\n');
    const args = ['-c', 'echo out; echo err >&2'];
    await supervise({ name: 'logger', file: 'sh', args, log }).exited;
    expect(await readFile(log, 'utf8')).toBe('before\nout\nerr\n');
    await rm(folder, { recursive: true });
  });

  it('forwards signals to the program, which may end in its own way', async () => {
    const lines: string[] = [];
    const script = 'trap "echo bye; exit 3" TERM; echo up; while :; do sleep 0.05; done';
    const child = shell('polite', script, (line) => {
      lines.push(line);
    });
    await eventually(() => lines.includes('up'), { what: 'the program to be up' });
    expect(await child.stop()).toBe(3);
    expect(lines).toEqual(['up', 'bye']);
  });

  it('kills a program that ignores TERM after its grace', async () => {
    const lines: string[] = [];
    const child = shell('deaf', 'trap "" TERM; echo up; while :; do sleep 0.05; done', (line) => {
      lines.push(line);
    });
    await eventually(() => lines.includes('up'), { what: 'the program to be up' });
    expect(await child.stop(100)).toBe(137);
  });

  it('suspends and resumes a program', async () => {
    let beats = 0;
    const child = shell('heart', 'while :; do echo beat; sleep 0.02; done', () => {
      beats += 1;
    });
    await eventually(() => beats > 2, { what: 'a beating heart' });
    child.signal('STOP');
    const pause = await eventually(async () => {
      const before = beats;
      await runCommand('sleep', ['0.2']);
      return beats === before && { before };
    }, { what: 'a stopped heart' });
    child.signal('CONT');
    await eventually(() => beats > pause.before, { what: 'a heart that goes on' });
    await child.stop();
  });

  it('ends the program and its children when the parent is killed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tidegate-processes-'));
    const pids = join(folder, 'pids');
    const program = join(folder, 'parent.ts');
    const script = `sleep 600 & echo $! $$ > ${pids}.part; mv ${pids}.part ${pids}; wait`;
    await writeFile(
      program,
      `import { supervise } from ${JSON.stringify(SUPERVISOR_MODULE)};
supervise({ name: 'orphan', file: 'sh', args: ['-c', ${JSON.stringify(script)}] });
`,
    );
    const isDeno = 'deno' in process.versions;
    const args = [...(isDeno ? ['run', '-A'] : []), program];
    const parent = spawn(process.execPath, args, { stdio: 'ignore' });
    const started = await eventually(async () => {
      const text = await readFile(pids, 'utf8').catch(() => '');
      return text !== '' && text.trim().split(' ').map(Number);
    }, { what: 'the program to be up' });
    expect(started.map(isRunning)).toEqual([true, true]);
    parent.kill('SIGKILL');
    await eventually(() => !started.some(isRunning), { what: 'both to be gone' });
    await rm(folder, { recursive: true });
  });
});
