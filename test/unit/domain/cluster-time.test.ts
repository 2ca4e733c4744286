/** The clock that replicas share, on machines whose wall clocks are wrong or step. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deadlineOf } from '../../../src/actors/node-drains/drain-index.ts';
import { clusterTime } from '../../../src/domain/cluster-time.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

const HOUR_MS = 3_600_000;

test.each([-HOUR_MS, HOUR_MS])(
  'a step of %i ms of the wall clock moves no time of day and no deadline',
  async (stepMs) => {
    const machine = simulatedTime();
    const time = clusterTime(machine);
    const startMs = time.now();
    const order = { deadlineMs: startMs + 60_000, graceSeconds: 60 };
    machine.jumpWallClock(stepMs);
    await machine.advance(1_000);
    expect(time.now()).toBe(startMs + 1_000);
    expect(deadlineOf(time, order).atMs).toBe(machine.monotonic() + 59_000);
  },
);

test.each([-HOUR_MS, HOUR_MS])(
  'a replica whose clock is off by %i ms has the same deadline once the API server answered',
  (skewMs) => {
    const serverMs = Date.UTC(2026, 0, 1, 12);
    const order = { deadlineMs: serverMs + 60_000, graceSeconds: 60 };
    const skewed = clusterTime(simulatedTime(serverMs + skewMs));
    skewed.observe({ serverMs, roundTripMs: 20 });
    expect(deadlineOf(skewed, order).atMs).toBe(60_000);
  },
);

test('whole seconds, slow answers and unreadable dates correct nothing', () => {
  const machine = simulatedTime();
  const time = clusterTime(machine);
  const startMs = time.now();
  time.observe({ serverMs: startMs - 999, roundTripMs: 20 });
  time.observe({ serverMs: startMs - 20_000, roundTripMs: 20_000 });
  time.observe({ serverMs: Number.NaN, roundTripMs: 20 });
  expect(time.now()).toBe(startMs);
});

test('whatever the wall clock does, time of day stays within the allowed skew of the server', () => {
  fc.assert(fc.property(fc.array(fc.integer({ min: -1e9, max: 1e9 })), (steps) => {
    const machine = simulatedTime();
    const serverMs = machine.now();
    const time = clusterTime(machine);
    for (const step of steps) {
      machine.jumpWallClock(step);
      time.observe({ serverMs, roundTripMs: 1 });
      expect(Math.abs(time.now() - serverMs)).toBeLessThanOrEqual(5_000);
    }
  }));
});
