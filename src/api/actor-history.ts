/**
 * The recent past of a process's actors: the board as it was at a moment, and a recording of it.
 *
 * Promises: plain data; bounded, so that its beginning moves on.
 */
import type { ActorBoard, ActorRow } from './actor-board.ts';

/** The event of a recording that has an actor as it was before the recording begins. */
export const RESTORED = 'snapshot.restored';

/** A change of an actor. */
export interface PastChange {
  readonly atMs: number;
  /** The actor after it. */
  readonly row: ActorRow;
  /** The data of its snapshot after it. */
  readonly context: unknown;
}

/** The recent past. */
export interface ActorHistory {
  /** The earliest moment that it has. */
  readonly fromMs: () => number;
  /** Grows with every change, so that readers can tell whether anything is new. */
  readonly version: () => number;
  /** The actors as they were at a moment; they do not change any more. */
  readonly at: (atMs: number) => ActorBoard;
  /** The nearest moment before or after another in which anything, or one actor, changed. */
  readonly nextChange: (atMs: number, direction: 1 | -1, actor?: string) => number | undefined;
  /** The changes of all actors of a machine, oldest first. */
  readonly changesOf: (kind: string) => Iterable<PastChange>;
  /** The lines of a recording that begins with the history. */
  readonly recording: (title: string) => Iterable<string>;
}
