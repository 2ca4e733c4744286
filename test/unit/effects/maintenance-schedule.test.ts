/** The windows of a NodeMaintenance: when they open and close. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { windowState } from '../../../src/domain/node-maintenance/window.ts';
import { readSchedule } from '../../../src/effects/maintenance-schedule.ts';

const stateAt = (
  time: string,
  schedule: string,
  { durationMinutes = 60, timeZone = 'UTC' } = {},
): string => {
  const reading = readSchedule({ schedule, durationMinutes, timeZone });
  if (reading._tag === 'Malformed') return `${reading.field}: ${reading.problem}`;
  const state = windowState(reading.nextStart, durationMinutes, Date.parse(time));
  const timeText = (ms: number | null): string =>
    ms === null ? 'never' : new Date(ms).toISOString();
  return state._tag === 'Open'
    ? `open until ${timeText(state.untilMs)}`
    : `closed until ${timeText(state.opensMs)}`;
};

const SATURDAYS = '0 2 * * 6';

describe('NM-50: a window', () => {
  test.each([
    ['2026-05-01T12:00:00Z', 'closed until 2026-05-02T02:00:00.000Z'],
    ['2026-05-02T01:59:59.999Z', 'closed until 2026-05-02T02:00:00.000Z'],
    ['2026-05-02T02:00:00Z', 'open until 2026-05-02T03:00:00.000Z'],
    ['2026-05-02T02:59:59.999Z', 'open until 2026-05-02T03:00:00.000Z'],
    ['2026-05-02T03:00:00Z', 'closed until 2026-05-09T02:00:00.000Z'],
  ])('is at %s %s', (time, expected) => {
    expect(stateAt(time, SATURDAYS)).toBe(expected);
  });

  test('stays open when another start is within its duration', () => {
    const at = (time: string) => stateAt(time, '*/30 * * * *', { durationMinutes: 40 });
    expect(at('2026-05-01T12:20:00Z')).toBe('open until 2026-05-01T12:40:00.000Z');
    expect(at('2026-05-01T12:40:00Z')).toBe('open until 2026-05-01T13:10:00.000Z');
  });

  test('is in its time zone', () => {
    const berlin = { timeZone: 'Europe/Berlin' };
    expect(stateAt('2026-05-02T00:30:00Z', SATURDAYS, berlin))
      .toBe('open until 2026-05-02T01:00:00.000Z');
    expect(stateAt('2026-12-05T00:30:00Z', SATURDAYS, berlin))
      .toBe('closed until 2026-12-05T01:00:00.000Z');
  });

  test('opens once in the night of summer time, and once in that of winter time', () => {
    const startsFrom = (schedule: string, time: string): readonly string[] => {
      const reading = readSchedule({ schedule, durationMinutes: 60, timeZone: 'Europe/Berlin' });
      if (reading._tag === 'Malformed') throw new Error(reading.problem);
      const first = reading.nextStart(Date.parse(time)) ?? 0;
      const second = reading.nextStart(first) ?? 0;
      return [first, second].map((ms) => new Date(ms).toISOString());
    };
    // 02:30 does not exist on 29 March 2026, and exists twice on 25 October 2026.
    expect(startsFrom('30 2 * * *', '2026-03-28T12:00:00Z'))
      .toEqual(['2026-03-29T01:00:00.000Z', '2026-03-30T00:30:00.000Z']);
    expect(startsFrom('30 2 * * *', '2026-10-24T12:00:00Z'))
      .toEqual(['2026-10-25T00:30:00.000Z', '2026-10-26T01:30:00.000Z']);
    expect(startsFrom('30 2,14 * * *', '2026-03-28T18:00:00Z'))
      .toEqual(['2026-03-29T01:00:00.000Z', '2026-03-29T12:30:00.000Z']);
    expect(startsFrom('30 2,14 * * *', '2026-10-24T18:00:00Z'))
      .toEqual(['2026-10-25T00:30:00.000Z', '2026-10-25T13:30:00.000Z']);
  });

  test('of a date that never comes stays closed', () => {
    expect(stateAt('2026-05-01T12:00:00Z', '0 0 31 2 *')).toBe('closed until never');
  });

  test.each([
    ['', 'schedule: it must have 5 fields'],
    ['@daily', 'schedule: it must have 5 fields'],
    ['2026-05-01T12:00:00', 'schedule: it must have 5 fields'],
    ['0 0 2 * * 6', 'schedule: it must have 5 fields'],
    ['60 2 * * 6', 'schedule: CronPattern'],
    ['a b c d e', 'schedule: CronPattern'],
  ])('refuses "%s"', (schedule, problem) => {
    expect(stateAt('2026-05-01T12:00:00Z', schedule)).toContain(problem);
  });

  test('refuses a time zone that does not exist', () => {
    expect(stateAt('2026-05-01T12:00:00Z', SATURDAYS, { timeZone: 'Mars/One' }))
      .toBe('timeZone: no such time zone');
    expect(stateAt('2026-05-01T12:00:00Z', SATURDAYS, { timeZone: '' }))
      .toBe('timeZone: no such time zone');
  });

  test('never throws', () => {
    const field = fc.string({ unit: fc.constantFrom(...'0123456789*/,-?LW#+ '), maxLength: 8 });
    fc.assert(fc.property(fc.array(field, { maxLength: 6 }), fc.string(), (fields, timeZone) => {
      stateAt('2026-05-01T12:00:00Z', fields.join(' '));
      stateAt('2026-05-01T12:00:00Z', SATURDAYS, { timeZone });
    }));
  });

  test('is open exactly within its duration after a start', () => {
    const durations = fc.integer({ min: 1, max: 200 });
    const times = fc.integer({ min: 0, max: 10_000 });
    fc.assert(fc.property(fc.array(times), durations, times, (starts, durationMinutes, now) => {
      const nextStart = (afterMs: number): number | null => {
        const following = starts.map((minute) => minute * 60_000).filter((ms) => ms > afterMs);
        return following.length === 0 ? null : Math.min(...following);
      };
      const state = windowState(nextStart, durationMinutes, now * 60_000);
      const isOpen = starts.some((start) => start <= now && now < start + durationMinutes);
      expect(state._tag === 'Open').toBe(isOpen);
    }));
  });
});
