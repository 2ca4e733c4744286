/**
 * What a requester applies to an EvictionRequest: its own entry, and nothing else (ER-74, ER-77).
 *
 * Promises: each requester has a field manager of its own, so that none removes the entry of
 * another; a request is never made anew by a requester that leaves.
 */
import { LIFECYCLE_GROUP_VERSION } from '../api-group.ts';
import { sha256Hex } from '../sha256.ts';

/** What the API server answers to a requester that joins after the last one has left (ER-16). */
export const REVIVAL_REFUSED = 'a canceled request cannot be revived';

/** The limit of the API server. */
const MANAGER_MAX = 128;
const HASH_DIGITS = 16;

/** The field manager of a requester: its name; the end of a longer one is a hash. */
export const requesterManager = (requester: string): string =>
  requester.length <= MANAGER_MAX
    ? requester
    : `${requester.slice(0, MANAGER_MAX - HASH_DIGITS - 1)}-${
      sha256Hex(requester).slice(0, HASH_DIGITS)
    }`;

/** The pod that is to leave. */
export interface RequestedPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

const requestBody = (
  { namespace, name, uid }: RequestedPod,
  metadata: object,
  requesters: readonly string[],
): object => ({
  apiVersion: LIFECYCLE_GROUP_VERSION,
  kind: 'EvictionRequest',
  metadata: { name: uid, namespace, ...metadata },
  spec: {
    target: { pod: { name, uid } },
    requesters: requesters.map((requester) => ({ name: requester })),
  },
});

/** What a requester applies that wants the pod to leave. */
export const wantedBody = (pod: RequestedPod, requester: string): object =>
  requestBody(pod, {}, [requester]);

/** What a requester applies that leaves the request of this UID. */
export const withdrawnBody = (pod: RequestedPod, requestUid: string): object =>
  requestBody(pod, { uid: requestUid }, []);
