/**
 * What an EvictionRequest waits for, and the status that follows from the facts (ER-43 to ER-61).
 *
 * Promises: one interceptor at a time is active, in the order that the first sync froze;
 * `processed` only grows; nothing is active after a final condition; the end of the pod wins over a
 * cancellation; nothing but the facts and the time is needed.
 */
import {
  type Heartbeat,
  interceptorClock,
  type InterceptorTiming,
  silenceText,
} from './interceptor-deadline.ts';
import {
  type ControlledStatus,
  isFinal,
  type ObservedRequest,
  type RequestCondition,
} from './observed-request.ts';
import { IMPERATIVE_EVICTION } from './qualified-name.ts';
import { EVICTION_REQUEST_LIMITS } from './request-limits.ts';
import type { EvictionRequestReason } from './request-reasons.ts';
import { rfc3339Seconds } from '../time.ts';
import type { TargetPod } from './target-pod.ts';

/** How long a pod's interceptor may report after the end of the pod (ER-52). */
const LAST_REPORT_GRACE_MS = 5000;

/** What is known of a request and its pod. */
export interface RequestFacts {
  readonly request: ObservedRequest;
  /** The pod of that name; null when there is none. */
  readonly pod: TargetPod | null;
  /** This process has observed the pod that is requested. */
  readonly podSeen: boolean;
  /** When the pod was first observed gone or finished; null while it runs. */
  readonly endedMs: number | null;
  /** The last heartbeat of the active interceptor that counted. */
  readonly heartbeat: Heartbeat | null;
}

/** What the status of a request says that it waits for. */
export type RequestPhase =
  /** Canceled or Evicted. */
  | 'Final'
  /** An interceptor acts and reports. */
  | 'Intercepting'
  /** It does not report. */
  | 'Silent'
  /** The imperative eviction is active. */
  | 'Evicting'
  /** The pod leaves or has left; its interceptor may report until it is gone. */
  | 'Leaving'
  /** Every interceptor has acted, and the pod remains. */
  | 'Processed';

/** Something to record as an Event once the status has it. */
export interface RequestNote {
  readonly reason: EvictionRequestReason;
  readonly text: string;
}

/** What follows from the facts. */
export interface RequestStep {
  readonly phase: RequestPhase;
  /** The status that the request should have. */
  readonly status: ControlledStatus;
  readonly notes: readonly RequestNote[];
  /** When time alone changes the step; null when it never does. */
  readonly checkAtMs: number | null;
}

/** What only the type of condition and its cause decide. */
type Cause = Pick<RequestCondition, 'type' | 'status' | 'reason' | 'message'>;

/** The stored precision. */
const inSeconds = (ms: number): number => Math.floor(ms / 1000) * 1000;

/** A condition keeps its time while its status is the same. */
const withCondition = (
  conditions: readonly RequestCondition[],
  cause: Cause,
  nowMs: number,
): readonly RequestCondition[] => {
  const before = conditions.find(({ type }) => type === cause.type);
  const sinceMs = before?.status === cause.status ? before.sinceMs : inSeconds(nowMs);
  return [...conditions.filter(({ type }) => type !== cause.type), { ...cause, sinceMs }]
    .sort((left, right) => left.type < right.type ? -1 : 1);
};

const isSilentIn = (status: ControlledStatus): boolean =>
  status.conditions.some(({ type, status: holds }) =>
    type === 'InterceptorSilent' && holds === 'True'
  );

/** The early warning ends with the silence. */
const withoutSilence = (status: ControlledStatus, nowMs: number): ControlledStatus => {
  if (!isSilentIn(status)) return status;
  const cause = {
    type: 'InterceptorSilent',
    status: 'False',
    reason: 'InterceptorActive',
    message: '',
  } as const;
  return { ...status, conditions: withCondition(status.conditions, cause, nowMs) };
};

/** The active one, if any, has had its time: its entry stays as it is (ER-51). */
const deactivated = (status: ControlledStatus): ControlledStatus =>
  status.active === null ? status : {
    ...status,
    active: null,
    processed: [...status.processed, status.active],
  };

/** The request ends: nothing is active any more. */
const ended = (
  status: ControlledStatus,
  cause: Omit<Cause, 'status'> & RequestNoteReason,
  nowMs: number,
): RequestStep => ({
  phase: 'Final',
  status: {
    ...deactivated(withoutSilence(status, nowMs)),
    conditions: withCondition(
      withoutSilence(status, nowMs).conditions,
      { ...cause, status: 'True' },
      nowMs,
    ),
  },
  notes: [{ reason: cause.reason, text: cause.message }],
  checkAtMs: null,
});

interface RequestNoteReason {
  readonly reason: EvictionRequestReason;
}

const canceled = (status: ControlledStatus, why: RequestNote, nowMs: number): RequestStep =>
  ended(status, { type: 'Canceled', reason: why.reason, message: why.text }, nowMs);

/** Why the pod counts as evicted; `undefined` while it runs. */
const endOf = ({ request, pod }: RequestFacts): RequestNote | undefined => {
  const { name } = request.pod;
  if (pod === null || pod.uid !== request.pod.uid) {
    return { reason: 'PodDeleted', text: `Pod "${name}" is gone` };
  }
  return pod.finished ? { reason: 'PodTerminal', text: `Pod "${name}" has finished` } : undefined;
};

/** Whether the pod has left or finished. */
export const hasEnded = (facts: RequestFacts): boolean => endOf(facts) !== undefined;

/** Why the request is not processed at all (ER-43 to ER-45); only before the first sync. */
const invalidity = ({ request, pod }: RequestFacts): RequestNote | undefined => {
  const { name } = request.pod;
  const reason = 'ValidationFailed';
  if (pod === null || pod.uid !== request.pod.uid) {
    return { reason, text: `Target Pod ${name} was not found.` };
  }
  if (!pod.grouped) return undefined;
  const text = `Target Pod ${name} is part of a Workload/PodGroup. ` +
    'Eviction of such pods is currently not supported.';
  return { reason, text };
};

/** All interceptors of a pod, frozen at the first sync (ER-55, ER-56). */
const targetsOf = ({ interceptors, defaults }: TargetPod): readonly string[] => {
  const own = interceptors.names;
  const added = defaults.filter((name) => !own.includes(name));
  const max = EVICTION_REQUEST_LIMITS.targetInterceptors - 1;
  return [...[...own, ...added].slice(0, max), IMPERATIVE_EVICTION];
};

const activationNote = (name: string, pod: TargetPod | null): RequestNote => {
  if (name !== IMPERATIVE_EVICTION) {
    return { reason: 'InterceptorActive', text: `Interceptor "${name}" is active` };
  }
  const unsupported = pod?.unsupported ?? '';
  return unsupported === ''
    ? { reason: 'ImperativeEviction', text: 'No interceptor is left: evicting the pod' }
    : { reason: 'EvictionUnsupported', text: `Not evicted: the pod ${unsupported}` };
};

/** The next one of the frozen list becomes active, if one is left (ER-57, ER-58). */
const activated = (
  status: ControlledStatus,
  pod: TargetPod | null,
  nowMs: number,
): RequestStep => {
  const next = status.targets[status.processed.length];
  if (next === undefined) return { phase: 'Processed', status, notes: [], checkAtMs: null };
  return {
    phase: next === IMPERATIVE_EVICTION ? 'Evicting' : 'Intercepting',
    status: {
      ...status,
      active: next,
      starts: { ...status.starts, [next]: inSeconds(nowMs) },
    },
    notes: [activationNote(next, pod)],
    checkAtMs: null,
  };
};

/** The inputs of a step besides the facts. */
export interface StepOptions {
  readonly nowMs: number;
  readonly timing: InterceptorTiming;
}

const firstSync = (
  status: ControlledStatus,
  pod: TargetPod,
  nowMs: number,
): RequestStep => {
  const step = activated({ ...status, targets: targetsOf(pod) }, pod, nowMs);
  const { problem } = pod.interceptors;
  if (problem === '') return step;
  return { ...step, notes: [{ reason: 'InterceptorsIgnored', text: problem }, ...step.notes] };
};

/** The active interceptor has finished or was passed over. */
const handedOver = (
  { facts, status, notes }: {
    readonly facts: RequestFacts;
    readonly status: ControlledStatus;
    readonly notes: readonly RequestNote[];
  },
  nowMs: number,
): RequestStep => {
  const step = activated(deactivated(withoutSilence(status, nowMs)), facts.pod, nowMs);
  return { ...step, notes: [...notes, ...step.notes] };
};

const waitsFor = (
  phase: RequestPhase,
  status: ControlledStatus,
  checkAtMs: number | null,
): RequestStep => ({ phase, status, notes: [], checkAtMs });

const silent = (
  status: ControlledStatus,
  { name, deadlineAtMs, nowMs }: {
    readonly name: string;
    readonly deadlineAtMs: number;
    readonly nowMs: number;
  },
): RequestStep => {
  const text = silenceText(name, deadlineAtMs);
  const cause = {
    type: 'InterceptorSilent',
    status: 'True',
    reason: 'InterceptorSilent',
    message: text,
  } as const;
  return {
    phase: 'Silent',
    status: { ...status, conditions: withCondition(status.conditions, cause, nowMs) },
    notes: isSilentIn(status) ? [] : [{ reason: 'InterceptorSilent', text }],
    checkAtMs: deadlineAtMs,
  };
};

/** One interceptor is active and the pod runs or terminates. */
const intercepted = (
  facts: RequestFacts,
  status: ControlledStatus & { readonly active: string },
  options: StepOptions,
): RequestStep => {
  const { request, pod } = facts;
  const { nowMs, timing } = options;
  const name = status.active;
  const report = request.reports.find((one) => one.name === name);
  if ((report?.completionMs ?? null) !== null) {
    // Its work is done, and the pod goes: nobody else has to act (ER-58).
    return pod?.terminating === true
      ? waitsFor('Leaving', withoutSilence(status, nowMs), null)
      : handedOver({ facts, status, notes: [] }, nowMs);
  }
  // The evictor is this controller: its own outage passes it over for nobody.
  if (name === IMPERATIVE_EVICTION) return waitsFor('Evicting', status, null);
  const { warnAtMs, deadlineAtMs, plausibleAtMs } = interceptorClock(
    report,
    { createdMs: request.createdMs, nowMs, before: facts.heartbeat },
    timing,
  );
  if (nowMs >= deadlineAtMs) {
    const text = `Interceptor "${name}" has not reported since ` +
      `${rfc3339Seconds(deadlineAtMs - timing.deadlineMs)}: the next one takes over`;
    const notes = [{ reason: 'InterceptorTimedOut', text }] as const;
    return handedOver({ facts, status, notes }, nowMs);
  }
  if (nowMs >= warnAtMs) {
    const step = silent(status, { name, deadlineAtMs, nowMs });
    return { ...step, checkAtMs: Math.min(deadlineAtMs, plausibleAtMs ?? deadlineAtMs) };
  }
  const checkAtMs = Math.min(warnAtMs, plausibleAtMs ?? warnAtMs, deadlineAtMs);
  return waitsFor('Intercepting', withoutSilence(status, nowMs), checkAtMs);
};

/** The interceptor that may still report after the end of the pod (ER-52). */
const mayReport = ({ request: { status, reports } }: RequestFacts): boolean => {
  const { active } = status;
  if (active === null || active === IMPERATIVE_EVICTION) return false;
  return (reports.find(({ name }) => name === active)?.completionMs ?? null) === null;
};

/** The pod has left or finished: final, once its interceptor has had time to report. */
const endedStep = (
  facts: RequestFacts,
  { status, end }: { readonly status: ControlledStatus; readonly end: RequestNote },
  nowMs: number,
): RequestStep => {
  const graceEndMs = (facts.endedMs ?? nowMs) + LAST_REPORT_GRACE_MS;
  if (mayReport(facts) && nowMs < graceEndMs) return waitsFor('Leaving', status, graceEndMs);
  return ended(status, { type: 'Evicted', reason: end.reason, message: end.text }, nowMs);
};

/** What follows from the facts at `nowMs`. */
export const requestStep = (facts: RequestFacts, options: StepOptions): RequestStep => {
  const { request, pod } = facts;
  const { nowMs } = options;
  // A final request is left alone (ER-46, ER-53).
  if (isFinal(request)) return waitsFor('Final', request.status, null);
  const isFirst = request.status.observedGeneration === 0;
  const status = { ...request.status, observedGeneration: request.generation };
  const invalid = isFirst ? invalidity(facts) : undefined;
  if (invalid !== undefined) return canceled(status, invalid, nowMs);
  const end = endOf(facts);
  if (end !== undefined) return endedStep(facts, { status, end }, nowMs);
  if (request.requesters.length === 0) {
    const text = 'No requester is left';
    return canceled(status, { reason: 'NoRequesters', text }, nowMs);
  }
  if (pod !== null && status.targets.length === 0) return firstSync(status, pod, nowMs);
  const { active } = status;
  return active === null
    ? activated(status, pod, nowMs)
    : intercepted(facts, { ...status, active }, options);
};

/**
 * Whether the pod counts as gone although it was never observed: it may be newer than the cache, so
 * the API server is asked before the request ends by it.
 */
export const isGoneUnseen = ({ request, pod, podSeen }: RequestFacts): boolean =>
  !podSeen && pod?.uid !== request.pod.uid;

/** Whether the Eviction API may be called for the pod (ER-65 to ER-67, ER-73). */
export const mayEvict = ({ request, pod }: RequestFacts): boolean => {
  const { status, requesters, deleting } = request;
  return status.active === IMPERATIVE_EVICTION && !deleting && !isFinal(request) &&
    requesters.length > 0 && status.processed.length === status.targets.length - 1 &&
    pod !== null && pod.uid === request.pod.uid &&
    !pod.terminating && !pod.finished && pod.unsupported === '';
};
