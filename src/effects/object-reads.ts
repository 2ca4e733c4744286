/**
 * Single reads of objects, for commands that a person waits for.
 *
 * Promises: changes nothing; an answer that is no object says what it was, in one sentence.
 */
import { Effect } from 'effect';
import { textAt } from '../domain/json.ts';
import { KubeApi, type KubeFault } from './kube-api.ts';

/** What became of a read. */
export type ObjectRead =
  | { readonly _tag: 'Found'; readonly object: unknown }
  | { readonly _tag: 'Absent' }
  /** The API server answered, but not with the object: no permission, no such kind, trouble. */
  | { readonly _tag: 'Refused'; readonly status: number; readonly why: string };

/** Nobody wants to wait longer for one object. */
const READ_TIMEOUT_MS = 15_000;
/** Events of one object that are read; the API server keeps them for an hour. */
const EVENTS_MAX = 500;

/** Of an object that is not there the API server says its name; of an unknown path it cannot. */
const isUnknownKind = (body: unknown): boolean => textAt(body, 'details', 'name') === undefined;

/** Reads what stands at `path`. */
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
        ? 'the API server does not know this kind: its CRD is not installed'
        : textAt(body, 'message') ?? `HTTP status ${status}`;
      return { _tag: 'Refused', status, why };
    }),
  );

/** What an Event is about. */
export interface EventSubject {
  readonly kind: string;
  readonly name: string;
  /** Where the Events are: the object's namespace, or `default` for one of the cluster. */
  readonly namespace: string;
}

/** The EventList (events.k8s.io/v1) of an object; undefined when it may not be read. */
export const readEvents = (
  subject: EventSubject,
): Effect.Effect<unknown, KubeFault, KubeApi> =>
  readObject(`/apis/events.k8s.io/v1/namespaces/${encodeURIComponent(subject.namespace)}/events`, {
    fieldSelector: `regarding.kind=${subject.kind},regarding.name=${subject.name}`,
    limit: `${EVENTS_MAX}`,
  }).pipe(Effect.map((read) => (read._tag === 'Found' ? read.object : undefined)));
