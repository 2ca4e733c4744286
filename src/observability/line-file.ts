/**
 * A file of lines that grows by batches.
 *
 * Promises: nobody waits for the disk; how much waits for it can be asked; a file that can no
 * longer be written says so at its end.
 */
import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';

/** A file that is open. */
export interface LineFile {
  /** Writes lines, each of which gets its line break. */
  readonly write: (lines: Iterable<string>) => void;
  /** Bytes that were written and are not on the disk. */
  readonly waitingBytes: () => number;
  /** Resolves when everything is in the file; rejects with why it could not be written. */
  readonly close: () => Promise<void>;
}

const ROOM_BYTES = 256 * 2 ** 10;
/** What a character, as strings count them, takes at most. */
const CHARACTER_BYTES_MAX = 3;

/** Opens a new file; rejects when it cannot be written. */
export const openLineFile = async (file: string): Promise<LineFile> => {
  const stream = createWriteStream(file);
  await once(stream, 'open');
  let failure: Error | undefined;
  stream.on('error', (error) => {
    failure = error;
  });
  // Texts that are joined before they become bytes are copied twice.
  const room = Buffer.allocUnsafe(ROOM_BYTES);
  let filled = 0;
  const hand = (bytes: Uint8Array): void => {
    if (bytes.length > 0 && failure === undefined) stream.write(bytes);
  };
  const empty = (): void => {
    hand(Buffer.from(room.subarray(0, filled)));
    filled = 0;
  };
  const put = (line: string): void => {
    const most = line.length * CHARACTER_BYTES_MAX;
    if (filled + most > ROOM_BYTES) empty();
    if (most > ROOM_BYTES) hand(Buffer.from(line));
    else filled += room.write(line, filled);
  };
  return {
    write: (lines) => {
      for (const line of lines) put(`${line}\n`);
      empty();
    },
    waitingBytes: () => stream.writableLength,
    close: async () => {
      stream.end();
      if (failure === undefined) await once(stream, 'close');
      if (failure !== undefined) throw failure;
    },
  };
};
