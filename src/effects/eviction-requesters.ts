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
import type { EvictionsApi } from '../domain/native-evictions/evictions-api.ts';
import {
  nativeRequestName,
  nativeWantedBody,
  ownNativeRequest,
} from '../domain/native-evictions/writes.ts';
import { evictionRequestPath, nativeRequestPath } from './evictions-api.ts';
import { type KubeAnswer, KubeApi, type KubeFault } from './kube-api.ts';
import { readRequest } from './request-reads.ts';
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
const observed = (
  { api, pod }: Requesting,
): Asking<ObservedRequest | undefined | RequesterOutcome> =>
  readRequest(api, pod.namespace, pod.uid).pipe(
    Effect.map((read) => {
      if (read._tag === 'Refused') return refused(read.why);
      return read._tag === 'Found' ? read.request : undefined;
    }),
  );

/** Who asks for what, and in which API. */
export interface Requesting {
  readonly api: EvictionsApi;
  readonly pod: RequestedPod;
  readonly requester: string;
}

const applied = (path: string, requester: string, body: object): Asking<KubeAnswer> =>
  KubeApi.use((api) =>
    api.call({
      ...applyCall(path, body, { fieldManager: requesterManager(requester), force: false }),
      timeoutMs: TIMEOUT_MS,
    })
  );

const deleted = (path: string, uid: string): Asking<KubeAnswer> =>
  KubeApi.use((api) =>
    api.call({
      method: 'DELETE',
      path,
      body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } },
      timeoutMs: TIMEOUT_MS,
    })
  );

/** Adds what the requester wants. */
const joined = ({ api, pod, requester }: Requesting): Asking<KubeAnswer> =>
  api === 'native'
    ? applied(
      nativeRequestPath(pod.namespace, nativeRequestName(pod.uid, requester)),
      requester,
      nativeWantedBody(pod, requester),
    )
    : applied(
      evictionRequestPath(pod.namespace, pod.uid),
      requester,
      wantedBody(pod, requester),
    );

/** Deletes a request that has ended; of several objects, the one of the requester. */
const removed = (
  { api, requester }: Requesting,
  request: ObservedRequest,
): Asking<KubeAnswer> => {
  const { namespace, name, uid } = request;
  if (api === 'tidegate') return deleted(evictionRequestPath(namespace, name), uid);
  const own = ownNativeRequest(request, requester);
  return own === undefined
    ? Effect.succeed({ status: ABSENT, body: {} })
    : deleted(nativeRequestPath(namespace, own.name), own.uid);
};

const CREATED = 201;
const CONFLICT = 409;
const ABSENT = 404;

const storedAs = (
  request: ObservedRequest | undefined,
  change: RequesterChange,
): RequesterOutcome =>
  request === undefined
    ? refused('the answer of the API server is not an EvictionRequest')
    : { _tag: 'Stored', change, request };

/** The request after a change; one of several objects is read again. */
const storedIn = (
  requesting: Requesting,
  answer: KubeAnswer,
  change: RequesterChange,
): Asking<RequesterOutcome> =>
  requesting.api === 'tidegate'
    ? Effect.succeed(storedAs(projectEvictionRequest(answer.body), change))
    : Effect.map(
      observed(requesting),
      (now) => now !== undefined && '_tag' in now ? now : storedAs(now, change),
    );

const changeOf = (
  answer: KubeAnswer,
  { wasReplaced, before, requester }: {
    readonly wasReplaced: boolean;
    readonly before: ObservedRequest | undefined;
    readonly requester: string;
  },
): RequesterChange => {
  if (answer.status === CREATED && before === undefined) {
    return wasReplaced ? 'Replaced' : 'Created';
  }
  return before?.requesters.includes(requester) === true ? 'AlreadyRequested' : 'Joined';
};

/** The request gets no requesters any more. */
const isEnding = ({ requesters, deleting }: ObservedRequest): boolean =>
  deleting || requesters.length === 0;

/** Requests that the pod leaves. */
export const requestEviction = (requesting: Requesting): Asking<RequesterOutcome> =>
  Effect.gen(function* () {
    let wasReplaced = false;
    for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
      const current = yield* observed(requesting);
      if (current !== undefined && '_tag' in current) return current;
      if (current !== undefined && !current.deleting && isFinal(current)) {
        const answer = yield* removed(requesting, current);
        if (!isGood(answer) && answer.status !== ABSENT && answer.status !== CONFLICT) {
          return refusalOf(answer);
        }
        wasReplaced = true;
      } else if (current !== undefined && isEnding(current)) {
        yield* Effect.sleep(LOOK_MS);
      } else {
        const answer = yield* joined(requesting);
        const { requester } = requesting;
        if (isGood(answer)) {
          const change = changeOf(answer, { wasReplaced, before: current, requester });
          return yield* storedIn(requesting, answer, change);
        }
        const now = yield* observed(requesting);
        const hasEnded = now !== undefined && !('_tag' in now) && (isFinal(now) || isEnding(now));
        if (!hasEnded) return refusalOf(answer);
      }
    }
    return refused('the request of this pod is being canceled, and its operator does not end it');
  });

/** The field managers that an entry has, other than its requester's own. */
const STILL_OWNED = 'another field manager keeps the entry of this requester: remove it as that ' +
  'manager, or delete the EvictionRequest';

const OTHERS_OBJECT = refused(
  'the EvictionRequest of this requester was not created by this command: delete it yourself',
);

/** Withdraws: the pod may stay as far as this requester is concerned. */
export const withdrawEviction = (requesting: Requesting): Asking<RequesterOutcome> =>
  Effect.gen(function* () {
    const { api, pod, requester } = requesting;
    const current = yield* observed(requesting);
    if (current === undefined) return { _tag: 'NotRequested' };
    if ('_tag' in current) return current;
    if (isFinal(current) || !current.requesters.includes(requester)) {
      return { _tag: 'NotRequested' };
    }
    if (api === 'native') {
      const answer = yield* removed(requesting, current);
      if (!isGood(answer)) return answer.status === ABSENT ? OTHERS_OBJECT : refusalOf(answer);
      const requesters = current.requesters.filter((name) => name !== requester);
      return storedAs({ ...current, requesters }, 'Withdrawn');
    }
    const path = evictionRequestPath(pod.namespace, pod.uid);
    const answer = yield* applied(path, requester, withdrawnBody(pod, current.uid));
    if (!isGood(answer)) return refusalOf(answer);
    const outcome = yield* storedIn(requesting, answer, 'Withdrawn');
    return outcome._tag === 'Stored' && outcome.request.requesters.includes(requester)
      ? refused(STILL_OWNED)
      : outcome;
  });
