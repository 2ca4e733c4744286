/** What an interception knows, and what it is told. */
import type { Attempts, Seed } from './backoff.ts';
import type { KubernetesErrorTag } from './kubernetes-client.ts';
import type { AbortReason, ObservedRequest } from './observed-request.ts';
import { HEARTBEAT_PERIOD_MS, type Progress, type Report, type ReportChange } from './report.ts';

/** Why a request to the API server failed. */
export interface RequestProblem {
  readonly tag: KubernetesErrorTag;
  readonly message: string;
  readonly retryAfterMs: number;
}

/** An attempt that is worth another one. */
interface Failed {
  readonly _tag: 'Failed';
  readonly problem: RequestProblem;
}

/** The pod of a request; absent also when one of its name has another UID. */
export type PodOutcome = { readonly _tag: 'Found' } | { readonly _tag: 'Absent' } | Failed;

/** The outcome of a report; `report` is what was sent, whether or not it landed. */
export type ReportOutcome =
  & { readonly report: Report }
  & ({ readonly _tag: 'Written' } | { readonly _tag: 'Absent' } | Failed);

/** What the interceptor has answered; null when it could not. */
export interface ProgressOutcome {
  readonly progress: Progress | null;
  readonly nowMs: number;
}

/** The interceptor is done, or gives up; null: the message stays. */
export interface InterceptOutcome {
  readonly message: string | null;
}

/** How often an interceptor reports. */
export interface InterceptionTiming {
  readonly heartbeatPeriodMs: number;
  /** How often it is asked for its progress. */
  readonly progressPeriodMs: number;
}

/** Heartbeats as recommended; messages that are at most 15 seconds old. */
export const DEFAULT_TIMING: InterceptionTiming = {
  heartbeatPeriodMs: HEARTBEAT_PERIOD_MS,
  progressPeriodMs: 15_000,
};

/** The input of an interception. */
export interface InterceptionInput {
  readonly request: ObservedRequest;
  readonly timing: InterceptionTiming;
  readonly seed: Seed;
}

/** What an interception knows. */
export interface InterceptionContext {
  readonly request: ObservedRequest;
  readonly timing: InterceptionTiming;
  /** The last report that was sent or observed. */
  readonly report: Report;
  /** What the interceptor has answered last. */
  readonly progress: Progress;
  /** Whether a report is due, by the last answer. */
  readonly isReportDue: boolean;
  /** An earlier process may have begun. */
  readonly resumed: boolean;
  readonly result: InterceptOutcome | null;
  /** Of the last request to the API server. */
  readonly outcome: ReportOutcome['_tag'] | PodOutcome['_tag'] | null;
  readonly problem: RequestProblem | null;
  readonly attempts: Attempts;
  /** Why it was aborted. */
  readonly reason: AbortReason | null;
}

/** Events of an interception. */
export type InterceptionEvent =
  | { readonly type: 'request.observed'; readonly request: ObservedRequest }
  | { readonly type: 'request.vanished' };

/** What is written next. */
export interface ReportInput {
  readonly request: ObservedRequest;
  readonly last: Report;
  readonly change: ReportChange;
}

/** What the interceptor is called with. */
export interface InterceptInput {
  readonly request: ObservedRequest;
  readonly resumed: boolean;
}
