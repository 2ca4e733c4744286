/**
 * Compares a pod's demand with its requests and decides the pending write.
 *
 * Promises: a pod that counts as demand ends with exactly one request, preferably the one with the
 * pod's own name for it; other pods end with none. Requests of a deleted pod are left to the
 * garbage collector until they are overdue. Terminating requests are left alone.
 */
import { objectKey } from '../ids.ts';
import { type OwnedRequest, podRequestPatch, type RequestedPod } from './owned-request.ts';
import { requestName } from './pod-request.ts';
import type { RequestText } from './request-text.ts';

/** The wanted state of a pod's requests. */
export type RequestsStatus =
  /** The pod counts as demand. */
  | 'Wanted'
  /** The pod exists and is no demand: it has finished, or is excluded. */
  | 'Unwanted'
  /** The pod is gone; the garbage collector deletes its requests. */
  | 'Gone'
  /** The pod is gone, and the garbage collector has not deleted its requests. */
  | 'Overdue';

/** The facts about the requests of one pod. */
export interface DemandFacts {
  readonly status: RequestsStatus;
  /** The demand of the pod; empty unless wanted. */
  readonly text: RequestText;
  /** The pod's existing requests, by key. */
  readonly requests: readonly OwnedRequest[];
}

/** A write, as metrics name it. */
export type RequestWrite = 'create' | 'update' | 'stamp' | 'delete';

/** The next write and its request; null for a creation. */
export interface PendingRequestWrite {
  readonly write: RequestWrite;
  readonly request: OwnedRequest | null;
}

/** The key of a request that we create for the pod. */
const requestKey = ({ namespace, name, uid }: RequestedPod) =>
  objectKey(requestName(name, uid), namespace);

/** The request to keep: the one with the pod's own name for it, or else the first. */
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

/** The pending write; `undefined` when the cluster is in the wanted state. */
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
