/**
 * `src/main.ts` as a child process, under either runtime.
 *
 * Promises: its log lines are kept and can be awaited; it ends with this process in all cases.
 */
import { supervise, type Supervised } from '../../../tools/testbed/processes.ts';
import { eventually } from '../eventually.ts';
import { inRepository, type Runtime, tidegateCommand } from './program.ts';

export { type Runtime, thisRuntime } from './program.ts';

/** One line of its log: JSON from the logger, anything else as `{ msg }`. */
export type LogLine = Readonly<Record<string, unknown>>;

export interface ProcessOptions {
  readonly name: string;
  readonly args: readonly string[];
  readonly runtime?: Runtime;
  /** From its source, also where there is a bundle. */
  readonly isSource?: boolean;
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
  const { runtime, isSource, nodeArgs = [], onLog } = options;
  const { file, args } = tidegateCommand({
    ...(runtime === undefined ? {} : { runtime }),
    ...(isSource === undefined ? {} : { isSource }),
  });
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
