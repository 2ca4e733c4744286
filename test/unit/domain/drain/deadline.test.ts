/** The grace and the deadline of a drain. */
import { describe, expect, it } from 'vitest';
import {
  graceOf,
  lastQuarterMs,
  tierWaitMs,
  timerStepMs,
} from '../../../../src/domain/drain/deadline.ts';

describe('the grace of a drain', () => {
  it.each([undefined, 0, -5, Number.NaN])('DR-16: a grace of %s is 30 s', (seconds) => {
    expect(graceOf(seconds)).toEqual({ seconds: 30, clamped: false });
  });

  it('DR-16: a grace above 7 days is clamped, and reported', () => {
    expect(graceOf(604_800)).toEqual({ seconds: 604_800, clamped: false });
    expect(graceOf(604_801)).toEqual({ seconds: 604_800, clamped: true });
    expect(graceOf(600)).toEqual({ seconds: 600, clamped: false });
  });

  it('DR-16: timers are set in steps of at most 24 h', () => {
    expect(timerStepMs(3e9)).toBe(86_400_000);
    expect(timerStepMs(5)).toBe(5);
    expect(timerStepMs(-5)).toBe(0);
  });

  it('DR-21: the last quarter of 600 s begins after 450 s', () => {
    expect(lastQuarterMs(600_000, 600)).toBe(450_000);
  });

  it.each([[600, 30_000], [60, 15_000], [10, 2500]])(
    'DR-21: with %i s of grace a tier waits %i ms',
    (graceSeconds, waitMs) => {
      expect(tierWaitMs(graceSeconds)).toBe(waitMs);
      expect(tierWaitMs(graceSeconds, 7)).toBe(7);
    },
  );
});
