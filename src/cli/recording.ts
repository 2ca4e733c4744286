/**
 * A recording as it is read: line by line, through the real machines, onto a board.
 *
 * Promises: what cannot be read or played is one sentence with the line and is gone over; what the
 * machines of this version do otherwise is told once for each actor.
 */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { type RecordEntry, recordEntry, type RecordLine } from '../api/actor-record.ts';
import { MACHINES } from '../machines/index.ts';
import type { FillableBoard } from '../observability/actor-board.ts';
import { makeReplay, type Replayed } from '../view/replay.ts';

/** A line that is there, or what is wrong with one. */
export type Recorded =
  | { readonly _tag: 'Entry'; readonly entry: Exclude<RecordEntry, { _tag: 'Unreadable' }> }
  | { readonly _tag: 'Problem'; readonly problem: string };

/** Reads a recording; fails with what the file system says. */
export const recordedIn = async function* (file: string): AsyncGenerator<Recorded> {
  const lines = createInterface({ input: createReadStream(file, 'utf8'), crlfDelay: Infinity });
  let number = 0;
  for await (const text of lines) {
    number += 1;
    if (text.trim() === '') continue;
    const entry = recordEntry(text);
    if (number === 1 && entry._tag !== 'Head') {
      yield { _tag: 'Problem', problem: 'line 1: this is no recording of tidegate' };
      return;
    }
    yield entry._tag === 'Unreadable'
      ? { _tag: 'Problem', problem: `line ${number}: ${entry.why}` }
      : { _tag: 'Entry', entry };
  }
};

/** Plays lines onto a board. */
export interface Player {
  /** Plays one line; gives what is wrong with it, at most once for each actor. */
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
      return `"${line.id}" cannot be played: ${replayed.why}`;
  }
};

/** A player for a board. */
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
