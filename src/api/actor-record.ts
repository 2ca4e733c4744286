/**
 * A recording of a process's actors: one JSON line per event that an actor received, with the
 * resulting state.
 *
 * Promises: a line has everything that a replay needs, because machines are pure: equal inputs and
 * events give equal states; unreadable lines are reported with their problem.
 */
import {
  asRecord,
  asText,
  type JsonRecord,
  numberAt,
  parseJson,
  textAt,
  valueAt,
} from '../domain/json.ts';

/** The first line. */
export interface RecordHead {
  readonly recording: 'tidegate';
  readonly format: 1;
  readonly title: string;
  readonly startedMs: number;
}

/** An event that an actor received; the first of an actor has its input. */
export interface RecordLine {
  readonly atMs: number;
  /** The actor. */
  readonly id: string;
  readonly event: { readonly type: string };
  /** The resulting innermost states, in the board's format. */
  readonly state: string;
  readonly status: string;
}

/** Lines dropped because the disk was too slow. */
export interface RecordGap {
  readonly atMs: number;
  readonly lost: number;
}

/** A parsed line of a recording. */
export type RecordEntry =
  | { readonly _tag: 'Head'; readonly head: RecordHead }
  | { readonly _tag: 'Line'; readonly line: RecordLine }
  | { readonly _tag: 'Gap'; readonly gap: RecordGap }
  | { readonly _tag: 'Unreadable'; readonly why: string };

/** An Error has no enumerable fields, so it is stored as its message. */
const ERROR_KEY = '$error';

type Fields = Readonly<Record<string, unknown>>;

const hasError = (event: Fields): boolean => {
  for (const name in event) if (event[name] instanceof Error) return true;
  return false;
};

/** The fields of an event as stored. */
const packed = (event: Fields): Fields =>
  Object.fromEntries(
    Object.entries(event).map(([name, value]) => [
      name,
      value instanceof Error ? { [ERROR_KEY]: value.message } : value,
    ]),
  );

/** The fields of an event, with errors restored. */
const unpacked = (event: JsonRecord): JsonRecord =>
  Object.fromEntries(
    Object.entries(event).map(([name, value]) => {
      const message = textAt(value, ERROR_KEY);
      return [name, message === undefined ? value : new Error(message)];
    }),
  );

/**
 * A line of a recording as text, without its line break. A replacer that checks every value for
 * errors would take twice the time, and only fields of events are restored as errors.
 */
export const recordText = (item: RecordHead | RecordLine | RecordGap): string =>
  JSON.stringify(
    'event' in item && hasError(item.event) ? { ...item, event: packed(item.event) } : item,
  );

/** A line of a recording as text. Total. */
export const recordedText = (item: RecordHead | RecordGap | RecordLine): string => {
  if (!('event' in item)) return recordText(item);
  try {
    return recordText(item);
  } catch {
    // Data that is not plain cannot be recorded; the event can.
    return recordText({ ...item, event: { type: item.event.type } });
  }
};

/** The first line of a recording. */
export const recordHead = (title: string, startedMs: number): RecordHead => ({
  recording: 'tidegate',
  format: 1,
  title,
  startedMs,
});

const unreadable = (why: string): RecordEntry => ({ _tag: 'Unreadable', why });

const FORMAT = 1;

const headIn = (value: unknown): RecordEntry =>
  numberAt(value, 'format') !== FORMAT
    ? unreadable('the recording has a format that this version does not know')
    : {
      _tag: 'Head',
      head: {
        recording: 'tidegate',
        format: FORMAT,
        title: textAt(value, 'title') ?? '',
        startedMs: numberAt(value, 'startedMs') ?? 0,
      },
    };

/** Parses one line. Total. */
export const recordEntry = (text: string): RecordEntry => {
  const value = parseJson(text);
  if (asRecord(value) === undefined) return unreadable('it is not a JSON object');
  if (valueAt(value, 'recording') !== undefined) return headIn(value);
  const atMs = numberAt(value, 'atMs');
  if (atMs === undefined) return unreadable('it has no "atMs"');
  const lost = numberAt(value, 'lost');
  if (lost !== undefined) return { _tag: 'Gap', gap: { atMs, lost } };
  const id = textAt(value, 'id');
  const event = asRecord(valueAt(value, 'event'));
  const type = asText(event?.['type']);
  if (id === undefined || event === undefined || type === undefined) {
    return unreadable('it has no "id", or no "event" with a type');
  }
  const state = textAt(value, 'state') ?? '';
  const status = textAt(value, 'status') ?? 'active';
  return { _tag: 'Line', line: { atMs, id, event: { ...unpacked(event), type }, state, status } };
};
