/**
 * A file of lines, written in batches.
 *
 * Promises: never blocks on the disk; the amount of buffered data can be queried; a write error is
 * reported at the end.
 */
import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';

/** An open file. */
export interface LineFile {
  /** Adds a line; its line break is added. */
  readonly put: (line: string) => void;
  /** Flushes the buffer to the disk. */
  readonly flush: () => void;
  /** Bytes that are buffered and not on the disk. */
  readonly waitingBytes: () => number;
  /** Resolves when everything is in the file; rejects with the write error. */
  readonly close: () => Promise<void>;
}

const ROOM_BYTES = 256 * 2 ** 10;
/** Free buffers for reuse; one is filled while another is written. */
const SPARE_ROOMS_MAX = 2;
/** A smaller batch is copied: on a slow disk, mostly empty buffers would pile up. */
const HANDED_BYTES_MIN = ROOM_BYTES / 4;
/** The maximum number of bytes per UTF-16 unit. */
const CHARACTER_BYTES_MAX = 3;
const BREAK = '\n';
const BREAK_BYTE = BREAK.charCodeAt(0);

/** Opens a new file; rejects when it cannot be written. */
export const openLineFile = async (file: string): Promise<LineFile> => {
  const stream = createWriteStream(file);
  await once(stream, 'open');
  let failure: Error | undefined;
  stream.on('error', (error) => {
    failure = error;
  });
  // Texts joined before encoding are copied twice.
  let room: Buffer = Buffer.allocUnsafeSlow(ROOM_BYTES);
  let filled = 0;
  // Newly allocated memory costs twice as much as writing it.
  const spare: Buffer[] = [];
  const hand = (bytes: Uint8Array, written = (): void => {}): void => {
    if (bytes.length > 0 && failure === undefined) stream.write(bytes, written);
  };
  const handRoom = (): void => {
    const full = room;
    hand(full.subarray(0, filled), () => {
      if (spare.length < SPARE_ROOMS_MAX) spare.push(full);
    });
    room = spare.pop() ?? Buffer.allocUnsafeSlow(ROOM_BYTES);
  };
  const flush = (): void => {
    if (filled >= HANDED_BYTES_MIN) handRoom();
    else hand(Buffer.from(room.subarray(0, filled)));
    filled = 0;
  };
  return {
    put: (line) => {
      const most = line.length * CHARACTER_BYTES_MAX + 1;
      if (filled + most > ROOM_BYTES) flush();
      if (most > ROOM_BYTES) {
        hand(Buffer.from(line + BREAK));
        return;
      }
      filled += room.write(line, filled);
      room[filled] = BREAK_BYTE;
      filled += 1;
    },
    flush,
    waitingBytes: () => stream.writableLength,
    close: async () => {
      flush();
      stream.end();
      if (failure === undefined) await once(stream, 'close');
      if (failure !== undefined) throw failure;
    },
  };
};
