/**
 * Reads a recording line by line, replays it through the real machines, and fills a board.
 *
 * Promises: an unreadable line is reported in one sentence and skipped; a different state of this
 * version's machines is reported once per actor.
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { type RecordEntry, recordEntry, type RecordLine } from '../api/actor-record.ts';
import { MACHINES } from '../machines/index.ts';
import type { FillableBoard } from '../observability/actor-board.ts';
import { makeReplay, type Replayed } from '../view/replay.ts';

/** A valid line, or its problem. */
export type Recorded =
  | { readonly _tag: 'Entry'; readonly entry: Exclude<RecordEntry, { _tag: 'Unreadable' }> }
  | { readonly _tag: 'Problem'; readonly problem: string };

/** Reads a recording; rejects with the file system's error. */
export const recordedIn = async function* (file: string): AsyncGenerator<Recorded> {
  const lines = createInterface({ input: createReadStream(file, 'utf8'), crlfDelay: Infinity });
  let number = 0;
  for await (const text of lines) {
    number += 1;
    if (text.trim() === '') continue;
    const entry = recordEntry(text);
    if (number === 1 && entry._tag !== 'Head') {
      yield { _tag: 'Problem', problem: 'line 1: this is not a recording of tidegate' };
      return;
    }
    yield entry._tag === 'Unreadable'
      ? { _tag: 'Problem', problem: `line ${number}: ${entry.why}` }
      : { _tag: 'Entry', entry };
  }
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

/** Creates a replayer for a board. */
export const playerOn = (board: FillableBoard): Player => {
  const replay = makeReplay(MACHINES);
  const reported = new Set<string>();
  return {
    play: (line) => {
      const replayed = replay.play(line);
      if (replayed._tag !== 'Unplayable') {
        board.observe({ id: line.id, event: line.event, snapshot: replayed.actor.snapshot });
      }
      const problem = problemIn(line, replayed);
      if (problem === undefined || reported.has(line.id)) return undefined;
      reported.add(line.id);
      return problem;
    },
  };
};
