/**
 * `src/main.ts` as a child process, under either runtime.
 *
 * Promises: its log lines are kept and can be awaited; it ends with this process in all cases.
 */
import { fileURLToPath } from 'node:url';
import { supervise, type Supervised } from '../../../tools/testbed/processes.ts';
import { eventually } from '../eventually.ts';

/** The runtimes that the source must run on. */
export type Runtime = 'node' | 'deno';

/** The runtime that this test runs on. */
export const thisRuntime: Runtime = 'deno' in process.versions ? 'deno' : 'node';

/** One line of its log: JSON from the logger, anything else as `{ msg }`. */
export type LogLine = Readonly<Record<string, unknown>>;

export interface ProcessOptions {
  readonly name: string;
  readonly args: readonly string[];
  readonly runtime?: Runtime;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Options of Node itself, before the program. */
  readonly nodeArgs?: readonly string[];
  /** Called with each line; `logs` then keeps none, for processes that run for hours. */
  readonly onLog?: (line: LogLine) => void;
}

/** A running `tidegate`. */
export interface TidegateProcess extends Supervised {
  /** All its output so far, oldest first. */
  readonly logs: () => readonly LogLine[];
  /** The first line, from `since` on, for which `wanted` holds; waits for it. */
  readonly untilLog: (
    wanted: (line: LogLine) => boolean,
    patience: { readonly what: string; readonly timeoutMs?: number; readonly since?: number },
  ) => Promise<LogLine>;
}

const inRepository = (path: string): string =>
  fileURLToPath(new URL(`../../../${path}`, import.meta.url));

const MAIN = inRepository('src/main.ts');
const COMMANDS: Readonly<Record<Runtime, { file: string; args: readonly string[] }>> = {
  node: { file: inRepository('node_modules/.bin/node'), args: [MAIN] },
  deno: { file: inRepository('node_modules/.bin/deno'), args: ['run', '-A', '-q', MAIN] },
};

const isLogLine = (value: unknown): value is LogLine =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const logLine = (text: string): LogLine => {
  try {
    const value: unknown = JSON.parse(text);
    return isLogLine(value) ? value : { msg: text };
  } catch {
    return { msg: text };
  }
};

/** Something that starts it, and cares for its end. */
export type StartTidegate = (options: ProcessOptions) => TidegateProcess;

/** Starts it; the caller must stop it. */
export const spawnTidegate: StartTidegate = (options) => {
  const { file, args } = COMMANDS[options.runtime ?? thisRuntime];
  const { nodeArgs = [], onLog } = options;
  const lines: LogLine[] = [];
  const child = supervise({
    name: options.name,
    file,
    args: [...nodeArgs, ...args, ...options.args],
    cwd: inRepository('.'),
    onLine: (line) => {
      if (onLog === undefined) lines.push(logLine(line));
      else onLog(logLine(line));
    },
    ...(options.env === undefined ? {} : { env: options.env }),
  });
  return {
    ...child,
    logs: () => lines,
    untilLog: (wanted, { what, timeoutMs, since = 0 }) =>
      eventually(() => lines.slice(since).find(wanted), {
        what: `${options.name} to say ${what}`,
        everyMs: 20,
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
        hopeless: () => child.isRunning() ? undefined : 'it has ended',
      }),
  };
};
