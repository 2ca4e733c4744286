/**
 * Child processes that cannot outlive this one.
 *
 * Each child runs under a shell that reads signal names from a pipe which only this process holds.
 * When this process ends, however it ends (SIGKILL included), the pipe closes, and the shell kills
 * its whole process group. Signals use the same pipe: they reach the child alone, never a process
 * that reuses its PID, and independently of Deno, whose `child.kill()` works once.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { realTime } from '../../src/effects/real-time.ts';
import { environmentWith } from './environment.ts';

const SUPERVISOR = `
exec 3<&0 </dev/null
if [ -n "$1" ]; then exec >>"$1" 2>&1; fi
shift
"$@" 3<&- &
child=$!
exec >/dev/null 2>&1
{ while read -r signal <&3; do kill -"$signal" "$child"; done; kill -KILL 0; } &
reader=$!
exec 3<&-
wait "$child"
status=$?
kill "$reader"
exit "$status"
`;

export type SignalName = 'HUP' | 'INT' | 'TERM' | 'KILL' | 'STOP' | 'CONT' | 'USR2';

/** What to run. */
export interface Program {
  /** What messages call it. */
  readonly name: string;
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  /** Added to this process's environment; `undefined` takes one away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Appended with stdout and stderr. Without it both are piped to `onLine`. */
  readonly log?: string;
  readonly onLine?: (line: string, from: 'stdout' | 'stderr') => void;
}

/** A running program. */
export interface Supervised {
  readonly name: string;
  /** Its exit code, or 128 + n when signal n ended it. Never rejects. */
  readonly exited: Promise<number>;
  readonly isRunning: () => boolean;
  readonly signal: (signal: SignalName) => void;
  /** Sends SIGTERM, then SIGKILL after `graceMs`, and returns the exit code. */
  readonly stop: (graceMs?: number) => Promise<number>;
}

const KILLED = 137;
const NOT_STARTED = 127;
/** A busy machine takes longer than a program that answers its last requests first. */
const STOP_GRACE_MS = 60_000;

const eachLine = (
  stream: NodeJS.ReadableStream | null,
  onLine: (line: string) => void,
): void => {
  let rest = '';
  stream?.setEncoding('utf8');
  stream?.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  });
  stream?.on('end', () => {
    if (rest !== '') onLine(rest);
  });
};

const started = (program: Program): ChildProcess =>
  spawn('sh', ['-c', SUPERVISOR, 'supervisor', program.log ?? '', program.file, ...program.args], {
    // Its own group, so that a kill affects no other process.
    detached: true,
    stdio: program.log === undefined ? ['pipe', 'pipe', 'pipe'] : ['pipe', 'ignore', 'ignore'],
    env: environmentWith(program.env),
    ...(program.cwd === undefined ? {} : { cwd: program.cwd }),
  });

/** Starts `program` under supervision. */
export const supervise = (program: Program): Supervised => {
  const shell = started(program);
  let running = true;
  const exited = new Promise<number>((resolve) => {
    const ended = (code: number): void => {
      running = false;
      resolve(code);
    };
    // `close` is emitted after the last line has been read.
    shell.on('close', (code) => ended(code ?? KILLED));
    shell.on('error', () => ended(NOT_STARTED));
  });
  shell.stdin?.on('error', () => {});
  if (program.log === undefined) {
    eachLine(shell.stdout, (line) => program.onLine?.(line, 'stdout'));
    eachLine(shell.stderr, (line) => program.onLine?.(line, 'stderr'));
  }
  const signal = (name: SignalName): void => {
    if (running) shell.stdin?.write(`${name}\n`);
  };
  const stop = async (graceMs = STOP_GRACE_MS): Promise<number> => {
    signal('TERM');
    // A stopped process receives SIGTERM only after SIGCONT.
    signal('CONT');
    const cancel = realTime.schedule(graceMs, () => signal('KILL'));
    const code = await exited;
    cancel();
    return code;
  };
  return { name: program.name, exited, isRunning: () => running, signal, stop };
};
