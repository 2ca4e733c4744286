/**
 * What an interceptor reports, and when: the times of its entry in the status.
 *
 * Promises: a heartbeat only increases, two are 60 seconds apart or more, and none is later than
 * both the own clock and the start, which the controller's clock has set; the completion is set
 * once and is not before the start; what has nothing new stays as it is. KEP-4563, status of
 * interceptors.
 */
import { type JsonRecord, textAt, timeAt } from './json.ts';
import { rfc3339 } from './time.ts';

/** The least time between two heartbeats; the API server refuses less. */
export const HEARTBEAT_SPACING_MS = 60_000;
/** The recommended time between two heartbeats. */
export const HEARTBEAT_PERIOD_MS = 180_000;
/** What the schema accepts of a message. */
const MESSAGE_CHARACTERS_MAX = 65_536;

/** The entry of an interceptor. Times are milliseconds since 1970. */
export interface Report {
  /** As the controller wrote it, so that it stays the same text. */
  readonly startTime: string | null;
  readonly heartbeatMs: number | null;
  readonly expectedFinishMs: number | null;
  readonly completionMs: number | null;
  readonly message: string;
}

/** What an interceptor reports of its progress. */
export interface Progress {
  /** For people; absent: as before. */
  readonly message?: string;
  /** When it expects to finish; absent: as before, null: unknown. It changes no deadline. */
  readonly expectedFinishTime?: Date | null;
}

/** What is new since the last report. */
export interface ReportChange extends Progress {
  /** The interceptor makes progress: a heartbeat is sent when one is due. */
  readonly isAlive: boolean;
  readonly isComplete: boolean;
}

/** An entry without any report. */
export const NO_REPORT: Report = {
  startTime: null,
  heartbeatMs: null,
  expectedFinishMs: null,
  completionMs: null,
  message: '',
};

/** Reads an entry of the status. */
export const reportIn = (entry: unknown): Report => ({
  startTime: textAt(entry, 'startTime') ?? null,
  heartbeatMs: timeAt(entry, 'heartbeatTime'),
  expectedFinishMs: timeAt(entry, 'expectedFinishTime'),
  completionMs: timeAt(entry, 'completionTime'),
  message: textAt(entry, 'message') ?? '',
});

const startMsOf = ({ startTime }: Report): number | null => timeAt({ startTime }, 'startTime');

/** Kubernetes keeps whole seconds; rounded up, a time would be in the future. */
const wholeSeconds = (epochMs: number): number => Math.floor(epochMs / 1000) * 1000;

/** Now, and not before the start: the controller's clock may be ahead of ours. */
const timeToReport = (report: Report, nowMs: number): number =>
  Math.max(wholeSeconds(nowMs), startMsOf(report) ?? 0);

const heartbeatAt = (last: Report, nowMs: number): number => {
  const candidate = timeToReport(last, nowMs);
  if (last.heartbeatMs === null) return candidate;
  return candidate - last.heartbeatMs >= HEARTBEAT_SPACING_MS ? candidate : last.heartbeatMs;
};

/** Never half of a surrogate pair at the end: the API server would change it. */
const cutMessage = (message: string): string =>
  message.slice(0, MESSAGE_CHARACTERS_MAX).toWellFormed();

const expectedFinishMs = (
  { expectedFinishTime }: Progress,
  last: number | null,
  nowMs: number,
): number | null => {
  if (expectedFinishTime === undefined) return last;
  const finishMs = expectedFinishTime?.getTime() ?? Number.NaN;
  return finishMs > nowMs ? Math.ceil(finishMs / 1000) * 1000 : null;
};

/** The next report after the last one that was sent, whether or not its answer came. */
export const nextReport = (last: Report, change: ReportChange, nowMs: number): Report => {
  const heartbeatMs = change.isAlive && last.completionMs === null
    ? heartbeatAt(last, nowMs)
    : last.heartbeatMs;
  return {
    // A controller that sets no start leaves it to the first heartbeat.
    startTime: last.startTime ?? (heartbeatMs === null ? null : rfc3339(heartbeatMs)),
    heartbeatMs,
    expectedFinishMs: expectedFinishMs(change, last.expectedFinishMs, nowMs),
    completionMs: change.isComplete
      ? last.completionMs ?? timeToReport(last, nowMs)
      : last.completionMs,
    message: change.message === undefined ? last.message : cutMessage(change.message),
  };
};

/** Whether a report with this progress has something new: a text, a time, or a due heartbeat. */
export const isReportDue = (
  last: Report,
  progress: Progress,
  { nowMs, periodMs }: { readonly nowMs: number; readonly periodMs: number },
): boolean => {
  const next = nextReport(last, { ...progress, isAlive: true, isComplete: false }, nowMs);
  const isHeartbeatDue = last.heartbeatMs === null || nowMs - last.heartbeatMs >= periodMs;
  return (isHeartbeatDue && next.heartbeatMs !== last.heartbeatMs) ||
    next.message !== last.message || next.expectedFinishMs !== last.expectedFinishMs;
};

/** What is known from both: a time that is set stays set, and a heartbeat never goes back. */
export const mergedReport = (own: Report, observed: Report): Report => ({
  ...own,
  startTime: observed.startTime ?? own.startTime,
  heartbeatMs: own.heartbeatMs === null || observed.heartbeatMs === null
    ? own.heartbeatMs ?? observed.heartbeatMs
    : Math.max(own.heartbeatMs, observed.heartbeatMs),
  completionMs: own.completionMs ?? observed.completionMs,
});

/** The entry to apply: every field that the interceptor owns, so that none is given up. */
export const reportEntry = (name: string, report: Report): JsonRecord => ({
  name,
  message: report.message,
  ...(report.startTime === null ? {} : { startTime: report.startTime }),
  ...(report.heartbeatMs === null ? {} : { heartbeatTime: rfc3339(report.heartbeatMs) }),
  ...(report.expectedFinishMs === null
    ? {}
    : { expectedFinishTime: rfc3339(report.expectedFinishMs) }),
  ...(report.completionMs === null ? {} : { completionTime: rfc3339(report.completionMs) }),
});
