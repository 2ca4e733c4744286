/**
 * A requester of evictions: asks that a pod leaves, and withdraws.
 *
 * Promises: joins an open request; replaces a final one by a deletion that names its UID, so that
 * nobody's newer request is deleted; a request that is being canceled is waited for, because it
 * gets no requesters again (ER-16).
 */
import { Effect } from 'effect';
import {
  isFinal,
  type ObservedRequest,
  projectEvictionRequest,
} from '../domain/eviction-requests/observed-request.ts';
import {
  type RequestedPod,
  requesterManager,
  wantedBody,
  withdrawnBody,
} from '../domain/eviction-requests/requester.ts';
import { textAt } from '../domain/json.ts';
import { evictionRequestPath } from './eviction-requests.ts';
import { type KubeAnswer, KubeApi, type KubeFault } from './kube-api.ts';
import { readObject } from './object-reads.ts';
import { applyCall } from './server-side-apply.ts';

/** What a requester did. */
export type RequesterChange =
  | 'Created'
  /** The entry was added to the open request of others. */
  | 'Joined'
  /** A final request was deleted before. */
  | 'Replaced'
  /** The entry was there. */
  | 'AlreadyRequested'
  | 'Withdrawn';

/** How it ended. */
export type RequesterOutcome =
  | {
    readonly _tag: 'Stored';
    readonly change: RequesterChange;
    readonly request: ObservedRequest;
  }
  /** There is no such request, or it has no such requester; nothing to withdraw. */
  | { readonly _tag: 'NotRequested' }
  | { readonly _tag: 'Refused'; readonly why: string };

type Asking<Value> = Effect.Effect<Value, KubeFault, KubeApi>;

const TIMEOUT_MS = 15_000;
/** Between looks at a request that is about to end. */
const LOOK_MS = 1000;
/** Looks, and changes that another writer came before. */
const TRIES_MAX = 20;

const isGood = ({ status }: KubeAnswer): boolean => status >= 200 && status < 300;

const refused = (why: string): RequesterOutcome => ({ _tag: 'Refused', why });

const refusalOf = ({ status, body }: KubeAnswer): RequesterOutcome =>
  refused(textAt(body, 'message') ?? `HTTP status ${status}`);

/** The request of a pod; undefined without one. */
const observed = (pod: RequestedPod): Asking<ObservedRequest | undefined | RequesterOutcome> =>
  readObject(evictionRequestPath(pod.namespace, pod.uid)).pipe(
    Effect.map((read) => {
      if (read._tag === 'Refused') return refused(read.why);
      return read._tag === 'Found' ? projectEvictionRequest(read.object) : undefined;
    }),
  );

const applied = (pod: RequestedPod, requester: string, body: object): Asking<KubeAnswer> =>
  KubeApi.use((api) =>
    api.call({
      ...applyCall(evictionRequestPath(pod.namespace, pod.uid), body, {
        fieldManager: requesterManager(requester),
        force: false,
      }),
      timeoutMs: TIMEOUT_MS,
    })
  );

const removed = ({ namespace, name, uid }: ObservedRequest): Asking<KubeAnswer> =>
  KubeApi.use((api) =>
    api.call({
      method: 'DELETE',
      path: evictionRequestPath(namespace, name),
      body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } },
      timeoutMs: TIMEOUT_MS,
    })
  );

const CREATED = 201;
const CONFLICT = 409;
const ABSENT = 404;

const storedIn = (answer: KubeAnswer, change: RequesterChange): RequesterOutcome => {
  const request = projectEvictionRequest(answer.body);
  return request === undefined
    ? refused('the answer of the API server is not an EvictionRequest')
    : { _tag: 'Stored', change, request };
};

const changeOf = (
  answer: KubeAnswer,
  { wasReplaced, wasRequester }: {
    readonly wasReplaced: boolean;
    readonly wasRequester: boolean;
  },
): RequesterChange => {
  if (answer.status === CREATED) return wasReplaced ? 'Replaced' : 'Created';
  return wasRequester ? 'AlreadyRequested' : 'Joined';
};

/** The request gets no requesters any more. */
const isEnding = ({ requesters, deleting }: ObservedRequest): boolean =>
  deleting || requesters.length === 0;

/** Requests that the pod leaves. */
export const requestEviction = (
  pod: RequestedPod,
  requester: string,
): Asking<RequesterOutcome> =>
  Effect.gen(function* () {
    let wasReplaced = false;
    for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
      const current = yield* observed(pod);
      if (current !== undefined && '_tag' in current) return current;
      if (current !== undefined && !current.deleting && isFinal(current)) {
        const answer = yield* removed(current);
        if (!isGood(answer) && answer.status !== ABSENT && answer.status !== CONFLICT) {
          return refusalOf(answer);
        }
        wasReplaced = true;
      } else if (current !== undefined && isEnding(current)) {
        yield* Effect.sleep(LOOK_MS);
      } else {
        const answer = yield* applied(pod, requester, wantedBody(pod, requester));
        const wasRequester = current?.requesters.includes(requester) ?? false;
        if (isGood(answer)) {
          return storedIn(answer, changeOf(answer, { wasReplaced, wasRequester }));
        }
        const now = yield* observed(pod);
        const hasEnded = now !== undefined && !('_tag' in now) && (isFinal(now) || isEnding(now));
        if (!hasEnded) return refusalOf(answer);
      }
    }
    return refused('the request of this pod is being canceled, and its operator does not end it');
  });

/** The field managers that an entry has, other than its requester's own. */
const STILL_OWNED = 'another field manager keeps the entry of this requester: remove it as that ' +
  'manager, or delete the EvictionRequest';

/** Withdraws: the pod may stay as far as this requester is concerned. */
export const withdrawEviction = (
  pod: RequestedPod,
  requester: string,
): Asking<RequesterOutcome> =>
  Effect.gen(function* () {
    const current = yield* observed(pod);
    if (current === undefined) return { _tag: 'NotRequested' };
    if ('_tag' in current) return current;
    if (isFinal(current) || !current.requesters.includes(requester)) {
      return { _tag: 'NotRequested' };
    }
    const answer = yield* applied(pod, requester, withdrawnBody(pod, current.uid));
    if (!isGood(answer)) return refusalOf(answer);
    const outcome = storedIn(answer, 'Withdrawn');
    return outcome._tag === 'Stored' && outcome.request.requesters.includes(requester)
      ? refused(STILL_OWNED)
      : outcome;
  });
