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
  /** Adds a line; its line break is added. */
  readonly put: (line: string) => void;
  /** Hands what was put to the disk. */
  readonly flush: () => void;
  /** Bytes that were written and are not on the disk. */
  readonly waitingBytes: () => number;
  /** Resolves when everything is in the file; rejects with why it could not be written. */
  readonly close: () => Promise<void>;
}

const ROOM_BYTES = 256 * 2 ** 10;
/** Rooms that wait to be filled again; one is filled while another is written. */
const SPARE_ROOMS_MAX = 2;
/** A room that holds less is copied: on a slow disk, rooms of a few lines would pile up. */
const HANDED_BYTES_MIN = ROOM_BYTES / 4;
/** What a character, as strings count them, takes at most. */
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
  // Texts that are joined before they become bytes are copied twice.
  let room: Buffer = Buffer.allocUnsafeSlow(ROOM_BYTES);
  let filled = 0;
  // Memory that is new each time costs twice what writing it does.
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
