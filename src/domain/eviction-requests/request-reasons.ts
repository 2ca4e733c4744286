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
  },
  InterceptorSilent: {
    type: 'Warning',
    action: 'InterceptEviction',
    sentence: 'The active interceptor does not report; at its deadline the next one takes over',
    canAct: 'application',
    runbook: 'interceptor-silent',
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
  ValidationFailed: {
    type: 'Warning',
    action: 'ReadEvictionRequest',
    sentence: 'The pod does not exist or cannot be evicted by itself, so the request is canceled',
    canAct: 'application',
    runbook: 'eviction-request-invalid',
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
