/**
 * Reads a recording line by line, replays it through the real machines, and fills a board.
 *
 * Promises: an unreadable line is reported in one sentence and skipped; a different state of this
 * version's machines is reported once per actor.
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { type RecordEntry, recordEntry, type RecordLine } from '../../api/actor-record.ts';
import { RESTORED } from '../../api/actor-history.ts';
import { numberAt } from '../../domain/json.ts';
import { MACHINES } from '../../machines/index.ts';
import type { FillableBoard } from '../../observability/actor-board.ts';
import type { ActorTransition } from '../../observability/inspector.ts';
import { makeReplay, type Replayed } from '../../view/replay.ts';

/** A valid line, or its problem. */
export type Recorded =
  | { readonly _tag: 'Entry'; readonly entry: Exclude<RecordEntry, { _tag: 'Unreadable' }> }
  | { readonly _tag: 'Problem'; readonly problem: string };

const linesOf = (file: string): AsyncIterable<string> =>
  createInterface({ input: createReadStream(file, 'utf8'), crlfDelay: Infinity });

/** Reads a recording; rejects when it is none, or with the file system's error. */
export const recordedIn = async function* (file: string): AsyncGenerator<Recorded> {
  const lines = linesOf(file);
  let number = 0;
  for await (const text of lines) {
    number += 1;
    if (text.trim() === '') continue;
    const entry = recordEntry(text);
    if (number === 1 && entry._tag !== 'Head') {
      const why = entry._tag === 'Unreadable' ? entry.why : 'it has no head';
      throw new Error(`this is not a recording of tidegate: line 1: ${why}`);
    }
    yield entry._tag === 'Unreadable'
      ? { _tag: 'Problem', problem: `line ${number}: ${entry.why}` }
      : { _tag: 'Entry', entry };
  }
  if (number === 0) throw new Error('this is not a recording of tidegate: it is empty');
};

const STOP_EVENT = 'stop.requested';
const PROCESS_ACTOR = 'operator';

/** The statecharts of a process are asked to stop one after another. */
const STOP_MS_MAX = 50;

/** When the recorded process was asked to stop; undefined when it was killed. */
export const stopMomentIn = async (file: string): Promise<number | undefined> => {
  let firstMs = Number.NEGATIVE_INFINITY;
  for await (const text of linesOf(file)) {
    if (!text.includes(STOP_EVENT)) continue;
    const entry = recordEntry(text);
    if (entry._tag !== 'Line') continue;
    const { id, event, atMs } = entry.line;
    if (event.type !== STOP_EVENT) continue;
    if (atMs - firstMs > STOP_MS_MAX) firstMs = atMs;
    if (id === PROCESS_ACTOR) return firstMs;
  }
  return undefined;
};

/** Replays lines onto a board. */
export interface Player {
  /** Replays one line; returns its problem, at most once per actor. */
  readonly play: (line: RecordLine) => string | undefined;
}

const problemIn = (line: RecordLine, replayed: Replayed): string | undefined => {
  switch (replayed._tag) {
    case 'Moved':
      return undefined;
    case 'Disagreed':
      return `"${line.id}" was in ${line.state} after "${line.event.type}"; ` +
        'this version is in another state';
    case 'Unplayable':
      return `"${line.id}" cannot be replayed: ${replayed.why}`;
  }
};

/** The age of an actor that is older than its recording. */
const ageIn = (event: RecordLine['event']): Pick<ActorTransition, 'since'> => {
  if (event.type !== RESTORED) return {};
  const [sinceMs, bornMs] = [numberAt(event, 'sinceMs'), numberAt(event, 'bornMs')];
  return sinceMs === undefined || bornMs === undefined ? {} : { since: { sinceMs, bornMs } };
};

/** Creates a replayer for a board. */
export const playerOn = (board: FillableBoard): Player => {
  const replay = makeReplay(MACHINES);
  const reported = new Set<string>();
  return {
    play: (line) => {
      const replayed = replay.play(line);
      if (replayed._tag !== 'Unplayable') {
        const { id, event } = line;
        board.observe({ id, event, snapshot: replayed.actor.snapshot, ...ageIn(event) });
      }
      const problem = problemIn(line, replayed);
      if (problem === undefined || reported.has(line.id)) return undefined;
      reported.add(line.id);
      return problem;
    },
  };
};
