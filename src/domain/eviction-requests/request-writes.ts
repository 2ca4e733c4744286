/**
 * The writes to an EvictionRequest: what each field manager applies (server-side apply).
 *
 * Promises: the controller applies its own part of the status and never an interceptor's entry
 * beyond name and start; the imperative eviction applies its entry alone; labels have a manager of
 * their own, so that a label that left the pod leaves the request (ER-64). A status is applied on
 * the version that it was decided on. Two writes of the status are a second apart.
 */
import { LIFECYCLE_GROUP_VERSION } from '../api-group.ts';
import { sameJson } from '../json-equality.ts';
import { storedConditionBody } from '../stored-condition.ts';
import { rfc3339Seconds } from '../time.ts';
import {
  type EvictionProgress,
  type ImperativeReport,
  refusalMessage,
  type ReportBasis,
  reportDueMs,
  reportNow,
} from './imperative-report.ts';
import { type ControlledStatus, isFinal, type ObservedRequest } from './observed-request.ts';
import { IMPERATIVE_EVICTION } from './qualified-name.ts';
import {
  isGoneUnseen,
  type RequestFacts,
  type RequestNote,
  type RequestStep,
} from './request-phase.ts';

/** The least time between two writes to the status of one request. */
export const STATUS_SPACING_MS = 1000;

/** The next write towards the wanted request. */
export type RequestWrite =
  | {
    readonly write: 'setStatus';
    readonly status: ControlledStatus;
    readonly notes: readonly RequestNote[];
    /** The status says that the pod is gone: written only when the API server has none either. */
    readonly unlessPodExists: boolean;
  }
  | { readonly write: 'setLabels'; readonly labels: Readonly<Record<string, string>> }
  | { readonly write: 'report'; readonly report: ImperativeReport }
  | { readonly write: 'remove' };

/** Labels of the pod that the request lacks, or copied ones that the pod has lost (ER-63). */
const isLabelPending = ({ request, pod }: RequestFacts): boolean => {
  const { copiedLabels } = request;
  if (copiedLabels === null || pod === null || pod.uid !== request.pod.uid) return false;
  const isMissing = Object.entries(pod.labels)
    .some(([key, value]) => request.labels[key] !== value);
  return isMissing || copiedLabels.some((key) => !Object.hasOwn(pod.labels, key));
};

/** What a final request waits for before its deletion; null: it is never deleted. */
const expiryMs = ({ status }: ObservedRequest, ttlMs: number | null): number | null => {
  const since = status.conditions
    .filter(({ type, status: holds }) => type !== 'InterceptorSilent' && holds === 'True')
    .map(({ sinceMs }) => sinceMs);
  return ttlMs === null || since.length === 0 ? null : Math.max(...since) + ttlMs;
};

/** What the writes of a request follow from, besides its step. */
export interface WriteBasis {
  readonly progress: EvictionProgress;
  /** Refused calls before this process. */
  readonly refusedBefore: number;
  readonly reportedMs: number | null;
  /** When this process last wrote the status; null when the next write need not wait for it. */
  readonly statusWrittenMs: number | null;
  readonly nowMs: number;
  /** From the final condition to the deletion; null: never. */
  readonly ttlMs: number | null;
}

/** The write that is due, or when the next one is. */
export interface WritePlan {
  readonly write: RequestWrite | null;
  readonly checkAtMs: number | null;
}

/** What the imperative eviction says while it is active. */
const messageOf = (
  { pod }: RequestFacts,
  { progress, refusedBefore }: WriteBasis,
): string => {
  const unsupported = pod?.unsupported ?? '';
  const blocker = unsupported === '' ? progress.blocker : `The pod ${unsupported}; not evicted.`;
  return refusalMessage(refusedBefore + progress.refusals, blocker);
};

const reportPlan = (facts: RequestFacts, basis: WriteBasis): WritePlan => {
  const report = facts.request.reports.find(({ name }) => name === IMPERATIVE_EVICTION);
  const { nowMs, reportedMs } = basis;
  const due: ReportBasis = { report, message: messageOf(facts, basis), nowMs, reportedMs };
  const dueMs = reportDueMs(due);
  return dueMs > nowMs
    ? { write: null, checkAtMs: dueMs }
    : { write: { write: 'report', report: reportNow(due) }, checkAtMs: null };
};

const earlier = (left: number | null, right: number | null): number | null => {
  if (left === null || right === null) return left ?? right;
  return Math.min(left, right);
};

/** A write of the status waits until the last one is a second old; labels do not. */
const paced = (
  plan: WritePlan,
  { statusWrittenMs, nowMs }: Pick<WriteBasis, 'statusWrittenMs' | 'nowMs'>,
): WritePlan => {
  if (plan.write === null || statusWrittenMs === null) return plan;
  const freeMs = statusWrittenMs + STATUS_SPACING_MS;
  return freeMs <= nowMs ? plan : { write: null, checkAtMs: earlier(freeMs, plan.checkAtMs) };
};

/** The write that follows from a step; status first, then labels, then our own report. */
export const writePlan = (
  facts: RequestFacts,
  step: RequestStep,
  basis: WriteBasis,
): WritePlan => {
  const { request } = facts;
  if (request.deleting) return { write: null, checkAtMs: null };
  if (isFinal(request)) {
    const atMs = expiryMs(request, basis.ttlMs);
    return atMs !== null && atMs <= basis.nowMs
      ? { write: { write: 'remove' }, checkAtMs: null }
      : { write: null, checkAtMs: atMs };
  }
  if (!sameJson(step.status, request.status)) {
    const { status, notes } = step;
    const unlessPodExists = isGoneUnseen(facts);
    const write = { write: 'setStatus', status, notes, unlessPodExists } as const;
    return paced({ write, checkAtMs: step.checkAtMs }, basis);
  }
  if (isLabelPending(facts)) {
    return {
      write: { write: 'setLabels', labels: facts.pod?.labels ?? {} },
      checkAtMs: step.checkAtMs,
    };
  }
  if (step.phase !== 'Evicting') return { write: null, checkAtMs: step.checkAtMs };
  const plan = paced(reportPlan(facts, basis), basis);
  return { ...plan, checkAtMs: earlier(plan.checkAtMs, step.checkAtMs) };
};

/** The name of a write without its times. */
const writeKey = (write: RequestWrite): string => {
  if (write.write !== 'setStatus') return write.write;
  const { active, processed, conditions } = write.status;
  return JSON.stringify([active, processed, conditions.map(({ type, status }) => [type, status])]);
};

/** Whether a write is wanted again, but for its times: then it had no effect. */
export const isSameWrite = (wanted: RequestWrite | null, sent: RequestWrite | null): boolean =>
  wanted !== null && sent !== null && writeKey(wanted) === writeKey(sent);

const identified = ({ name, namespace, uid }: ObservedRequest, metadata: object = {}) => ({
  apiVersion: LIFECYCLE_GROUP_VERSION,
  kind: 'EvictionRequest',
  metadata: { name, namespace, uid, ...metadata },
});

const startOf = (status: ControlledStatus, name: string) => {
  const startMs = status.starts[name];
  return startMs === undefined ? { name } : { name, startTime: rfc3339Seconds(startMs) };
};

/** What the controller applies to the status. */
export const statusBody = (request: ObservedRequest, status: ControlledStatus): object => ({
  ...identified(request, { resourceVersion: request.resourceVersion }),
  status: {
    observedGeneration: status.observedGeneration,
    conditions: status.conditions.map(storedConditionBody),
    targetInterceptors: status.targets.map((name) => ({ name })),
    activeInterceptors: status.active === null ? [] : [status.active],
    processedInterceptors: status.processed,
    interceptors: status.targets.map((name) => startOf(status, name)),
  },
});

/** What the label manager applies. */
export const labelsBody = (
  request: ObservedRequest,
  labels: Readonly<Record<string, string>>,
): object => identified(request, { labels });

/** What the imperative eviction applies to the status. */
export const reportBody = (request: ObservedRequest, report: ImperativeReport): object => ({
  ...identified(request),
  status: {
    interceptors: [{
      name: IMPERATIVE_EVICTION,
      heartbeatTime: rfc3339Seconds(report.heartbeatMs),
      message: report.message,
    }],
  },
});
