/** Time that runs at a rate and jumps. */
import { describe, expect, test } from 'vitest';
import { simulatedTime } from '../src/values/simulated-time.ts';
import { scaledClock } from '../src/scaled-clock.ts';

const HOUR_MS = 3_600_000;

describe('scaled clock', () => {
  test('passes at its rate, on both clocks', async () => {
    const base = simulatedTime(0);
    const time = scaledClock(base, 60);
    await base.advance(1000);
    expect([time.monotonic(), time.now()]).toEqual([60_000, 60_000]);
  });

  test('fires timers in the order in which they are due, across a jump', async () => {
    const base = simulatedTime(0);
    const time = scaledClock(base);
    const fired: string[] = [];
    time.schedule(2 * HOUR_MS, () => fired.push('late'));
    time.schedule(HOUR_MS, () => fired.push('early'));
    time.schedule(3 * HOUR_MS, () => fired.push('to come'));
    time.jump(2 * HOUR_MS);
    await base.advance(0);
    expect(fired).toEqual(['early', 'late']);
    expect(time.monotonic()).toBe(2 * HOUR_MS);
  });

  test('stops at rate 0 and resumes from the same time', async () => {
    const base = simulatedTime(0);
    const time = scaledClock(base, 0);
    let fired = 0;
    time.schedule(10, () => {
      fired += 1;
    });
    await base.advance(HOUR_MS);
    expect([fired, time.monotonic()]).toEqual([0, 0]);
    time.setRate(10);
    await base.advance(1);
    expect([fired, time.monotonic()]).toEqual([1, 10]);
  });

  test('a cancelled timer does not fire, whatever the rate', async () => {
    const base = simulatedTime(0);
    const time = scaledClock(base);
    let fired = 0;
    const cancel = time.schedule(10, () => {
      fired += 1;
    });
    time.setRate(5);
    cancel();
    time.jump(HOUR_MS);
    await base.advance(HOUR_MS);
    expect(fired).toBe(0);
  });
});
