/**
 * Decides which notes become new Events, which are only counted, and which exceed the limit.
 *
 * Promises: equal notes about one object form a series with a count, written at most once a minute;
 * one object cannot flood the cluster with different notes, and notes that must arrive are exempt;
 * memory is bounded and follows what still happens; a step of the wall clock mutes nothing.
 */

/** Repeats within this time of a write are counted but not written. */
const PAUSE_MS = 60_000;
/** A repeat after this time begins a new series. */
const OVER_MS = 30 * 60_000;
/** The maximum number of series, and of objects, in memory; the oldest is evicted. */
export const SERIES_MAX = 4096;
/** The maximum number of different notes about one object in one window. */
export const NOTES_PER_OBJECT_MAX = 25;
const OBJECT_WINDOW_MS = 5 * 60_000;

/** One moment on both clocks: the wall clock is shown, the monotonic one measures. */
export interface Moment {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** Equal notes about one object. */
export interface Series {
  readonly key: string;
  /** Distinguishes the series of a process. */
  readonly number: number;
  /** Times of day. */
  readonly firstMs: number;
  readonly lastMs: number;
  readonly count: number;
  /** Monotonic: its last repeat, and when its last write was requested. */
  readonly repeatedAtMs: number;
  readonly writtenAtMs: number;
}

/** The decision about a note. */
export type SeriesVerdict =
  | { readonly _tag: 'Begun'; readonly series: Series }
  | { readonly _tag: 'Repeated'; readonly series: Series }
  /** Counted; the next write of the series includes it. */
  | { readonly _tag: 'Counted' }
  | { readonly _tag: 'TooMany' };

/** Series that are remembered. */
export interface EventSeriesIndex {
  /** `key` identifies the note, `object` its object; null exempts it from that one's limit. */
  readonly note: (key: string, object: string | null, now: Moment) => SeriesVerdict;
  readonly size: () => number;
}

interface Window {
  readonly sinceMs: number;
  readonly notes: number;
}

/** Keeps the map in order of use and within its limit, and forgets what is over. */
const remember = <Value>(
  map: Map<string, Value>,
  [key, value]: readonly [string, Value],
  isOver: (value: Value) => boolean,
): void => {
  map.delete(key);
  map.set(key, value);
  for (const [oldest, entry] of map) {
    if (map.size <= SERIES_MAX && !isOver(entry)) return;
    map.delete(oldest);
  }
};

/** Creates an empty index. */
export const eventSeriesIndex = (): EventSeriesIndex => {
  const known = new Map<string, Series>();
  const windows = new Map<string, Window>();
  let begun = 0;

  const rememberSeries = (series: Series, nowMs: number): void =>
    remember(known, [series.key, series], ({ repeatedAtMs }) => nowMs - repeatedAtMs >= OVER_MS);
  const rememberWindow = (object: string, window: Window, nowMs: number): void =>
    remember(windows, [object, window], ({ sinceMs }) => nowMs - sinceMs >= OBJECT_WINDOW_MS);

  const mayBegin = (object: string | null, nowMs: number): boolean => {
    if (object === null) return true;
    const last = windows.get(object);
    const current = last !== undefined && nowMs - last.sinceMs < OBJECT_WINDOW_MS
      ? last
      : { sinceMs: nowMs, notes: 0 };
    if (current.notes >= NOTES_PER_OBJECT_MAX) return false;
    rememberWindow(object, { ...current, notes: current.notes + 1 }, nowMs);
    return true;
  };

  return {
    size: () => known.size,
    note: (key, object, { wallMs, monotonicMs: nowMs }) => {
      const before = known.get(key);
      if (before === undefined || nowMs - before.repeatedAtMs >= OVER_MS) {
        if (!mayBegin(object, nowMs)) return { _tag: 'TooMany' };
        begun += 1;
        const times = {
          firstMs: wallMs,
          lastMs: wallMs,
          repeatedAtMs: nowMs,
          writtenAtMs: nowMs,
        };
        const series = { key, number: begun, count: 1, ...times };
        rememberSeries(series, nowMs);
        return { _tag: 'Begun', series };
      }
      const due = nowMs - before.writtenAtMs >= PAUSE_MS;
      const series: Series = {
        ...before,
        count: before.count + 1,
        lastMs: wallMs,
        repeatedAtMs: nowMs,
        writtenAtMs: due ? nowMs : before.writtenAtMs,
      };
      rememberSeries(series, nowMs);
      return due ? { _tag: 'Repeated', series } : { _tag: 'Counted' };
    },
  };
};
