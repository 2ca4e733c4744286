/**
 * Writes EvictionRequests by server-side apply.
 *
 * Promises: every write passes the write budget in class `eviction`; the status, the labels and the
 * report of the imperative eviction each have a field manager of their own, so that none touches
 * what another writer owns; a status is applied on the version that it was decided on, and a
 * conflict is a fault that is retried on the newer one; a deletion names the UID that it means.
 */
import { Context, Effect, Layer, Ref } from 'effect';
import {
  CONTROLLER_MANAGER,
  LABELS_MANAGER,
  type ObservedRequest,
  projectEvictionRequest,
} from '../domain/eviction-requests/observed-request.ts';
import type {
  RequesterBasis,
  RequesterWrite,
} from '../domain/eviction-requests/drain-requester.ts';
import { IMPERATIVE_EVICTION } from '../domain/eviction-requests/qualified-name.ts';
import {
  labelsBody,
  reportBody,
  type RequestWrite,
  statusBody,
} from '../domain/eviction-requests/request-writes.ts';
import {
  requesterManager,
  REVIVAL_REFUSED,
  wantedBody,
  withdrawnBody,
} from '../domain/eviction-requests/requester.ts';
import { listOrEmptyAt, textAt } from '../domain/json.ts';
import type { EvictionsApi, EvictionsApiOption } from '../domain/native-evictions/evictions-api.ts';
import { nativeObjectsOf } from '../domain/native-evictions/joined-request.ts';
import type { WriteOutcome } from '../domain/object-write.ts';
import {
  chooseApi,
  type ChosenApi,
  EVICTION_REQUESTS_PATH,
  evictionRequestPath,
  NATIVE_EVICTIONS_PATH,
  NATIVE_REQUESTS_PATH,
  servesApi,
} from './evictions-api.ts';
import { KubeApi } from './kube-api.ts';
import { askNative, writeNative } from './native-evictions.ts';
import { objectSender, objectWrites } from './object-writes.ts';
import { forcedBy } from './server-side-apply.ts';
import { Writes } from './writes.ts';

type Outcome = WriteOutcome<ObservedRequest>;

/** Whether EvictionRequests can be read. */
export type RequestsAccess = 'Granted' | 'NotServed' | 'Denied' | 'Unanswered';

/** EvictionRequests of the cluster. */
export class EvictionRequests extends Context.Service<EvictionRequests, {
  /** Performs one write on the request as it was observed. */
  readonly write: (request: ObservedRequest, write: RequestWrite) => Effect.Effect<Outcome>;
  /** Performs one write of a requester on the request as it was observed. */
  readonly ask: (basis: RequesterBasis, write: RequesterWrite) => Effect.Effect<Outcome>;
  /** Chooses the API for this process; before, it is our own. */
  readonly choose: (option: EvictionsApiOption) => Effect.Effect<ChosenApi>;
  /** Whether the API server serves our own; an API server that does not answer may. */
  readonly areServed: Effect.Effect<boolean>;
  /** Whether this process may read them. */
  readonly access: Effect.Effect<RequestsAccess>;
}>()('tidegate/EvictionRequests') {}

const DISCOVERY_TIMEOUT_MS = 15_000;

/** The collections of each API. */
const COLLECTIONS: Readonly<Record<EvictionsApi, readonly string[]>> = {
  tidegate: [EVICTION_REQUESTS_PATH],
  native: [NATIVE_REQUESTS_PATH, NATIVE_EVICTIONS_PATH],
};

const accessBy = (status: number): RequestsAccess => {
  if (status === 404) return 'NotServed';
  if (status === 401 || status === 403) return 'Denied';
  return status === 200 ? 'Granted' : 'Unanswered';
};

/** To an apply, 404 means that the kind or the namespace is missing: no retry cures it soon. */
const withoutKind = (outcome: Outcome): Outcome =>
  outcome._tag === 'Fault' && outcome.why.startsWith('404 ')
    ? { _tag: 'Refused', why: outcome.why }
    : outcome;

/** The last requester has left meanwhile: the watch brings that, and the request is made anew. */
const withoutRevival = (outcome: Outcome): Outcome =>
  outcome._tag === 'Refused' && outcome.why.includes(REVIVAL_REFUSED)
    ? { _tag: 'Fault', why: outcome.why }
    : outcome;

/** Writes only once the API server itself has no pod of that name and UID. */
const unlessPodExists = (
  api: KubeApi['Service'],
  { namespace, pod }: Pick<ObservedRequest, 'namespace' | 'pod'>,
  write: Effect.Effect<Outcome>,
): Effect.Effect<Outcome> =>
  api.call({
    method: 'GET',
    path: `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`,
    // A list needs no right besides those of the informer.
    query: { fieldSelector: `metadata.name=${pod.name}` },
  }).pipe(
    Effect.flatMap(({ status, body }): Effect.Effect<Outcome> => {
      if (status !== 200) return faulty(`reading pod "${pod.name}" was answered with ${status}`);
      const exists = listOrEmptyAt(body, 'items')
        .some((one) => textAt(one, 'metadata', 'uid') === pod.uid);
      return exists ? faulty(`pod "${pod.name}" exists and is not observed yet`) : write;
    }),
    Effect.catch(({ why }) => faulty(why)),
  );

const faulty = (why: string): Effect.Effect<Outcome> => Effect.succeed({ _tag: 'Fault', why });

/** EvictionRequests on a real API server. */
export const evictionRequestsLayer: Layer.Layer<EvictionRequests, never, KubeApi | Writes> = Layer
  .effect(
    EvictionRequests,
    Effect.gen(function* () {
      const [api, writes] = [yield* KubeApi, yield* Writes];
      const objectsIn = (namespace: string) =>
        objectWrites({
          path: evictionRequestPath(namespace),
          api,
          project: projectEvictionRequest,
        });
      const send = objectSender(writes, 'eviction');
      const chosen = yield* Ref.make<EvictionsApi>('tidegate');
      const accessTo = (path: string) =>
        api.call({ method: 'GET', path, query: { limit: '1' }, timeoutMs: DISCOVERY_TIMEOUT_MS })
          .pipe(
            Effect.map(({ status }) => accessBy(status)),
            Effect.catch(() => Effect.succeed('Unanswered' as const)),
          );
      const askOwn = ({ requester, pod, request }: RequesterBasis, { write }: RequesterWrite) => {
        const objects = objectsIn(pod.namespace);
        if (write === 'remove') return send(objects.remove(pod.uid, request?.uid ?? ''));
        const body = write === 'join' || request === null
          ? wantedBody(pod, requester)
          : withdrawnBody(pod, request.uid);
        const applied = objects.apply(pod.uid, body, {
          fieldManager: requesterManager(requester),
          force: false,
        });
        return send(applied);
      };
      const writeOwn = (request: ObservedRequest, write: RequestWrite) => {
        const objects = objectsIn(request.namespace);
        const { name } = request;
        switch (write.write) {
          case 'setStatus': {
            const body = statusBody(request, write.status);
            return send(objects.applyStatus(name, body, forcedBy(CONTROLLER_MANAGER)));
          }
          case 'setLabels': {
            const body = labelsBody(request, write.labels);
            return send(objects.apply(name, body, forcedBy(LABELS_MANAGER)));
          }
          case 'report': {
            const body = reportBody(request, write.report);
            return send(objects.applyStatus(name, body, forcedBy(IMPERATIVE_EVICTION)));
          }
          case 'remove':
            return send(objects.remove(name, request.uid));
        }
      };
      return {
        choose: (option) =>
          chooseApi(option).pipe(
            Effect.provideService(KubeApi, api),
            Effect.tap((choice) => Ref.set(chosen, choice.api)),
          ),
        areServed: Effect.provideService(servesApi('tidegate'), KubeApi, api),
        access: Effect.flatMap(Ref.get(chosen), (one) => Effect.all(COLLECTIONS[one].map(accessTo)))
          .pipe(Effect.map((all) => all.find((one) => one !== 'Granted') ?? 'Granted')),
        ask: (basis, act) =>
          Effect.flatMap(
            Ref.get(chosen),
            (one) => one === 'native' ? askNative({ api, writes }, basis, act) : askOwn(basis, act),
          ).pipe(Effect.map((outcome) => withoutRevival(withoutKind(outcome)))),
        write: (request, write) => {
          const native = nativeObjectsOf(request);
          const sent = native === undefined
            ? writeOwn(request, write)
            : writeNative({ api, writes }, { ...request, native }, write);
          const isDoubted = write.write === 'setStatus' && write.unlessPodExists;
          return isDoubted ? unlessPodExists(api, request, sent) : sent;
        },
      };
    }),
  );
