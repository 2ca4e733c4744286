/** The reasons of EvictionRequests, a part of the registry in `src/api/reasons.ts`. */
import type { Reason } from '../reason.ts';

const registry = <const Entries extends Record<string, Reason>>(entries: Entries): Entries =>
  entries;

/** Why a request waits, how it ended, and what is wrong with it. */
export const EVICTION_REQUEST_REASONS = registry({
  InterceptorActive: {
    type: 'Normal',
    action: 'InterceptEviction',
    sentence: 'An interceptor was asked to let the pod leave',
    canAct: 'nobody',
    runbook: 'interceptor-slow',
  },
  InterceptorSilent: {
    type: 'Warning',
    action: 'InterceptEviction',
    sentence: 'The active interceptor does not report; at its deadline the next one takes over',
    canAct: 'application',
    runbook: 'interceptor-silent',
    change: 'Start the controller of the interceptor, or set its completionTime to skip it',
  },
  InterceptorTimedOut: {
    type: 'Warning',
    action: 'InterceptEviction',
    sentence: 'An interceptor reported nothing until its deadline and was passed over',
    canAct: 'application',
    runbook: 'interceptor-silent',
  },
  InterceptorsIgnored: {
    type: 'Warning',
    action: 'InterceptEviction',
    sentence: 'The pod names interceptors that are invalid, reserved, repeated or too many',
    canAct: 'application',
    runbook: 'interceptors-ignored',
  },
  ImperativeEviction: {
    type: 'Normal',
    action: 'EvictPod',
    sentence: 'No interceptor is left, so Tidegate evicts the pod through the Eviction API',
    canAct: 'nobody',
  },
  EvictionUnsupported: {
    type: 'Warning',
    action: 'EvictPod',
    sentence: 'Pods of DaemonSets and static pods are not evicted; the request stays open',
    canAct: 'application',
    runbook: 'eviction-unsupported',
    change: 'Remove the pod by its DaemonSet or its file, or withdraw the request',
  },
  AwaitingLastReport: {
    type: 'Normal',
    action: 'InterceptEviction',
    sentence: 'The pod is leaving; its interceptor may still report',
    canAct: 'nobody',
  },
  InterceptorsProcessed: {
    type: 'Normal',
    action: 'InterceptEviction',
    sentence: 'All interceptors have acted and the pod remains; the request stays open',
    canAct: 'nobody',
  },
  ImperativeEvictionBlocked: {
    type: 'Warning',
    action: 'EvictPod',
    sentence: 'No interceptor is left, and what blocks the eviction of the pod keeps it',
    canAct: 'application',
    runbook: 'blocked-by-budget',
    change: 'Let the budgets of the pod allow a disruption, or withdraw the request',
  },
  EvictionRequestUnserved: {
    type: 'Warning',
    action: 'ReadEvictionRequest',
    sentence: 'No operator with the role evictions serves the EvictionRequest',
    canAct: 'platform',
    runbook: 'eviction-request-unserved',
    change: 'Run an operator with the role evictions, or look at its logs',
  },
  ValidationFailed: {
    type: 'Warning',
    action: 'ReadEvictionRequest',
    sentence: 'The pod does not exist or cannot be evicted by itself, so the request is canceled',
    canAct: 'application',
    runbook: 'eviction-request-invalid',
    change: 'Request the eviction of a pod that exists and belongs to no group',
  },
  NoRequesters: {
    type: 'Normal',
    action: 'CancelEviction',
    sentence: 'The last requester has left, so the request is canceled',
    canAct: 'nobody',
  },
  PodDeleted: {
    type: 'Normal',
    action: 'EvictPod',
    sentence: 'The pod of the EvictionRequest is gone',
    canAct: 'nobody',
  },
  PodTerminal: {
    type: 'Normal',
    action: 'EvictPod',
    sentence: 'The pod of the EvictionRequest has finished',
    canAct: 'nobody',
  },
  EvictionRequestUnavailable: {
    type: 'Warning',
    action: 'EvictPod',
    sentence: 'The drain evicts pods without asking their interceptors, because it cannot',
    canAct: 'platform',
    runbook: 'eviction-request-unavailable',
    change: 'Run an operator with the role evictions and grant the drains their rights, or set ' +
      '--via evictions',
  },
  EvictionRequestEnding: {
    type: 'Normal',
    action: 'DeleteEvictionRequest',
    sentence: 'The drain waits until the EvictionRequest is final, to delete it',
    canAct: 'nobody',
  },
  EvictionRequestExpired: {
    type: 'Normal',
    action: 'DeleteEvictionRequest',
    sentence: 'The EvictionRequest was final for the configured time and is deleted',
    canAct: 'nobody',
  },
  EvictionRequestFailing: {
    type: 'Warning',
    action: 'WriteEvictionRequest',
    sentence: 'The EvictionRequest cannot be written; Tidegate retries with backoff',
    canAct: 'platform',
    runbook: 'eviction-request-failing',
  },
  EvictionRequestRefused: {
    type: 'Warning',
    action: 'WriteEvictionRequest',
    sentence: 'The API server refuses what Tidegate writes to the EvictionRequest',
    canAct: 'platform',
    runbook: 'eviction-request-failing',
  },
});

/** A reason of EvictionRequests. */
export type EvictionRequestReason = keyof typeof EVICTION_REQUEST_REASONS;
