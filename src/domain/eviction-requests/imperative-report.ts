/**
 * What the imperative eviction reports as an interceptor: heartbeats, and why the pod remains
 * (ER-66, ER-68, ER-71).
 *
 * Promises: the count of refused evictions goes on after a restart; a heartbeat comes often enough
 * that the evictor never counts as silent, and two are never closer than the API allows.
 */
import { HEARTBEAT_PERIOD_MS, HEARTBEAT_SPACING_MS } from './interceptor-deadline.ts';
import type { InterceptorReport } from './observed-request.ts';

/** How the eviction of the pod goes in this process. */
export interface EvictionProgress {
  /** Refused calls of this process. */
  readonly refusals: number;
  /** Why the pod remains; empty when nothing blocks it. */
  readonly blocker: string;
}

/** Before the first call. */
export const NOTHING_SENT: EvictionProgress = { refusals: 0, blocker: '' };

/** The report to write. */
export interface ImperativeReport {
  readonly heartbeatMs: number;
  readonly message: string;
}

/** Messages of one request are at least this far apart. */
export const MESSAGE_SPACING_MS = 5000;

const COUNTED = 'Could not evict a pod due to failing eviction requests, number of retries: ';
const COUNT = new RegExp(`^${COUNTED}(?<count>\\d{1,9})\\.`, 'u');

/** The refused calls that a message reports. */
export const refusalsIn = (message: string): number =>
  Number(COUNT.exec(message)?.groups?.['count'] ?? 0);

/** The message after `refusals` calls in all. */
export const refusalMessage = (refusals: number, blocker: string): string => {
  const counted = refusals === 0 ? '' : `${COUNTED}${refusals}.`;
  return [counted, blocker].filter((text) => text !== '').join(' ');
};

/** What is known for the next report. */
export interface ReportBasis {
  readonly report: InterceptorReport | undefined;
  /** The whole message that is true now. */
  readonly message: string;
  readonly nowMs: number;
  /** When this process reported last. */
  readonly reportedMs: number | null;
}

/** When the next report is due: at once when that is in the past. */
export const reportDueMs = ({ report, message, reportedMs }: ReportBasis): number => {
  const heartbeatMs = report?.heartbeatMs ?? null;
  if (heartbeatMs === null) return 0;
  const periodMs = heartbeatMs + HEARTBEAT_PERIOD_MS;
  if (report?.message === message) return periodMs;
  return Math.min(periodMs, reportedMs === null ? 0 : reportedMs + MESSAGE_SPACING_MS);
};

/** The report; a heartbeat that came too recently is sent unchanged. */
export const reportNow = ({ report, message, nowMs }: ReportBasis): ImperativeReport => {
  const heartbeatMs = report?.heartbeatMs ?? null;
  // The stored time has whole seconds.
  const now = Math.floor(nowMs / 1000) * 1000;
  const isSpaced = heartbeatMs === null || now >= heartbeatMs + HEARTBEAT_SPACING_MS;
  return { heartbeatMs: isSpaced ? now : heartbeatMs, message };
};
