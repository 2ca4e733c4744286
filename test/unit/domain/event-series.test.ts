/** Series of equal notes, and their limits. */
import { expect, test } from 'vitest';
import {
  eventSeriesIndex,
  NOTES_PER_OBJECT_MAX,
  SERIES_MAX,
} from '../../../src/domain/event-series.ts';

const MINUTE = 60_000;

/** The monotonic time; the wall clock is elsewhere. */
const at = (monotonicMs: number, wallMs = 5 * MINUTE - monotonicMs) => ({ monotonicMs, wallMs });

test('event series: repeats are counted and written once a minute', () => {
  const seriesIndex = eventSeriesIndex();
  expect(seriesIndex.note('k', 'o', at(0))).toMatchObject({ _tag: 'Begun', series: { count: 1 } });
  expect(seriesIndex.note('k', 'o', at(1000))).toEqual({ _tag: 'Counted' });
  expect(seriesIndex.note('k', 'o', at(MINUTE))).toMatchObject({
    _tag: 'Repeated',
    series: { count: 3 },
  });
  expect(seriesIndex.note('k', 'o', at(MINUTE + 1))).toEqual({ _tag: 'Counted' });
});

test('event series: half an hour without a repeat ends one', () => {
  const seriesIndex = eventSeriesIndex();
  seriesIndex.note('k', 'o', at(0));
  expect(seriesIndex.note('k', 'o', at(30 * MINUTE))).toMatchObject({
    _tag: 'Begun',
    series: { number: 2, count: 1 },
  });
});

test('event series: one object begins a bounded number in five minutes', () => {
  const seriesIndex = eventSeriesIndex();
  const verdicts = (nowMs: number) =>
    Array.from(
      { length: NOTES_PER_OBJECT_MAX + 1 },
      (_, n) => seriesIndex.note(`${nowMs} ${n}`, 'o', at(nowMs))._tag,
    );
  expect(verdicts(0).lastIndexOf('Begun')).toBe(NOTES_PER_OBJECT_MAX - 1);
  expect(verdicts(0).at(-1)).toBe('TooMany');
  expect(verdicts(5 * MINUTE)[0]).toBe('Begun');
});

test('event series: the oldest is evicted for a new one', () => {
  const seriesIndex = eventSeriesIndex();
  for (let n = 0; n <= SERIES_MAX; n += 1) seriesIndex.note(`k${n}`, `o${n}`, at(n));
  expect(seriesIndex.size()).toBe(SERIES_MAX);
  expect(seriesIndex.note('k0', 'o0', at(SERIES_MAX + 1))._tag).toBe('Begun');
});

test('event series: one that is over is forgotten with the next note', () => {
  const seriesIndex = eventSeriesIndex();
  for (let n = 0; n < 100; n += 1) seriesIndex.note(`k${n}`, `o${n}`, at(n));
  seriesIndex.note('k', 'o', at(31 * MINUTE));
  expect(seriesIndex.size()).toBe(1);
});
