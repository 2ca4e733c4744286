/**
 * Reads single objects, for interactive commands.
 *
 * Promises: read-only; a refusal is one sentence.
 */
import { Effect } from 'effect';
import { textAt } from '../domain/json.ts';
import { KubeApi, type KubeFault } from './kube-api.ts';

/** The outcome of a read. */
export type ObjectRead =
  | { readonly _tag: 'Found'; readonly object: unknown }
  | { readonly _tag: 'Absent' }
  /** The API server refused the object: no permission, unknown resource, or an error. */
  | { readonly _tag: 'Refused'; readonly status: number; readonly why: string };

/** The timeout of one object. */
const READ_TIMEOUT_MS = 15_000;
/** The maximum number of Events per object; the API server keeps them for an hour. */
const EVENTS_MAX = 500;

/** A 404 for a missing object has its name in the details; one for an unknown path has not. */
const isUnknownKind = (body: unknown): boolean => textAt(body, 'details', 'name') === undefined;

/** Reads the object at `path`. */
export const readObject = (
  path: string,
  query?: Readonly<Record<string, string>>,
): Effect.Effect<ObjectRead, KubeFault, KubeApi> =>
  KubeApi.use((api) =>
    api.call({
      method: 'GET',
      path,
      timeoutMs: READ_TIMEOUT_MS,
      ...(query === undefined ? {} : { query }),
    })
  ).pipe(
    Effect.map(({ status, body }): ObjectRead => {
      if (status >= 200 && status < 300) return { _tag: 'Found', object: body };
      if (status === 404 && !isUnknownKind(body)) return { _tag: 'Absent' };
      const why = status === 404
        ? 'the API server does not serve this resource: its CRD is not installed'
        : textAt(body, 'message') ?? `HTTP status ${status}`;
      return { _tag: 'Refused', status, why };
    }),
  );

/** The object of an Event. */
export interface EventSubject {
  readonly kind: string;
  readonly name: string;
  /** The namespace of the Events: the object's, or `default` for a cluster-scoped one. */
  readonly namespace: string;
}

/** The EventList (events.k8s.io/v1) of an object; undefined without permission. */
export const readEvents = (
  subject: EventSubject,
): Effect.Effect<unknown, KubeFault, KubeApi> =>
  readObject(`/apis/events.k8s.io/v1/namespaces/${encodeURIComponent(subject.namespace)}/events`, {
    fieldSelector: `regarding.kind=${subject.kind},regarding.name=${subject.name}`,
    limit: `${EVENTS_MAX}`,
  }).pipe(Effect.map((read) => (read._tag === 'Found' ? read.object : undefined)));
