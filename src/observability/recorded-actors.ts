/**
 * The live actors of a recording as its lines have left them, so that a file which begins in the
 * middle replays without the one before it.
 *
 * Promises: keeps one reference per live actor, to an immutable snapshot that the actor has as
 * well; the line of an actor precedes its first event in a file; the others come in batches,
 * because all actors at once would block the process, and are bounded by `ROOM_CHARS`.
 */
import type { RecordLine } from '../api/actor-record.ts';
import { type OlderActor, restoredText } from './restored-text.ts';

/** The part of a snapshot that restores its actor. */
type Snapshot = Pick<OlderActor, 'value' | 'context'>;

const INIT = 'xstate.init';
/** A quarter of a file: more would fill one file after another. */
const ROOM_CHARS = 64 * 2 ** 20;

/** The live actors of a recording. */
export class RecordedActors {
  readonly #known = new Map<string, OlderActor>();
  /** Those that the current file does not have. */
  #missing = new Set<string>();
  #beganMs = 0;
  #roomChars = 0;

  /** A file begins that has none of them. */
  beginFile(atMs: number): void {
    this.#missing = new Set(this.#known.keys());
    this.#beganMs = atMs;
    this.#roomChars = ROOM_CHARS;
  }

  /** True while lines of actors without an event are to be added to the file. */
  get isBehind(): boolean {
    return this.#missing.size > 0 && this.#roomChars > 0;
  }

  /** The lines that precede a line: none when the file has its actor. */
  linesBefore({ id, event }: Pick<RecordLine, 'id' | 'event'>): readonly string[] {
    if (event.type !== INIT) return this.#restore(id);
    this.#missing.delete(id);
    return [];
  }

  /** Lines of actors without an event in the file so far. */
  nextLines(count: number): readonly string[] {
    const lines: string[] = [];
    for (const id of this.#missing) {
      if (lines.length >= count || !this.isBehind) break;
      for (const line of this.#restore(id)) {
        this.#roomChars -= line.length;
        lines.push(line);
      }
    }
    return lines;
  }

  /** Keeps an actor as a line has left it; an ended one has no events any more. */
  observe({ atMs, id, state, status }: RecordLine, { value, context }: Snapshot): void {
    if (status !== 'active') {
      this.#known.delete(id);
      this.#missing.delete(id);
      return;
    }
    const before = this.#known.get(id)?.row;
    const sinceMs = before?.state === state ? before.sinceMs : atMs;
    const row = { id, state, status, sinceMs, bornMs: before?.bornMs ?? atMs };
    this.#known.set(id, { row, value, context });
  }

  #restore(id: string): readonly string[] {
    const actor = this.#known.get(id);
    return this.#missing.delete(id) && actor !== undefined
      ? [restoredText(actor, this.#beganMs)]
      : [];
  }
}
