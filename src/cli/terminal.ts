/**
 * Where a command writes: data to stdout, talk to stderr.
 *
 * Promises: nothing is written anywhere else; colour only where a person looks and did not ask for
 * none (NO_COLOR).
 */
import { writeSync } from 'node:fs';

/** The two outputs of a command. */
export interface Terminal {
  /** Data, as it is. */
  readonly print: (text: string) => void;
  /** One line for the person who started the command. */
  readonly report: (line: string) => void;
  readonly colors: boolean;
  /** A person looks at stdout, so that it may be drawn over. */
  readonly interactive: boolean;
}

const ALMOST_FULL = 'EAGAIN';

/** Writes all of a text, however slowly the reader of a pipe takes it. */
const writeAll = (descriptor: 1 | 2, text: string): void => {
  let rest = Buffer.from(text, 'utf8');
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      // A reader that left (`| head`) wants no more: that is no failure of ours.
      if (code === 'EPIPE') return;
      if (code !== ALMOST_FULL) throw error;
    }
  }
};

/** The terminal of this process. `environment` says whether colour is wanted. */
export const processTerminal = (
  environment: Readonly<Record<string, string | undefined>>,
): Terminal => ({
  print: (text) => writeAll(1, text),
  report: (line) => writeAll(2, `${line}\n`),
  interactive: process.stdout.isTTY === true && environment['TERM'] !== 'dumb',
  colors: process.stdout.isTTY === true && !environment['NO_COLOR'] &&
    environment['TERM'] !== 'dumb',
});
