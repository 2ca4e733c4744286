/**
 * Records the events of a process's actors for a replay.
 *
 * Promises: created only on request; never throws into an actor and never waits for the disk: when
 * it is too slow, lines are dropped and the recording counts them. A killed process loses at most
 * its last moments. Each file replays alone: one after a rotation has the actors that are older.
 */
import { kindInId } from '../api/actor-board.ts';
import {
  recordedText,
  type RecordGap,
  type RecordHead,
  recordHead,
  type RecordLine,
  recordText,
} from '../api/actor-record.ts';
import { stateText } from '../domain/state-value.ts';
import type { Time } from '../domain/time.ts';
import type { Inspector } from './inspector.ts';
import { type LineFile, openLineFile } from './line-file.ts';
import { RecordedActors } from './recorded-actors.ts';

/** The subject of the recording. */
export interface RecordingOptions {
  readonly title: string;
  readonly time: Pick<Time, 'now' | 'schedule'>;
  /** The machines of the catalogue; other actors are ignored. */
  readonly kinds: ReadonlySet<string>;
  /** Called for each line that is left out because the disk is too slow. */
  readonly onDropped?: () => void;
}

/** The content and the file. */
export interface RecorderOptions extends RecordingOptions {
  readonly file: string;
  /** A larger file is rotated. */
  readonly bytesMax?: number;
  /** Called once when the recording ends early, with one sentence. */
  readonly onFailure: (problem: string) => void;
}

/** A running recording. */
export interface ActorRecorder {
  readonly observe: Inspector;
  /** Resolves when everything is in the file, or it could not be written. */
  readonly close: () => Promise<void>;
}

/** The buffer limit: above it lines are dropped until the disk has caught up. */
const WAITING_BYTES_MAX = 64 * 2 ** 20;
/**
 * Lines are formatted in batches: one by one, amid other work, takes twice as long, and a write per
 * event loop turn costs a burst more than the lines.
 */
const BATCH_MS = 100;
const BATCH_LINES = 512;

/** One event of an actor. Its line is formatted later: events and state values are immutable. */
interface Transition extends Omit<RecordLine, 'state'> {
  readonly value: unknown;
  readonly context: unknown;
}

type RecordItem = RecordHead | RecordGap | Transition;

const lineOf = ({ atMs, id, event, value, status }: Transition): RecordLine => ({
  atMs,
  id,
  event,
  state: stateText(value),
  status,
});

const recordingError = (file: string, cause: unknown, remedy = ''): Error => {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new Error(`Cannot record to "${file}": ${why}${remedy}`, { cause });
};

/** Begins a recording in an open file; `actors` hears of its rotations. */
export const recordInto = (
  disk: LineFile,
  { title, time, kinds, onDropped }: RecordingOptions,
  actors = new RecordedActors(),
): ActorRecorder => {
  let batch: RecordItem[] = [];
  let lost = 0;
  let cancelFlush: (() => void) | undefined;
  const put = (item: RecordItem): void => {
    if (!('event' in item)) return disk.put(recordedText(item));
    const line = lineOf(item);
    for (const text of actors.linesBefore(line)) disk.put(text);
    disk.put(recordedText(line));
    actors.observe(line, item);
  };
  const flush = (): void => {
    cancelFlush?.();
    cancelFlush = undefined;
    const items = batch;
    batch = [];
    for (const item of items) put(item);
    // These must not be what makes the disk too slow.
    if (disk.waitingBytes() <= WAITING_BYTES_MAX / 4) {
      for (const text of actors.nextLines(BATCH_LINES)) disk.put(text);
    }
    disk.flush();
    if (actors.isBehind) cancelFlush = time.schedule(BATCH_MS, flush);
  };
  const write = (item: RecordItem): void => {
    batch.push(item);
    if (batch.length >= BATCH_LINES) flush();
    else cancelFlush ??= time.schedule(BATCH_MS, flush);
  };
  const record = (transition: Transition): void => {
    if (disk.waitingBytes() > WAITING_BYTES_MAX) {
      // Actors are kept in the order of their transitions.
      if (batch.length > 0) flush();
      actors.observe(lineOf(transition), transition);
      lost += 1;
      onDropped?.();
      return;
    }
    if (lost > 0) write({ atMs: transition.atMs, lost });
    lost = 0;
    write(transition);
  };
  write(recordHead(title, time.now()));
  return {
    observe: ({ id, event, snapshot }) => {
      if (!kinds.has(kindInId(id))) return;
      const value = 'value' in snapshot ? snapshot.value : undefined;
      const context = 'context' in snapshot ? snapshot.context : undefined;
      record({ atMs: time.now(), id, event, value, context, status: snapshot.status });
    },
    close: async () => {
      flush();
      cancelFlush?.();
      for (const text of actors.nextLines(Number.POSITIVE_INFINITY)) disk.put(text);
      await disk.close();
    },
  };
};

/** Begins a recording; rejects when the file cannot be opened. */
export const startActorRecorder = async (
  { file, bytesMax, onFailure, ...options }: RecorderOptions,
): Promise<ActorRecorder> => {
  const actors = new RecordedActors();
  const disk = await openLineFile(file, {
    onFailure: (cause) => onFailure(recordingError(file, cause).message),
    ...(bytesMax === undefined ? {} : { bytesMax }),
    firstLine: () => {
      const atMs = options.time.now();
      actors.beginFile(atMs);
      return recordText(recordHead(options.title, atMs));
    },
  }).catch((cause: unknown) => {
    throw recordingError(file, cause, '; use a writable file for --record');
  });
  return recordInto(disk, options, actors);
};
