/**
 * Whether the requests of a pod say what the pod asks for, and which write is pending.
 *
 * Promises: a pod that is demand ends with exactly one request, the one that has the pod's own name
 * for it before any other; a pod that is none ends with none. The requests of a pod that is gone
 * are left to the garbage collector until they are overdue. What waits for its finalizers is left
 * alone.
 */
import { objectKey } from '../ids.ts';
import { type OwnedRequest, podRequestPatch, type RequestedPod } from './owned-request.ts';
import { requestName } from './pod-request.ts';
import type { RequestText } from './request-text.ts';

/** What is to become of the requests of a pod. */
export type RequestsStatus =
  /** The pod is demand. */
  | 'Wanted'
  /** The pod is there and is no demand: it has finished, or does not count. */
  | 'Unwanted'
  /** The pod is gone, and its requests with it by the garbage collector. */
  | 'Gone'
  /** The pod is gone, and the garbage collector has not taken its requests. */
  | 'Overdue';

/** What is known of the requests of one pod. */
export interface DemandFacts {
  readonly status: RequestsStatus;
  /** What the pod asks for; empty unless it is wanted. */
  readonly text: RequestText;
  /** Those of the pod that the cluster shows, by key. */
  readonly requests: readonly OwnedRequest[];
}

/** A write, as metrics call it. */
export type RequestWrite = 'create' | 'update' | 'stamp' | 'delete';

/** The next write, and the request that it is about; none is there to be created. */
export interface PendingRequestWrite {
  readonly write: RequestWrite;
  readonly request: OwnedRequest | null;
}

/** The key that the request of a pod has when we make it. */
const requestKey = ({ namespace, name, uid }: RequestedPod) =>
  objectKey(requestName(name, uid), namespace);

/** The one request that stays: the one with the pod's own name for it, or else the first. */
const keptOf = (pod: RequestedPod, requests: readonly OwnedRequest[]): OwnedRequest | undefined => {
  const key = requestKey(pod);
  return requests.find((request) => request.key === key) ?? requests[0];
};

const pending = (write: RequestWrite, request: OwnedRequest | null): PendingRequestWrite => ({
  write,
  request,
});

const deletion = (requests: readonly OwnedRequest[]): PendingRequestWrite | undefined => {
  const next = requests.find(({ deleting }) => !deleting);
  return next === undefined ? undefined : pending('delete', next);
};

/** The write that is pending; `undefined` when the cluster shows what is to be. */
export const pendingRequestWrite = (
  pod: RequestedPod,
  facts: DemandFacts,
): PendingRequestWrite | undefined => {
  const { status, text, requests } = facts;
  switch (status) {
    case 'Gone':
      return undefined;
    case 'Unwanted':
    case 'Overdue':
      return deletion(requests);
    case 'Wanted': {
      const kept = keptOf(pod, requests);
      if (kept === undefined) return pending('create', null);
      if (kept.deleting) return undefined;
      if (podRequestPatch(pod, kept, text) !== undefined) return pending('update', kept);
      if (kept.phase === '') return pending('stamp', kept);
      return deletion(requests.filter((request) => request !== kept));
    }
  }
};
