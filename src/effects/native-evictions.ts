/**
 * Writes the objects of `lifecycle.k8s.io` behind a request of the core.
 *
 * Promises: requesters learn of a status before the Eviction has it, so that a crash between the
 * writes is noticed; an Eviction that another controller created meanwhile is not taken over; a
 * deletion names the UID that it means.
 */
import { Effect } from 'effect';
import type {
  RequesterBasis,
  RequesterWrite,
} from '../domain/eviction-requests/drain-requester.ts';
import {
  type ControlledStatus,
  CONTROLLER_MANAGER,
  type ObservedRequest,
} from '../domain/eviction-requests/observed-request.ts';
import { IMPERATIVE_EVICTION } from '../domain/eviction-requests/qualified-name.ts';
import type { RequestWrite } from '../domain/eviction-requests/request-writes.ts';
import { requesterManager } from '../domain/eviction-requests/requester.ts';
import {
  type JoinedRequest,
  nativeObjectsOf,
  newest,
  nextEvictionName,
  requestOf,
} from '../domain/native-evictions/joined-request.ts';
import {
  type NativeEviction,
  type NativeRequest,
  projectNativeEviction,
  projectNativeRequest,
} from '../domain/native-evictions/objects.ts';
import {
  endsWithoutEviction,
  evictionBody,
  evictionStatusBody,
  mirrorBodies,
  nativeReportBody,
  nativeRequestName,
  nativeWantedBody,
  ownNativeRequest,
} from '../domain/native-evictions/writes.ts';
import type { WriteOutcome } from '../domain/object-write.ts';
import { nativeEvictionPath, nativeRequestPath } from './evictions-api.ts';
import type { KubeApi } from './kube-api.ts';
import { objectSender, objectWrites } from './object-writes.ts';
import { forcedBy } from './server-side-apply.ts';
import type { Writes } from './writes.ts';

type Outcome = WriteOutcome<ObservedRequest>;
type Failure = Exclude<Outcome, { readonly _tag: 'Written' }>;

/** How these writes are sent. */
export interface NativeWriting {
  readonly api: KubeApi['Service'];
  readonly writes: Writes['Service'];
}

const isWritten = <Current>(
  outcome: WriteOutcome<Current>,
): outcome is Extract<WriteOutcome<Current>, { readonly _tag: 'Written' }> =>
  outcome._tag === 'Written';

/** The writes to both kinds of a namespace. */
const objectsIn = ({ api, writes }: NativeWriting, namespace: string) => ({
  send: objectSender(writes, 'eviction'),
  requests: objectWrites({
    path: nativeRequestPath(namespace),
    api,
    project: projectNativeRequest,
  }),
  evictions: objectWrites({
    path: nativeEvictionPath(namespace),
    api,
    project: projectNativeEviction,
  }),
});

type Objects = ReturnType<typeof objectsIn>;

/** The request with objects that a write returned. */
const renewed = (
  request: JoinedRequest,
  { eviction, requests }: {
    readonly eviction: NativeEviction | null;
    readonly requests: readonly NativeRequest[];
  },
): Outcome => {
  const current = requestOf(request.pod, { ...request.native, eviction, requests });
  const versions = [current.resourceVersion, request.resourceVersion];
  return { _tag: 'Written', current: { ...current, resourceVersion: newest(versions) } };
};

/** Writes what became of the pod to the objects of its requesters. */
const mirrored = (
  { send, requests: writesOf }: Objects,
  request: JoinedRequest,
  status: ControlledStatus,
): Effect.Effect<readonly NativeRequest[] | Failure> =>
  Effect.gen(function* () {
    const current = new Map(request.native.requests.map((one) => [one.name, one]));
    for (const { name, body } of mirrorBodies(request, status)) {
      const outcome = yield* send(writesOf.applyStatus(name, body, forcedBy(CONTROLLER_MANAGER)));
      if (isWritten(outcome)) current.set(name, outcome.current);
      // Its requester has deleted it meanwhile.
      else if (outcome._tag === 'Absent') current.delete(name);
      else return outcome;
    }
    return [...current.values()];
  });

const TAKEN: Failure = { _tag: 'Fault', why: 'another controller has created the Eviction' };

/** Creates the Eviction, or completes its labels and owners. */
const ensured = (
  { send, evictions }: Objects,
  request: JoinedRequest,
  status: ControlledStatus,
): Effect.Effect<NativeEviction | Failure> =>
  Effect.gen(function* () {
    const { eviction, evictionName } = request.native;
    const body = evictionBody(request, status);
    if (eviction !== null && body === undefined) return eviction;
    const outcome = yield* send(
      eviction === null
        ? evictions.create(body ?? {}, evictionName)
        : evictions.apply(evictionName, body ?? {}, forcedBy(CONTROLLER_MANAGER)),
    );
    if (!isWritten(outcome)) return outcome;
    const { current } = outcome;
    const isOurs = current.target.uid === request.pod.uid && !current.isServedByOther &&
      (eviction !== null || current.observedGeneration === 0);
    return isOurs ? current : TAKEN;
  });

const setStatus = (
  objects: Objects,
  request: JoinedRequest,
  status: ControlledStatus,
): Effect.Effect<Outcome> =>
  Effect.gen(function* () {
    const requests = yield* mirrored(objects, request, status);
    if ('_tag' in requests) return requests;
    if (endsWithoutEviction(request, status)) return renewed(request, { eviction: null, requests });
    const eviction = yield* ensured(objects, request, status);
    if ('_tag' in eviction) return eviction;
    const { uid, resourceVersion } = eviction;
    const body = evictionStatusBody(request, status, { uid, resourceVersion });
    const outcome = yield* objects.send(
      objects.evictions.applyStatus(eviction.name, body, forcedBy(CONTROLLER_MANAGER)),
    );
    return isWritten(outcome) ? renewed(request, { eviction: outcome.current, requests }) : outcome;
  });

/** Deletes everything about a request that has ended. */
const removed = (
  { send, requests, evictions }: Objects,
  { native }: JoinedRequest,
): Effect.Effect<Outcome> =>
  Effect.gen(function* () {
    for (const { name, uid } of native.requests) {
      const outcome = yield* send(requests.remove(name, uid));
      if (outcome._tag === 'Fault' || outcome._tag === 'Refused') return outcome;
    }
    const { eviction } = native;
    if (eviction === null) return { _tag: 'Absent' };
    const outcome = yield* send(evictions.remove(eviction.name, eviction.uid));
    return isWritten(outcome) ? { _tag: 'Absent' } : outcome;
  });

/** Performs one write of the controller. */
export const writeNative = (
  writing: NativeWriting,
  request: JoinedRequest,
  write: RequestWrite,
): Effect.Effect<Outcome> => {
  const objects = objectsIn(writing, request.namespace);
  const { eviction, requests } = request.native;
  switch (write.write) {
    case 'setStatus':
      return setStatus(objects, request, write.status);
    case 'report': {
      const body = nativeReportBody(request, write.report);
      const name = request.native.evictionName;
      return Effect.map(
        objects.send(objects.evictions.applyStatus(name, body, forcedBy(IMPERATIVE_EVICTION))),
        (outcome) =>
          isWritten(outcome) ? renewed(request, { eviction: outcome.current, requests }) : outcome,
      );
    }
    case 'remove':
      return removed(objects, request);
    case 'setLabels':
      // An Eviction has the names of its participants as labels, not those of the pod.
      return Effect.succeed(renewed(request, { eviction, requests }));
  }
};

/** Performs one write of a requester: its own object comes or goes. */
export const askNative = (
  writing: NativeWriting,
  { requester, pod, request }: RequesterBasis,
  { write }: RequesterWrite,
): Effect.Effect<Outcome> => {
  const { send, requests } = objectsIn(writing, pod.namespace);
  if (write !== 'join') {
    const own = request === null ? undefined : ownNativeRequest(request, requester);
    if (own === undefined) return Effect.succeed({ _tag: 'Absent' });
    return Effect.map(
      send(requests.remove(own.name, own.uid)),
      (outcome) => isWritten(outcome) ? { _tag: 'Absent' } : outcome,
    );
  }
  const name = nativeRequestName(pod.uid, requester);
  const options = { fieldManager: requesterManager(requester), force: false };
  return Effect.map(
    send(requests.apply(name, nativeWantedBody(pod, requester), options)),
    (outcome) => {
      if (!isWritten(outcome)) return outcome;
      const native = request === null ? undefined : nativeObjectsOf(request);
      const others = native?.requests.filter((one) => one.name !== name) ?? [];
      const current = requestOf({ name: pod.name, uid: pod.uid }, {
        eviction: native?.eviction ?? null,
        evictionName: native?.evictionName ?? nextEvictionName(pod.name, () => false),
        requests: [...others, outcome.current],
      });
      return { _tag: 'Written', current };
    },
  );
};
