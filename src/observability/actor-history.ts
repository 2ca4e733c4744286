/**
 * Keeps the recent transitions of a process's actors, so that the live page can go back in time and
 * hand out a recording of it.
 *
 * Promises: bounded by age, by number, and by the length of the lists that transitions bring; a
 * transition that is dropped leaves the state that it led to; keeps references to immutable
 * snapshots and formats nothing before it is asked.
 */
import type {
  ActorBoard,
  ActorDetail,
  ActorRow,
  ActorStep,
  TimelineEntry,
} from '../api/actor-board.ts';
import type { ActorHistory, PastChange } from '../api/actor-history.ts';
import { recordedText, recordHead } from '../api/actor-record.ts';
import { valueAt } from '../domain/json.ts';
import type { Time } from '../domain/time.ts';
import { EVENTS_KEPT, type FillableBoard, STEPS_KEPT } from './actor-board.ts';
import { ENDED_KEPT, EndedActors } from './ended-actors.ts';
import { restoredText } from './restored-text.ts';

/** How much a history keeps. */
export interface HistoryLimits {
  readonly ageMs: number;
  readonly transitions: number;
  /** The sum of the lengths of lists that events and new data have. */
  readonly items: number;
}

/** Of a live process: ten minutes, at a rate of 33 transitions a second. */
export const LIVE_HISTORY: HistoryLimits = {
  ageMs: 600_000,
  transitions: 20_000,
  items: 500_000,
};

/** Of a replayed recording, which is as long as it is. */
export const REPLAY_HISTORY: HistoryLimits = {
  ageMs: Number.POSITIVE_INFINITY,
  transitions: 200_000,
  items: 5_000_000,
};

/** A board that has a past. */
export interface HistoricalBoard extends FillableBoard {
  readonly history: ActorHistory;
}

/** An actor as it was. */
interface PastActor extends Omit<PastChange, 'atMs'> {
  readonly value: unknown;
}

/** One transition. */
interface Frame extends PastActor, PastChange {
  readonly event: { readonly type: string };
  /** It entered another state. */
  readonly moved: boolean;
  readonly items: number;
}

const lengthOf = (value: unknown): number => {
  if (Array.isArray(value)) return value.length;
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
};

/** The lengths of the lists in `value` that `before` does not share. */
const newItems = (value: unknown, before: unknown): number => {
  if (typeof value !== 'object' || value === null) return 0;
  let sum = 0;
  for (const [name, field] of Object.entries(value)) {
    if (typeof field === 'object' && valueAt(before, name) !== field) sum += lengthOf(field);
  }
  return sum;
};

const entryOf = ({ atMs, event: { type }, row, moved }: Frame): TimelineEntry => ({
  atMs,
  event: type,
  state: moved ? row.state : null,
});

const stepOf = ({ atMs, event: { type }, row }: Frame): ActorStep => ({
  atMs,
  event: type,
  state: row.state,
});

/** The frames that are kept, oldest first, and the last dropped one of each actor. */
class Frames {
  readonly #limits: HistoryLimits;
  /** As actors were before the first frame. */
  readonly base = new Map<string, PastActor>();
  readonly #ended = new EndedActors();
  #frames: Frame[] = [];
  #first = 0;
  #items = 0;
  #droppedMs = Number.NEGATIVE_INFINITY;

  constructor(limits: HistoryLimits) {
    this.#limits = limits;
  }

  /** All frames, oldest first. */
  all(): readonly Frame[] {
    if (this.#first > 0) this.#frames = this.#frames.slice(this.#first);
    this.#first = 0;
    return this.#frames;
  }

  add(frame: Frame): void {
    this.#frames.push(frame);
    this.#items += frame.items;
  }

  /** Drops what is over the limits. */
  trim(nowMs: number): void {
    const { ageMs, transitions, items } = this.#limits;
    for (;;) {
      const oldest = this.#frames[this.#first];
      if (oldest === undefined) return;
      const isOver = this.#frames.length - this.#first > transitions || this.#items > items;
      // One of the future is from before the clock was set back.
      if (!isOver && oldest.atMs >= nowMs - ageMs && oldest.atMs <= nowMs) return;
      this.#drop(oldest, nowMs);
    }
  }

  /** The earliest moment that the frames tell everything about. */
  fromMs(nowMs: number): number {
    const startMs = this.base.size > 0 ? this.#droppedMs : this.#frames[this.#first]?.atMs ?? nowMs;
    return Math.max(startMs, nowMs - this.#limits.ageMs);
  }

  #drop(frame: Frame, nowMs: number): void {
    const { row, value, context } = frame;
    const { id, status } = row;
    this.#first += 1;
    this.#items -= frame.items;
    this.#droppedMs = Math.min(frame.atMs, nowMs);
    if (this.#first > this.#limits.transitions) this.all();
    this.base.set(id, { row, value, context });
    if (status === 'active') return this.#ended.delete(id);
    const displaced = this.#ended.add(id);
    if (displaced !== undefined) this.base.delete(displaced);
  }
}

/** Only so many ended actors of a lifecycle are shown, as on the board. */
const withoutOldEnded = (latest: Map<string, PastActor>): void => {
  const ended = [...latest.values()].filter(({ row }) => row.status !== 'active');
  for (const ofKind of Map.groupBy(ended, ({ row }) => row.kind).values()) {
    if (ofKind.length <= ENDED_KEPT) continue;
    const oldest = ofKind.toSorted((left, right) => left.row.sinceMs - right.row.sinceMs)
      .slice(0, ofKind.length - ENDED_KEPT);
    for (const { row } of oldest) latest.delete(row.id);
  }
};

/** The actors as they were; `board` has what is older than the frames. */
const boardAt = (frames: Frames, board: ActorBoard, atMs: number): ActorBoard => {
  const all = frames.all();
  const latest = new Map(frames.base);
  for (const frame of all) {
    if (frame.atMs > atMs) break;
    latest.set(frame.row.id, frame);
  }
  withoutOldEnded(latest);
  let byId: ReadonlyMap<string, readonly Frame[]> | undefined;
  const framesOf = (id: string): readonly Frame[] => {
    byId ??= Map.groupBy(all, ({ row }) => row.id);
    return byId.get(id) ?? [];
  };
  /** What the board has beyond the frames, then the frames up to the moment. */
  const joined = <Entry>(
    known: readonly Entry[],
    own: readonly Frame[],
    entry: (frame: Frame) => Entry,
  ): readonly Entry[] => [
    ...known.slice(0, Math.max(0, known.length - own.length)),
    ...own.filter((frame) => frame.atMs <= atMs).map(entry),
  ];
  return {
    rows: () => Array.from(latest.values(), ({ row }) => row),
    row: (id) => latest.get(id)?.row,
    context: (id) => latest.get(id)?.context,
    detail: (id): ActorDetail | undefined => {
      const frame = latest.get(id);
      if (frame === undefined) return undefined;
      const known = board.detail(id);
      const own = framesOf(id);
      const moves = own.filter(({ moved }) => moved);
      return {
        row: frame.row,
        context: frame.context,
        path: joined(known?.path ?? [], moves, stepOf).slice(-STEPS_KEPT),
        log: joined(known?.log ?? [], own, entryOf).slice(-EVENTS_KEPT),
      };
    },
    subscribe: () => () => {},
  };
};

const nextChange = (
  frames: readonly Frame[],
  { atMs, direction, actor }: {
    readonly atMs: number;
    readonly direction: 1 | -1;
    readonly actor: string | undefined;
  },
): number | undefined => {
  const isMeant = (frame: Frame): boolean =>
    (direction > 0 ? frame.atMs > atMs : frame.atMs < atMs) &&
    (actor === undefined || frame.row.id === actor);
  return (direction > 0 ? frames.find(isMeant) : frames.findLast(isMeant))?.atMs;
};

const frameText = ({ atMs, event, row: { id, state, status } }: Frame): string =>
  recordedText({ atMs, id, event, state, status });

/** Of values at the time of the call: lines are formatted while they are read. */
const recordingOf = (frames: Frames, fromMs: number, title: string): Iterable<string> => {
  const before = [...frames.base.values()];
  const own = frames.all().slice();
  return {
    *[Symbol.iterator]() {
      yield recordedText(recordHead(title, fromMs));
      for (const frame of before) yield restoredText(frame, fromMs);
      for (const frame of own) yield frameText(frame);
    },
  };
};

/** The transition of an actor that the board has observed. */
const frameAfter = (
  { row, context, event, value }: {
    readonly row: ActorRow;
    readonly context: unknown;
    readonly event: Frame['event'];
    readonly value: unknown;
  },
  { atMs, before, contextBefore }: {
    readonly atMs: number;
    readonly before: ActorRow | undefined;
    readonly contextBefore: unknown;
  },
): Frame => ({
  atMs,
  row,
  context,
  event,
  value,
  moved: row.state !== (before?.state ?? ''),
  items: newItems(event, undefined) + newItems(context, contextBefore),
});

/** Gives a board a past. */
export const withHistory = (
  board: FillableBoard,
  time: Pick<Time, 'now'>,
  limits: HistoryLimits,
): HistoricalBoard => {
  const frames = new Frames(limits);
  let version = 0;
  const current = (): Frames => {
    frames.trim(time.now());
    return frames;
  };
  return {
    ...board,
    observe: (transition) => {
      const { id, event, snapshot } = transition;
      const before = board.row(id);
      const contextBefore = board.context(id);
      board.observe(transition);
      const row = board.row(id);
      if (row === undefined) return;
      const atMs = time.now();
      version += 1;
      frames.add(frameAfter({
        row,
        event,
        context: board.context(id),
        value: 'value' in snapshot ? snapshot.value : undefined,
      }, { atMs, before, contextBefore }));
      frames.trim(atMs);
    },
    history: {
      version: () => version,
      fromMs: () => current().fromMs(time.now()),
      at: (atMs) => boardAt(current(), board, atMs),
      nextChange: (atMs, direction, actor) =>
        nextChange(current().all(), { atMs, direction, actor }),
      changesOf: (kind) => current().all().filter(({ row }) => row.kind === kind),
      recording: (title) => recordingOf(current(), frames.fromMs(time.now()), title),
    },
  };
};
