/**
 * A line of progress on stderr that the next one overwrites.
 *
 * Promises: nothing is written unless stderr is a terminal; at most some lines a second; nothing of
 * it stays.
 */
import process from 'node:process';
import type { Time } from '../../domain/time.ts';

/** The line. */
export interface ProgressLine {
  readonly show: (text: string) => void;
  readonly clear: () => void;
}

const INTERVAL_MS = 100;
const ERASE = '\r\u001b[K';

/** A terminal, or something else. */
interface ErrorStream {
  readonly isTTY?: boolean;
  readonly write: (text: string) => unknown;
}

/** No text yet. */
export const progressLine = (
  time: Pick<Time, 'monotonic'>,
  stream: ErrorStream = process.stderr,
): ProgressLine => {
  let writtenMs = Number.NEGATIVE_INFINITY;
  return {
    show: (text) => {
      const nowMs = time.monotonic();
      if (stream.isTTY !== true || nowMs - writtenMs < INTERVAL_MS) return;
      writtenMs = nowMs;
      stream.write(ERASE + text);
    },
    clear: () => {
      if (Number.isFinite(writtenMs)) stream.write(ERASE);
    },
  };
};
