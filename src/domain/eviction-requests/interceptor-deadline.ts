/**
 * When an interceptor has to report, and when the next one takes over (ER-34 to ER-40).
 *
 * Promises: follows from the status, so a deadline survives a restart; an expected finish never
 * changes it; a heartbeat that is not plausible never extends it, and hides the one before it from
 * a new process.
 */
import { rfc3339Seconds } from '../time.ts';
import type { InterceptorReport, ObservedRequest } from './observed-request.ts';
import { IMPERATIVE_EVICTION } from './qualified-name.ts';

/** How long interceptors may be silent. */
export interface InterceptorTiming {
  /** From the last heartbeat to the hand-over; `--interceptor-deadline`. */
  readonly deadlineMs: number;
  /** Silence before the early warning; `--interceptor-warning`. */
  readonly warningMs: number;
  /** Difference of clocks that is tolerated; `--clock-skew`. */
  readonly skewMs: number;
}

/** The defaults of the operator. */
export const DEFAULT_TIMING: InterceptorTiming = {
  deadlineMs: 1_200_000,
  warningMs: 60_000,
  skewMs: 10_000,
};

/** The recommended time between heartbeats (ER-42). */
export const HEARTBEAT_PERIOD_MS = 180_000;
/** The least time between two heartbeats (ER-36). */
export const HEARTBEAT_SPACING_MS = 60_000;

type Reported = Pick<InterceptorReport, 'startMs' | 'heartbeatMs'>;

/** The heartbeat, unless it is in the future or before the start, by more than the skew. */
const plausibleHeartbeatMs = (
  report: Reported | undefined,
  nowMs: number,
  { skewMs }: Pick<InterceptorTiming, 'skewMs'>,
): number | null => {
  if (report === undefined) return null;
  const { startMs, heartbeatMs } = report;
  if (heartbeatMs === null || heartbeatMs > nowMs + skewMs) return null;
  return startMs !== null && heartbeatMs < startMs - skewMs ? null : heartbeatMs;
};

/** A heartbeat that counted, and whose it was. */
export interface Heartbeat {
  readonly name: string;
  readonly ms: number;
}

/**
 * The last heartbeat of the active interceptor that counted: a later one that is not plausible yet
 * takes nothing from it.
 */
export const lastHeartbeat = (
  { status: { active }, reports }: Pick<ObservedRequest, 'status' | 'reports'>,
  before: Heartbeat | null,
  { nowMs, timing }: { readonly nowMs: number; readonly timing: InterceptorTiming },
): Heartbeat | null => {
  if (active === null || active === IMPERATIVE_EVICTION) return null;
  const report = reports.find(({ name }) => name === active);
  const ms = plausibleHeartbeatMs(report, nowMs, timing);
  if (ms !== null) return { name: active, ms };
  return before?.name === active ? before : null;
};

/** The times of the active interceptor. */
export interface InterceptorClock {
  /** When the early warning is due. */
  readonly warnAtMs: number;
  /** When the next interceptor takes over. */
  readonly deadlineAtMs: number;
  /** When a heartbeat from the future begins to count, if there is one. */
  readonly plausibleAtMs: number | null;
}

/** The times of an interceptor from its last report. */
export const interceptorClock = (
  report: Reported | undefined,
  { createdMs, nowMs, before = null }: Pick<ObservedRequest, 'createdMs'> & {
    readonly nowMs: number;
    /** Its last heartbeat that counted, as far as that is known. */
    readonly before?: Heartbeat | null;
  },
  timing: InterceptorTiming,
): InterceptorClock => {
  const startMs = report?.startMs ?? createdMs;
  const heartbeatMs = plausibleHeartbeatMs(report, nowMs, timing) ?? before?.ms ?? null;
  const isEarly = (report?.heartbeatMs ?? 0) > nowMs + timing.skewMs;
  return {
    // An interceptor that keeps the recommended period is never silent.
    warnAtMs: heartbeatMs === null
      ? startMs + timing.warningMs
      : heartbeatMs + HEARTBEAT_PERIOD_MS + timing.warningMs,
    deadlineAtMs: Math.max(startMs, heartbeatMs ?? startMs) + timing.deadlineMs,
    plausibleAtMs: isEarly ? (report?.heartbeatMs ?? 0) - timing.skewMs : null,
  };
};

/** The early warning: the text of condition and Event. */
export const silenceText = (name: string, deadlineAtMs: number): string =>
  `Interceptor "${name}" does not report; the next one takes over at ${
    rfc3339Seconds(deadlineAtMs)
  }`;

/** The deadline in a text of `silenceText`; null in any other. */
export const deadlineIn = (text: string): number | null => {
  const ms = Date.parse(/takes over at (?<time>\S+)$/u.exec(text)?.groups?.['time'] ?? '');
  return Number.isNaN(ms) ? null : ms;
};
