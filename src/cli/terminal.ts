/**
 * The output of a command: data to stdout, messages to stderr.
 *
 * Promises: writes nowhere else; colour only on a terminal without NO_COLOR.
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
}

const ALMOST_FULL = 'EAGAIN';

/** Writes a whole text, however slowly the reader of a pipe takes it. */
const writeAll = (descriptor: 1 | 2, text: string): void => {
  let rest = Buffer.from(text, 'utf8');
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      // A reader that closed the pipe (`| head`) needs no more: that is not a failure.
      if (code === 'EPIPE') return;
      if (code !== ALMOST_FULL) throw error;
    }
  }
};

/** The terminal of this process. `environment` decides about colour. */
export const processTerminal = (
  environment: Readonly<Record<string, string | undefined>>,
): Terminal => ({
  print: (text) => writeAll(1, text),
  report: (line) => writeAll(2, `${line}\n`),
  interactive: process.stdout.isTTY === true && environment['TERM'] !== 'dumb',
  colors: process.stdout.isTTY === true && !environment['NO_COLOR'] &&
    environment['TERM'] !== 'dumb',
});
