/**
 * The output of a command: data to stdout, messages to stderr.
 *
 * Promises: writes nowhere else; a terminal is redrawn only when it can be. Colours follow
 * NO_COLOR (no-color.org) before FORCE_COLOR before the terminal.
 */
import { writeSync } from 'node:fs';

/** The two outputs of a command. */
export interface Terminal {
  /** Data, unchanged. */
  readonly print: (text: string) => void;
  /** One line for the user. */
  readonly report: (line: string) => void;
  readonly colors: boolean;
  /** stdout is a terminal, so that it may be redrawn. */
  readonly interactive: boolean;
  /** The present size of the terminal; for anything else, a usual one. */
  readonly size: () => TerminalSize;
  /**
   * Resolves when stdout has no reader any more: its pipe is closed, as by `| head`, or its
   * terminal is. Only the next `print` notices it.
   */
  readonly readerGone: Promise<void>;
}

/** The size in characters. */
export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

const ALMOST_FULL = 'EAGAIN';

/** Writes a whole text, however slowly the reader of a pipe takes it; false without a reader. */
const writeAll = (descriptor: 1 | 2, text: string): boolean => {
  let rest = Buffer.from(text, 'utf8');
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      // A reader that closed the pipe (`| head`), or a terminal that was closed, needs no more:
      // that is not a failure.
      if (code === 'EPIPE' || code === 'EIO') return false;
      if (code !== ALMOST_FULL) throw error;
    }
  }
  return true;
};

/** The environment that decides about colours. */
export type TerminalEnvironment = Readonly<Record<string, string | undefined>>;

const USUAL_SIZE: TerminalSize = { columns: 80, rows: 24 };

const isOff = (text: string): boolean => text === '0' || text === 'false';

/** Whether to colour the output. */
export const hasColors = (environment: TerminalEnvironment, isTerminal: boolean): boolean => {
  if (environment['NO_COLOR']) return false;
  const forced = environment['FORCE_COLOR'];
  if (forced !== undefined) return !isOff(forced);
  return isTerminal && environment['TERM'] !== 'dumb';
};

/** A stream that may be a terminal. */
interface OutputStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

const sizeOf = ({ columns = 0, rows = 0 }: OutputStream): TerminalSize => ({
  columns: columns > 0 ? columns : USUAL_SIZE.columns,
  rows: rows > 0 ? rows : USUAL_SIZE.rows,
});

/** The terminal of this process. */
export const processTerminal = (
  environment: TerminalEnvironment,
  stdout: OutputStream = process.stdout,
): Terminal => {
  const { promise: readerGone, resolve: onReaderGone } = Promise.withResolvers<void>();
  return {
    print: (text) => {
      if (!writeAll(1, text)) onReaderGone();
    },
    report: (line) => void writeAll(2, `${line}\n`),
    interactive: stdout.isTTY === true && environment['TERM'] !== 'dumb',
    colors: hasColors(environment, stdout.isTTY === true),
    size: () => stdout.isTTY === true ? sizeOf(stdout) : USUAL_SIZE,
    readerGone,
  };
};
