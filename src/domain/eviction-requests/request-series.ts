/**
 * What the metrics of one EvictionRequest show (ER-82).
 *
 * Promises: numbers, and the name of at most one interceptor, so that a request has a fixed number
 * of series; a final request has none.
 */
import { isFinal, type ObservedRequest } from './observed-request.ts';

/** The labels of all series of a request. */
export interface RequestLabels {
  readonly namespace: string;
  readonly evictionrequest: string;
  /** The name of the pod. */
  readonly target: string;
}

/** The values of a request. */
export interface RequestSeries {
  readonly labels: RequestLabels;
  readonly createdSeconds: number;
  /** Refused evictions, also of earlier processes. */
  readonly refusals: number;
  readonly active: string | null;
  readonly processed: number;
  readonly requesters: number;
}

/** What the metrics show of an open request; null when it is final. */
export const requestSeries = (
  request: ObservedRequest,
  refusals: number,
): RequestSeries | null => {
  if (isFinal(request)) return null;
  const { namespace, name, pod, status, requesters, createdMs } = request;
  return {
    labels: { namespace, evictionrequest: name, target: pod.name },
    createdSeconds: createdMs / 1000,
    refusals,
    active: status.active,
    processed: status.processed.length,
    requesters: requesters.length,
  };
};
