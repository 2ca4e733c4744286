/**
 * Writes EvictionRequests by server-side apply.
 *
 * Promises: every write passes the write budget in class `eviction`; the status, the labels and the
 * report of the imperative eviction each have a field manager of their own, so that none touches
 * what another writer owns; a status is applied on the version that it was decided on, and a
 * conflict is a fault that is retried on the newer one; a deletion names the UID that it means.
 */
import { Context, Effect, Layer } from 'effect';
import { API_VERSION, LIFECYCLE_GROUP } from '../domain/api-group.ts';
import {
  CONTROLLER_MANAGER,
  LABELS_MANAGER,
  type ObservedRequest,
  projectEvictionRequest,
} from '../domain/eviction-requests/observed-request.ts';
import { IMPERATIVE_EVICTION } from '../domain/eviction-requests/qualified-name.ts';
import {
  labelsBody,
  reportBody,
  type RequestWrite,
  statusBody,
} from '../domain/eviction-requests/request-writes.ts';
import { listOrEmptyAt, textAt } from '../domain/json.ts';
import type { ApplyOutcome, WriteOutcome } from '../domain/object-write.ts';
import { KubeApi } from './kube-api.ts';
import { type ObjectRequest, objectWrites } from './object-writes.ts';
import { Writes } from './writes.ts';

const RESOURCE = 'evictionrequests';
const ROOT = `/apis/${LIFECYCLE_GROUP}/${API_VERSION}`;

/** The API path of EvictionRequests, in all namespaces. */
export const EVICTION_REQUESTS_PATH = `${ROOT}/${RESOURCE}`;

/** The API path of EvictionRequests in one namespace, or of one of them. */
export const evictionRequestPath = (namespace: string, name?: string): string => {
  const collection = `${ROOT}/namespaces/${encodeURIComponent(namespace)}/${RESOURCE}`;
  return name === undefined ? collection : `${collection}/${encodeURIComponent(name)}`;
};

type Outcome = WriteOutcome<ObservedRequest>;
type Counted = { readonly outcome: ApplyOutcome<ObservedRequest> };

/** EvictionRequests of the cluster. */
export class EvictionRequests extends Context.Service<EvictionRequests, {
  /** Performs one write on the request as it was observed. */
  readonly write: (request: ObservedRequest, write: RequestWrite) => Effect.Effect<Outcome>;
  /** Whether the API server serves them; an API server that does not answer may. */
  readonly areServed: Effect.Effect<boolean>;
}>()('tidegate/EvictionRequests') {}

const DISCOVERY_TIMEOUT_MS = 15_000;

/** Whether an APIResourceList has them. */
const hasResource = (body: unknown): boolean =>
  listOrEmptyAt(body, 'resources').some((one) => textAt(one, 'name') === RESOURCE);

/** Force: these fields are ours by contract, whoever wrote them before. */
const managedBy = (fieldManager: string) => ({ fieldManager, force: true });

/** A field of ours that another manager keeps in spite of force: retried. */
const withoutConflict = ({ outcome }: Counted): Outcome =>
  outcome._tag === 'Conflict'
    ? { _tag: 'Fault', why: `another field manager owns ${outcome.conflicts[0]?.field}` }
    : outcome;

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
      const send = <Answer extends Counted>({ call, outcomeOf }: ObjectRequest<Answer>) =>
        Effect.map(outcomeOf(writes.send('eviction', call)), withoutConflict);
      return {
        areServed: api.call({ method: 'GET', path: ROOT, timeoutMs: DISCOVERY_TIMEOUT_MS }).pipe(
          Effect.map(({ status, body }) =>
            status === 404 ? false : status !== 200 || hasResource(body)
          ),
          Effect.catch(() => Effect.succeed(true)),
        ),
        write: (request, write) => {
          const objects = objectsIn(request.namespace);
          const { name } = request;
          switch (write.write) {
            case 'setStatus': {
              const body = statusBody(request, write.status);
              return send(objects.applyStatus(name, body, managedBy(CONTROLLER_MANAGER)));
            }
            case 'setLabels': {
              const body = labelsBody(request, write.labels);
              return send(objects.apply(name, body, managedBy(LABELS_MANAGER)));
            }
            case 'report': {
              const body = reportBody(request, write.report);
              return send(objects.applyStatus(name, body, managedBy(IMPERATIVE_EVICTION)));
            }
            case 'remove':
              return send(objects.remove(name, request.uid));
          }
        },
      };
    }),
  );
