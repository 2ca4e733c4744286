/**
 * Writes down what happens to the actors of a process, so that it can be played again elsewhere.
 *
 * Promises: exists only when it was asked for; never throws into an actor and never waits for the
 * disk: when that is too slow, lines are left out and the recording says how many. A process that
 * is killed loses at most the lines of its last moment.
 */
import { createWriteStream, type WriteStream } from 'node:fs';
import { once } from 'node:events';
import type { InspectionEvent } from 'xstate';
import { kindInId } from '../api/actor-board.ts';
import {
  type RecordGap,
  type RecordHead,
  type RecordLine,
  recordText,
} from '../api/actor-record.ts';
import { statePaths } from '../domain/state-value.ts';
import type { Time } from '../domain/time.ts';

/** What is recorded, and where. */
export interface RecorderOptions {
  readonly file: string;
  readonly title: string;
  readonly time: Pick<Time, 'now' | 'schedule'>;
  /** The machines of the catalogue; actors of others are not recorded. */
  readonly kinds: ReadonlySet<string>;
}

/** A recording that is being made. */
export interface ActorRecorder {
  readonly inspect: (event: InspectionEvent) => void;
  /** Resolves when everything is in the file; rejects when it could not be written. */
  readonly close: () => Promise<void>;
}

/** More than this waits for the disk: lines are left out until it has caught up. */
const WAITING_BYTES_MAX = 64 * 2 ** 20;
/**
 * Lines go to the disk in batches: with a write for each turn of the event loop, handing them to
 * the disk costs a burst more than making them.
 */
const BATCH_MS = 100;
const BATCH_CHARACTERS = 256 * 2 ** 10;

const opened = async (file: string): Promise<WriteStream> => {
  const stream = createWriteStream(file, { encoding: 'utf8' });
  await once(stream, 'open').catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`Cannot record to "${file}": ${why}; give --record a file that can be written`);
  });
  return stream;
};

const textOf = (said: RecordHead | RecordLine | RecordGap): string => {
  try {
    return recordText(said);
  } catch {
    // What is no plain data cannot be told; that it happened can.
    return 'event' in said ? recordText({ ...said, event: { type: said.event.type } }) : '';
  }
};

/** Begins a recording; rejects with a sentence when the file cannot be written. */
export const startActorRecorder = async (options: RecorderOptions): Promise<ActorRecorder> => {
  const { file, title, time, kinds } = options;
  const stream = await opened(file);
  let failure: Error | undefined;
  stream.on('error', (error) => {
    failure = error;
  });
  let batch = '';
  let lost = 0;
  let cancelFlush: (() => void) | undefined;
  const flush = (): void => {
    cancelFlush?.();
    cancelFlush = undefined;
    if (batch !== '' && failure === undefined) stream.write(batch);
    batch = '';
  };
  const say = (said: RecordHead | RecordLine | RecordGap): void => {
    batch += `${textOf(said)}\n`;
    if (batch.length >= BATCH_CHARACTERS) flush();
    else cancelFlush ??= time.schedule(BATCH_MS, flush);
  };
  const record = (line: RecordLine): void => {
    if (stream.writableLength > WAITING_BYTES_MAX) {
      lost += 1;
      return;
    }
    if (lost > 0) say({ atMs: line.atMs, lost });
    lost = 0;
    say(line);
  };
  say({ recording: 'tidegate', format: 1, title, startedMs: time.now() });
  return {
    inspect: (inspected) => {
      if (inspected.type !== '@xstate.snapshot') return;
      const { actorRef, snapshot, event } = inspected;
      const id = 'id' in actorRef ? String(actorRef.id) : '';
      if (!kinds.has(kindInId(id))) return;
      const state = statePaths('value' in snapshot ? snapshot.value : undefined).join(' ');
      record({ atMs: time.now(), id, event, state, status: snapshot.status });
    },
    close: async () => {
      flush();
      stream.end();
      if (failure === undefined) await once(stream, 'close');
      if (failure !== undefined) throw new Error(`Cannot record to "${file}": ${failure.message}`);
    },
  };
};
