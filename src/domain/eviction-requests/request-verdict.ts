/**
 * The verdict on an EvictionRequest: who is asked, who is next, since when silent, when the
 * hand-over comes, and who can act.
 *
 * Promises: every command and page shows this verdict; total; follows from the object and the time
 * alone, so that a reader without the operator comes to it.
 */
import type { Severity } from '../drain/verdict.ts';
import type { CanAct, Reason } from '../reason.ts';
import { quoted } from '../text.ts';
import { rfc3339Seconds } from '../time.ts';
import {
  deadlineIn,
  HEARTBEAT_PERIOD_MS,
  interceptorClock,
  type InterceptorTiming,
} from './interceptor-deadline.ts';
import { conditionOf, type ObservedRequest } from './observed-request.ts';
import { IMPERATIVE_EVICTION } from './qualified-name.ts';
import { EVICTION_REQUEST_REASONS, type EvictionRequestReason } from './request-reasons.ts';

/** What a request waits for, as a reader of the object sees it. */
export const REQUEST_SITUATIONS = [
  /** No controller has taken it up. */
  'Unserved',
  /** An interceptor acts and reports. */
  'Intercepting',
  /** It does not report. */
  'Silent',
  /** An interceptor has finished, or the last requester has left: the controller is next. */
  'HandingOver',
  /** The imperative eviction is active. */
  'Evicting',
  /** Every interceptor has acted and the pod remains. */
  'Processed',
  'Evicted',
  'Canceled',
] as const;
export type RequestSituation = (typeof REQUEST_SITUATIONS)[number];

/** The interceptor that is asked. Times are milliseconds of the wall clock. */
export interface InterceptorTurn {
  readonly name: string;
  readonly sinceMs: number;
  /** Its last sign of life; null before the first. */
  readonly heartbeatMs: number | null;
  /** Since when it has been silent; null while it reports. */
  readonly silentSinceMs: number | null;
  /** When the next one takes over without another report; null when nobody does. */
  readonly handOverMs: number | null;
  /** What it says itself. */
  readonly message: string;
}

/** The verdict on a request. */
export interface RequestVerdict {
  readonly situation: RequestSituation;
  readonly reason: EvictionRequestReason;
  readonly sentence: string;
  readonly waitsFor: string;
  readonly canAct: CanAct;
  /** The change to make; empty when none is needed. */
  readonly change: string;
  /** The heading in `docs/runbooks.md`; empty without one. */
  readonly runbook: string;
  readonly severity: Severity;
  /** Null when nobody is asked. */
  readonly turn: InterceptorTurn | null;
  /** Who is asked after that; null when nobody is. */
  readonly next: string | null;
}

/** The inputs besides the object. */
export interface VerdictOptions {
  readonly nowMs: number;
  /** Those of the operator, or its defaults. */
  readonly timing: InterceptorTiming;
}

/** A running controller is never that late. */
const CONTROLLER_LATE_MS = 30_000;

type Outline = Pick<RequestVerdict, 'situation' | 'sentence' | 'waitsFor'>;

const verdictWith = (
  reason: EvictionRequestReason,
  outline: Outline & Partial<RequestVerdict>,
): RequestVerdict => {
  const entry: Reason = EVICTION_REQUEST_REASONS[reason];
  const { canAct, change = '', runbook = '' } = entry;
  const isBlocked = entry.type === 'Warning' && canAct !== 'nobody';
  const severity = isBlocked ? 'Blocked' : 'Waiting';
  return { reason, canAct, change, runbook, severity, turn: null, next: null, ...outline };
};

const isReason = (reason: string): reason is EvictionRequestReason =>
  Object.hasOwn(EVICTION_REQUEST_REASONS, reason);

const final = (request: ObservedRequest): RequestVerdict | undefined => {
  const [evicted, canceled] = [conditionOf(request, 'Evicted'), conditionOf(request, 'Canceled')];
  const condition = evicted ?? canceled;
  if (condition === undefined) return undefined;
  const { reason, message } = condition;
  const isInvalid = reason === 'ValidationFailed';
  return verdictWith(isReason(reason) ? reason : evicted ? 'PodDeleted' : 'NoRequesters', {
    situation: evicted === undefined ? 'Canceled' : 'Evicted',
    sentence: message === '' ? `It ended with ${reason}` : message,
    waitsFor: 'Nothing: its requesters may delete it',
    severity: isInvalid ? 'Failed' : 'Ok',
  });
};

const nameOf = (interceptor: string): string =>
  interceptor === IMPERATIVE_EVICTION
    ? 'the imperative eviction by Tidegate'
    : `interceptor ${quoted(interceptor)}`;

const capitalized = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

const nextOf = ({ status: { targets, active, processed } }: ObservedRequest): string | null =>
  targets[processed.length + (active === null ? 0 : 1)] ?? null;

const turnOf = (
  request: ObservedRequest,
  active: string,
  { nowMs, timing }: VerdictOptions,
): InterceptorTurn => {
  const report = request.reports.find(({ name }) => name === active);
  const warning = conditionOf(request, 'InterceptorSilent');
  const clock = interceptorClock(report, { createdMs: request.createdMs, nowMs }, timing);
  const sinceMs = report?.startMs ?? request.createdMs;
  const heartbeatMs = report?.heartbeatMs ?? null;
  const isImperative = active === IMPERATIVE_EVICTION;
  // By a clock that is ahead: what counts until then is known to the operator alone.
  const isEarly = warning === undefined && clock.plausibleAtMs !== null;
  const isSilent = !isImperative && !isEarly &&
    (warning !== undefined || nowMs >= clock.warnAtMs);
  const handOverMs = deadlineIn(warning?.message ?? '') ?? clock.deadlineAtMs;
  return {
    name: active,
    sinceMs,
    heartbeatMs,
    silentSinceMs: isSilent ? Math.max(sinceMs, heartbeatMs ?? sinceMs) : null,
    handOverMs: isImperative || isEarly ? null : handOverMs,
    message: report?.message ?? '',
  };
};

const unserved = (sentence: string, isYoung: boolean): RequestVerdict =>
  verdictWith('EvictionRequestUnserved', {
    situation: 'Unserved',
    sentence,
    waitsFor: 'An operator with the role evictions',
    ...(isYoung ? { canAct: 'nobody', change: '', severity: 'Waiting' } as const : {}),
  });

/** How the pod is evicted when nobody is left to ask. */
const evicting = (turn: InterceptorTurn, nowMs: number): RequestVerdict => {
  const beatMs = turn.heartbeatMs ?? turn.sinceMs;
  if (nowMs >= beatMs + HEARTBEAT_PERIOD_MS + CONTROLLER_LATE_MS) {
    const late = `The imperative eviction has not reported since ${rfc3339Seconds(beatMs)}`;
    return { ...unserved(late, false), turn };
  }
  const { message } = turn;
  const common = { situation: 'Evicting', turn, waitsFor: 'The pod to leave' } as const;
  const isUnsupported = message.endsWith('; not evicted.');
  if (isUnsupported) return verdictWith('EvictionUnsupported', { ...common, sentence: message });
  return message === ''
    ? verdictWith('ImperativeEviction', {
      ...common,
      sentence: 'No interceptor is left: Tidegate evicts the pod',
    })
    : verdictWith('ImperativeEvictionBlocked', {
      ...common,
      sentence: message,
      waitsFor: 'What blocks the eviction to end',
    });
};

const handOverText = ({ handOverMs }: InterceptorTurn, next: string | null): string =>
  handOverMs === null || next === null
    ? ''
    : `; without another report ${nameOf(next)} takes over at ${rfc3339Seconds(handOverMs)}`;

const silent = (
  turn: InterceptorTurn & { readonly silentSinceMs: number },
  next: string | null,
  nowMs: number,
): RequestVerdict => {
  const { name, silentSinceMs, handOverMs } = turn;
  if (handOverMs !== null && nowMs >= handOverMs + CONTROLLER_LATE_MS) {
    const due = `The hand-over from ${nameOf(name)} was due at ${rfc3339Seconds(handOverMs)}`;
    return { ...unserved(due, false), turn, next };
  }
  const since = rfc3339Seconds(silentSinceMs);
  return verdictWith('InterceptorSilent', {
    situation: 'Silent',
    sentence: turn.heartbeatMs === null
      ? `Interceptor ${quoted(name)} was asked at ${since} and has never reported`
      : `Interceptor ${quoted(name)} has been silent since ${since}`,
    waitsFor: `A report of ${quoted(name)}${handOverText(turn, next)}`,
    turn,
    next,
  });
};

/** An interceptor of the pod is asked. */
const intercepting = (
  request: ObservedRequest,
  turn: InterceptorTurn,
  nowMs: number,
): RequestVerdict => {
  const next = nextOf(request);
  const { name, silentSinceMs, message, sinceMs } = turn;
  const report = request.reports.find((one) => one.name === name);
  if ((report?.completionMs ?? null) !== null) {
    return verdictWith('InterceptorActive', {
      situation: 'HandingOver',
      sentence: `Interceptor ${quoted(name)} has finished`,
      waitsFor: next === null ? 'The pod to leave' : `${capitalized(nameOf(next))}, or the pod`,
      turn,
      next,
    });
  }
  if (silentSinceMs !== null) return silent({ ...turn, silentSinceMs }, next, nowMs);
  const reported = message === '' ? '' : `: ${message}`;
  return verdictWith('InterceptorActive', {
    situation: 'Intercepting',
    sentence: `Interceptor ${quoted(name)} is asked since ${rfc3339Seconds(sinceMs)}${reported}`,
    waitsFor: `${capitalized(nameOf(name))} to finish${handOverText(turn, next)}`,
    turn,
    next,
  });
};

const nobodyAsked = (request: ObservedRequest, nowMs: number): RequestVerdict => {
  const { status, createdMs } = request;
  if (status.targets.length === 0) {
    const isYoung = nowMs < createdMs + CONTROLLER_LATE_MS;
    return unserved('No controller has taken the request up', isYoung);
  }
  const next = nextOf(request);
  return next === null
    ? verdictWith('InterceptorsProcessed', {
      situation: 'Processed',
      sentence: 'All interceptors have acted, and the pod remains',
      waitsFor: 'The pod to leave',
    })
    : verdictWith('InterceptorActive', {
      situation: 'HandingOver',
      sentence: `${capitalized(nameOf(next))} is next`,
      waitsFor: `${capitalized(nameOf(next))} to be asked`,
      next,
    });
};

/** The verdict on a request. */
export const requestVerdict = (
  request: ObservedRequest,
  options: VerdictOptions,
): RequestVerdict => {
  const { nowMs } = options;
  const ended = final(request);
  if (ended !== undefined) return ended;
  const { active } = request.status;
  if (active === null && request.status.targets.length === 0) return nobodyAsked(request, nowMs);
  if (request.requesters.length === 0) {
    return verdictWith('NoRequesters', {
      situation: 'HandingOver',
      sentence: 'The last requester has left',
      waitsFor: 'The cancellation, which the operator writes',
    });
  }
  if (active === null) return nobodyAsked(request, nowMs);
  const turn = turnOf(request, active, options);
  return active === IMPERATIVE_EVICTION
    ? evicting(turn, nowMs)
    : intercepting(request, turn, nowMs);
};
