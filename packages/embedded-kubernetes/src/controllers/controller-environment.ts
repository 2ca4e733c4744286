/**
 * The dependencies of the embedded cluster's controllers: current objects, ordered changes, the API
 * server, time and randomness.
 *
 * Promises: reads are synchronous; writes pass through the API server with its validation. `random`
 * is seeded, so a run is reproducible.
 */
import { type JsonRecord, textAt } from '../values/json.ts';
import type { Time } from '../values/time.ts';

/** Collections that controllers watch, and their API paths. */
export const COLLECTIONS = {
  nodes: '/api/v1',
  pods: '/api/v1',
  persistentvolumes: '/api/v1',
  persistentvolumeclaims: '/api/v1',
  replicasets: '/apis/apps/v1',
  deployments: '/apis/apps/v1',
  statefulsets: '/apis/apps/v1',
  daemonsets: '/apis/apps/v1',
  poddisruptionbudgets: '/apis/policy/v1',
  leases: '/apis/coordination.k8s.io/v1',
} as const;

/** The plural name of a watched collection. */
export type CollectionName = keyof typeof COLLECTIONS;

/** One change of one object, delivered after it happened. */
export interface ObjectChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly collection: string;
  readonly object: JsonRecord;
}

/** One request of a controller. */
export interface ApiCall {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  /** Default: `application/json`, and merge patch for `PATCH`. */
  readonly contentType?: string;
  /** The program that writes. */
  readonly agent?: string;
}

/** The API server's response. */
export interface ApiAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** Controller latencies, each as minimum and maximum in milliseconds. */
export interface ControllerTiming {
  /** From a change to a controller's reaction. */
  readonly controllerMs: Span;
  /** From a pending pod to its binding. */
  readonly schedulerMs: Span;
  /** From a bound pod to a Ready one. */
  readonly startMs: Span;
  /** From a pod's deletion request to its termination; never longer than its grace period. */
  readonly stopMs: Span;
  /** From a new Node to its first status report. */
  readonly joinMs: Span;
  /** Default true; without Leases of Nodes, none is ever missed, and simulated days are cheap. */
  readonly hasHeartbeats?: boolean;
}

/** Minimum and maximum in milliseconds. */
export type Span = readonly [least: number, most: number];

/** Latencies of a small, lightly loaded cluster. */
export const DEFAULT_TIMING: ControllerTiming = {
  controllerMs: [5, 60],
  schedulerMs: [5, 80],
  startMs: [500, 4000],
  stopMs: [200, 3000],
  joinMs: [50, 500],
};

/** The environment of the controllers. */
export interface ControllerEnvironment {
  readonly time: Time;
  readonly timing: ControllerTiming;
  /** In [0, 1). */
  readonly random: () => number;
  readonly list: (collection: CollectionName) => Iterable<JsonRecord>;
  readonly get: (collection: CollectionName, key: ObjectName) => JsonRecord | undefined;
  /** Calls `listen` with every existing object, then with every change of every collection. */
  readonly subscribe: (listen: (change: ObjectChange) => void) => () => void;
  readonly call: (call: ApiCall) => ApiAnswer;
}

/** Namespace and name of an object. Cluster-scoped objects have the namespace ''. */
export interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

/** A controller that can be stopped. */
export interface Controller {
  readonly stop: () => void;
}

/** The name of an object. */
export const nameOf = (object: JsonRecord): ObjectName => ({
  namespace: textAt(object, 'metadata', 'namespace') ?? '',
  name: textAt(object, 'metadata', 'name') ?? '',
});

/** `namespace/name`, or `name`. */
export const keyOf = (object: JsonRecord): string => {
  const { namespace, name } = nameOf(object);
  return namespace === '' ? name : `${namespace}/${name}`;
};

/** Splits a key into namespace and name. */
export const nameIn = (key: string): ObjectName => {
  const at = key.indexOf('/');
  return at < 0
    ? { namespace: '', name: key }
    : { namespace: key.slice(0, at), name: key.slice(at + 1) };
};

/** `metadata.uid`. */
export const uidOf = (object: JsonRecord): string => textAt(object, 'metadata', 'uid') ?? '';

/** The path of a collection, or of one object of it. */
export const pathOf = (collection: CollectionName, namespace: string, name?: string): string => {
  const prefix = namespace === '' ? '' : `/namespaces/${namespace}`;
  return `${COLLECTIONS[collection]}${prefix}/${collection}${name === undefined ? '' : `/${name}`}`;
};

/** A random duration within a span. */
export const within = (
  { random }: Pick<ControllerEnvironment, 'random'>,
  [least, most]: Span,
): number => Math.round(least + random() * (most - least));

const good = ({ status }: ApiAnswer): boolean => status >= 200 && status < 300;

/** Patches the status of an object; false when the API server refused. */
export const patchStatus = (
  environment: ControllerEnvironment,
  collection: CollectionName,
  { object, status }: { readonly object: JsonRecord; readonly status: unknown },
): boolean => {
  const { namespace, name } = nameOf(object);
  return good(environment.call({
    method: 'PATCH',
    path: `${pathOf(collection, namespace, name)}/status`,
    contentType: 'application/merge-patch+json',
    body: { metadata: { uid: uidOf(object) }, status },
  }));
};

/** Deletes the object with this UID; `graceSeconds` overrides the object's own grace period. */
export const remove = (
  environment: ControllerEnvironment,
  collection: CollectionName,
  { object, graceSeconds }: { readonly object: JsonRecord; readonly graceSeconds?: number },
): boolean => {
  const { namespace, name } = nameOf(object);
  return good(environment.call({
    method: 'DELETE',
    path: pathOf(collection, namespace, name),
    body: {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions: { uid: uidOf(object) },
      ...(graceSeconds === undefined ? {} : { gracePeriodSeconds: graceSeconds }),
    },
  }));
};
