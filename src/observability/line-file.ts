/**
 * A file of lines, written in batches.
 *
 * Promises: never blocks on the disk; the amount of buffered data can be queried; a write error is
 * reported at once and ends only the file; only the owner can read it; a previous file is renamed,
 * never truncated, and so is one that grows too large.
 */
import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { rotateFile } from './file-rotation.ts';

/** An open file. */
export interface LineFile {
  /** Adds a line; its line break is added. */
  readonly put: (line: string) => void;
  /** Flushes the buffer to the disk. */
  readonly flush: () => void;
  /** Bytes that are buffered and not on the disk. */
  readonly waitingBytes: () => number;
  /** Resolves when everything is in the file, or a write has failed. */
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

/** What happens to the file in time. */
export interface LineFileOptions {
  /** Called once, with the first write error; nothing is written after it. */
  readonly onFailure: (failure: Error) => void;
  /** A larger file is rotated. */
  readonly bytesMax?: number;
  /** The first line of a file after a rotation. */
  readonly firstLine?: () => string;
}

/** Only the owner may read it: events name objects of all tenants. */
const MODE = 0o600;
const FILE_BYTES_MAX = 256 * 2 ** 20;

/** The streams of one file name: the current one, and those that end after a rotation. */
class RotatedStream {
  readonly #file: string;
  readonly #options: LineFileOptions;
  readonly #ended = new Set<Promise<unknown>>();
  #stream: WriteStream;
  #bytes = 0;
  /** While the file gets its new name. */
  #rotating: Promise<void> | undefined;
  #hasFailed = false;

  constructor(file: string, options: LineFileOptions) {
    this.#file = file;
    this.#options = options;
    this.#stream = this.#open();
  }

  get opened(): Promise<unknown> {
    return once(this.#stream, 'open');
  }

  get waitingBytes(): number {
    return this.#stream.writableLength;
  }

  write(bytes: Uint8Array, written?: () => void): void {
    if (bytes.length === 0 || this.#hasFailed) return;
    this.#bytes += bytes.length;
    this.#stream.write(bytes, written);
    if (this.#bytes > (this.#options.bytesMax ?? FILE_BYTES_MAX)) this.#rotating ??= this.#rotate();
  }

  async close(): Promise<void> {
    await this.#rotating;
    this.#end();
    await Promise.all(this.#ended);
  }

  #open(): WriteStream {
    const stream = createWriteStream(this.#file, { flags: 'a', mode: MODE });
    stream.on('error', (failure) => this.#fail(failure));
    return stream;
  }

  #fail(failure: Error): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#options.onFailure(failure);
  }

  #end(): void {
    const stream = this.#stream;
    const closed = new Promise<void>((resolve) => {
      if (stream.closed) resolve();
      stream.once('close', () => resolve());
    });
    this.#ended.add(closed);
    void closed.then(() => this.#ended.delete(closed));
    stream.end();
  }

  /** The current stream takes lines until its file has its new name. */
  async #rotate(): Promise<void> {
    try {
      await rotateFile(this.#file);
      this.#end();
      this.#stream = this.#open();
      this.#bytes = 0;
      const first = this.#options.firstLine?.();
      if (first !== undefined) this.#stream.write(first + BREAK);
    } catch (cause) {
      this.#fail(cause instanceof Error ? cause : new Error(String(cause)));
    }
    this.#rotating = undefined;
  }
}

/** Opens a new file and keeps the previous one; rejects when it cannot be written. */
export const openLineFile = async (file: string, options: LineFileOptions): Promise<LineFile> => {
  await rotateFile(file);
  let isOpen = false;
  const stream = new RotatedStream(file, {
    ...options,
    // Until then `opened` rejects.
    onFailure: (failure) => isOpen && options.onFailure(failure),
  });
  await stream.opened;
  isOpen = true;
  // Texts joined before encoding are copied twice.
  let room: Buffer = Buffer.allocUnsafeSlow(ROOM_BYTES);
  let filled = 0;
  // Newly allocated memory costs twice as much as writing it.
  const spare: Buffer[] = [];
  const handRoom = (): void => {
    const full = room;
    stream.write(full.subarray(0, filled), () => {
      if (spare.length < SPARE_ROOMS_MAX) spare.push(full);
    });
    room = spare.pop() ?? Buffer.allocUnsafeSlow(ROOM_BYTES);
  };
  const flush = (): void => {
    if (filled >= HANDED_BYTES_MIN) handRoom();
    else stream.write(Buffer.from(room.subarray(0, filled)));
    filled = 0;
  };
  return {
    put: (line) => {
      const most = line.length * CHARACTER_BYTES_MAX + 1;
      if (filled + most > ROOM_BYTES) flush();
      if (most > ROOM_BYTES) {
        stream.write(Buffer.from(line + BREAK));
        return;
      }
      filled += room.write(line, filled);
      room[filled] = BREAK_BYTE;
      filled += 1;
    },
    flush,
    waitingBytes: () => stream.waitingBytes,
    close: async () => {
      flush();
      await stream.close();
    },
  };
};
