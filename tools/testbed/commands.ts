/**
 * Runs a command to its end.
 *
 * Promises: an exit code is an answer, not a failure; only a command that cannot be started
 * rejects.
 */
import { spawn } from 'node:child_process';
import { environmentWith } from './environment.ts';

/** How a command ended and what it printed. */
export interface CommandResult {
  /** The exit code; 128 + n when signal n ended it, 127 when there is no such program. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  readonly cwd?: string;
  /** Written to its stdin, which is then closed. */
  readonly input?: string;
  /** Added to this process's environment; `undefined` takes one away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Ends it when aborted. */
  readonly signal?: AbortSignal;
}

const NOT_FOUND = 127;
const KILLED = 137;

const isMissing = (problem: Error): boolean => 'code' in problem && problem.code === 'ENOENT';

/** Runs `file` with `args` and returns its output. */
export const runCommand = (
  file: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> =>
  new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: environmentWith(options.env),
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.on('error', (problem) => {
      if (!isMissing(problem)) return reject(problem);
      resolve({ code: NOT_FOUND, stdout: '', stderr: `no program "${file}"` });
    });
    child.on('close', (code) =>
      resolve({
        code: code ?? KILLED,
        stdout: Buffer.concat(stdout).toString(),
        stderr: Buffer.concat(stderr).toString(),
      }));
    // A command that ends without reading its input closes the pipe; its exit code shows the
    // failure.
    child.stdin.on('error', () => {});
    child.stdin.end(options.input ?? '');
  });
