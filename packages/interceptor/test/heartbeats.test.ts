/** The times of reports, whatever the clocks do and whenever a process restarts. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  HEARTBEAT_SPACING_MS,
  isReportDue,
  mergedReport,
  nextReport,
  NO_REPORT,
  type Report,
  reportEntry,
  reportIn,
} from '../src/report.ts';

const START_MS = Date.UTC(2026, 4, 1, 10);
const STARTED: Report = { ...NO_REPORT, startTime: '2026-05-01T10:00:00Z' };

/** What happens next: how long after, whether the clock steps, and what is reported. */
const moment = fc.record({
  afterMs: fc.integer({ min: 0, max: 400_000 }),
  stepMs: fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, fc.integer({ min: -7e6, max: 7e6 })),
  isAlive: fc.boolean(),
  isComplete: fc.oneof({ weight: 8, arbitrary: fc.constant(false) }, fc.constant(true)),
  restarts: fc.boolean(),
  isLost: fc.boolean(),
  message: fc.option(fc.string(), { nil: undefined }),
  finishInMs: fc.option(fc.integer({ min: -1e6, max: 1e6 }), { nil: undefined }),
});

type Moment = typeof moment extends fc.Arbitrary<infer Value> ? Value : never;

const changeOf = ({ isAlive, isComplete, message, finishInMs }: Moment, nowMs: number) => ({
  isAlive,
  isComplete,
  ...(message === undefined ? {} : { message }),
  ...(finishInMs === undefined ? {} : { expectedFinishTime: new Date(nowMs + finishInMs) }),
});

/** The reports that are sent, each with the time and what the cluster had before. */
const sentReports = (first: Report, moments: readonly Moment[], startMs = START_MS) => {
  let nowMs = startMs;
  let own = first;
  let stored = first;
  return moments.map((one) => {
    nowMs += one.afterMs + one.stepMs;
    // A new process knows what the status has.
    if (one.restarts) own = reportIn(reportEntry('x', stored));
    const before = stored;
    const next = nextReport(own, changeOf(one, nowMs), nowMs);
    own = next;
    if (!one.isLost) stored = next;
    return { next, before, nowMs };
  });
};

const startMsOf = ({ startTime }: Report): number => Date.parse(startTime ?? '');

describe('reports', () => {
  test('heartbeats only increase, 60 seconds or more apart, whatever the clock does', () => {
    fc.assert(fc.property(fc.array(moment, { maxLength: 40 }), (moments) => {
      for (const { next, before } of sentReports(STARTED, moments)) {
        if (before.heartbeatMs === null || next.heartbeatMs === before.heartbeatMs) continue;
        expect(next.heartbeatMs ?? 0).toBeGreaterThanOrEqual(
          before.heartbeatMs + HEARTBEAT_SPACING_MS,
        );
      }
    }));
  });

  test('a new heartbeat is never in the future, nor before the start', () => {
    const starts = fc.integer({ min: -60_000, max: 60_000 });
    fc.assert(fc.property(starts, fc.array(moment), (aheadMs, moments) => {
      const sent = sentReports(STARTED, moments, START_MS + aheadMs);
      let last: number | null = null;
      for (const { next, nowMs } of sent) {
        if (next.heartbeatMs === null) continue;
        expect(next.heartbeatMs).toBeGreaterThanOrEqual(startMsOf(next));
        if (next.heartbeatMs !== last) {
          const allowed = Math.max(nowMs, startMsOf(next), last ?? 0);
          expect(next.heartbeatMs).toBeLessThanOrEqual(allowed);
        }
        last = Math.max(last ?? 0, next.heartbeatMs);
      }
    }));
  });

  test('the completion is set once and never before the start', () => {
    fc.assert(fc.property(fc.array(moment), (moments) => {
      for (const { next, before } of sentReports(STARTED, moments)) {
        if (next.completionMs === null) continue;
        expect(next.completionMs).toBeGreaterThanOrEqual(startMsOf(next));
        if (before.completionMs !== null) expect(next.completionMs).toBe(before.completionMs);
      }
    }));
  });

  test('a heartbeat has a start, which is the first heartbeat where the controller sets none', () => {
    fc.assert(fc.property(fc.array(moment), (moments) => {
      for (const { next } of sentReports(NO_REPORT, moments)) {
        if (next.heartbeatMs !== null) {
          expect(startMsOf(next)).toBeLessThanOrEqual(next.heartbeatMs);
        }
      }
    }));
  });

  test('what has nothing new is applied again as it is', () => {
    const nowMs = START_MS + 90_000;
    const expectedFinishTime = new Date(nowMs + 600_000);
    const change = { message: 'Copying', expectedFinishTime, isAlive: true, isComplete: false };
    const first = nextReport(STARTED, change, nowMs);
    const next = nextReport(first, { isAlive: true, isComplete: false }, nowMs + 59_999);
    expect(reportEntry('x', next)).toEqual(reportEntry('x', first));
    expect(isReportDue(first, {}, { nowMs: nowMs + 179_000, periodMs: 180_000 })).toBe(false);
    expect(isReportDue(first, {}, { nowMs: nowMs + 180_000, periodMs: 180_000 })).toBe(true);
  });

  test('an expected finish in the past is not reported, and null removes it', () => {
    const nowMs = START_MS + 90_000;
    const reported = (expectedFinishTime: Date | null) =>
      nextReport(
        { ...STARTED, expectedFinishMs: nowMs + 5000 },
        { expectedFinishTime, isAlive: true, isComplete: false },
        nowMs,
      ).expectedFinishMs;
    expect([reported(new Date(nowMs - 1)), reported(null)]).toEqual([null, null]);
  });

  test('a start keeps the text that the controller wrote', () => {
    const startTime = '2026-05-01T10:00:00.123456Z';
    const observed = reportIn({ name: 'x', startTime });
    const next = nextReport(observed, { isAlive: true, isComplete: true }, START_MS);
    expect(reportEntry('x', next)).toMatchObject({ startTime });
    expect(next.completionMs).toBeGreaterThanOrEqual(Date.parse(startTime));
  });

  test('a long message is cut between characters', () => {
    const message = `${'x'.repeat(65_535)}😀`;
    const next = nextReport(STARTED, { message, isAlive: true, isComplete: false }, START_MS);
    expect(next.message.length).toBeLessThanOrEqual(65_536);
    expect(next.message.isWellFormed()).toBe(true);
  });

  test('an observation that is older than the own report takes nothing back', () => {
    const own = { ...STARTED, heartbeatMs: START_MS + 60_000, completionMs: START_MS + 70_000 };
    expect(mergedReport(own, STARTED)).toEqual(own);
    expect(mergedReport(STARTED, own)).toEqual(own);
  });
});
