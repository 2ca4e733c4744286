/**
 * Reads all objects that explain one object, concurrently.
 *
 * Promises: the object itself is required; supplementary objects (Events, Leases, the Node) may be
 * missing, for lack of permission or because they do not exist.
 */
import { Effect } from 'effect';
import { GROUP_PATH } from '../domain/api-group.ts';
import { listOrEmptyAt, textAt } from '../domain/json.ts';
import { OWNED_BY_POD } from '../domain/pod-demand/pod-request.ts';
import type { ObservedRequest } from '../domain/eviction-requests/observed-request.ts';
import { nativeSubjectOf } from '../domain/native-evictions/joined-request.ts';
import { chooseApi } from './evictions-api.ts';
import type { KubeApi, KubeFault } from './kube-api.ts';
import { type ObjectRead, readEvents, readObject } from './object-reads.ts';
import { readRequest, type RequestRead } from './request-reads.ts';

/** The Leases of operators with the Events about them. */
export interface OperatorLeases {
  readonly leases: unknown;
  readonly leaseEvents: readonly unknown[];
}

/** A CapacityRequest with related objects. */
export interface ExplainedRequest extends OperatorLeases {
  readonly request: ObjectRead;
  readonly events: readonly unknown[];
}

/** An UpcomingNode with its Node. */
export interface ExplainedMachine extends OperatorLeases {
  readonly upcomingNode: ObjectRead;
  readonly node: unknown;
  readonly events: readonly unknown[];
}

const objectOf = (read: ObjectRead): unknown => read._tag === 'Found' ? read.object : undefined;

const at = (...segments: readonly string[]): string => segments.map(encodeURIComponent).join('/');

/** Leases of that name in all namespaces; undefined without permission. */
const leasesNamed = (name: string): Effect.Effect<unknown, KubeFault, KubeApi> =>
  readObject('/apis/coordination.k8s.io/v1/leases', { fieldSelector: `metadata.name=${name}` })
    .pipe(Effect.map(objectOf));

/** Events are read of as many Leases; a cluster has one. */
const LEASES_MAX = 5;

/** Reads the Leases of that name in all namespaces, and their Events. */
export const readOperatorLeases = (
  name: string,
): Effect.Effect<OperatorLeases, KubeFault, KubeApi> =>
  Effect.gen(function* () {
    const leases = yield* leasesNamed(name);
    const namespaces = listOrEmptyAt(leases, 'items').slice(0, LEASES_MAX)
      .flatMap((lease) => textAt(lease, 'metadata', 'namespace') ?? []);
    const leaseEvents = yield* Effect.all(
      namespaces.map((namespace) => readEvents({ kind: 'Lease', name, namespace })),
      { concurrency: 'unbounded' },
    );
    return { leases, leaseEvents };
  });

/** Reads a CapacityRequest, its Events and the Leases of operators. */
export const readExplainedRequest = (
  namespace: string,
  name: string,
  leaseName: string,
): Effect.Effect<ExplainedRequest, KubeFault, KubeApi> =>
  Effect.all({
    request: readObject(`${GROUP_PATH}/namespaces/${at(namespace)}/capacityrequests/${at(name)}`),
    events: readEvents({ kind: 'CapacityRequest', name, namespace }).pipe(Effect.map((l) => [l])),
    operator: readOperatorLeases(leaseName),
  }, { concurrency: 'unbounded' })
    .pipe(Effect.map(({ operator, ...read }) => ({ ...read, ...operator })));

/** A pod with its CapacityRequests and its EvictionRequest. */
export interface ExplainedPod extends OperatorLeases {
  readonly pod: ObjectRead;
  readonly requests: unknown;
  /** Undefined without one, or without permission. */
  readonly evictionRequest: ObservedRequest | undefined;
  readonly events: readonly unknown[];
}

/** An EvictionRequest and its Events. */
export interface ExplainedEvictionRequest {
  readonly request: RequestRead;
  readonly events: readonly unknown[];
}

/** The request of the pod with this UID, in the API that has the requests. */
const requestOf = (
  namespace: string,
  podUid: string,
): Effect.Effect<RequestRead, KubeFault, KubeApi> =>
  Effect.flatMap(chooseApi('auto'), ({ api }) => readRequest(api, namespace, podUid));

/** Reads an EvictionRequest and its Events. */
export const readExplainedEvictionRequest = (
  namespace: string,
  name: string,
): Effect.Effect<ExplainedEvictionRequest, KubeFault, KubeApi> =>
  Effect.gen(function* () {
    const request = yield* requestOf(namespace, name);
    const found = request._tag === 'Found' ? nativeSubjectOf(request.request) : undefined;
    const subject = found ?? { kind: 'EvictionRequest', name, namespace };
    return { request, events: [yield* readEvents(subject)] };
  });

/** Reads a pod, its Events, its CapacityRequests and its EvictionRequest, both by its UID. */
export const readExplainedPod = (
  namespace: string,
  name: string,
  leaseName: string,
): Effect.Effect<ExplainedPod, KubeFault, KubeApi> =>
  Effect.gen(function* () {
    const pod = yield* readObject(`/api/v1/namespaces/${at(namespace)}/pods/${at(name)}`);
    const uid = textAt(objectOf(pod), 'metadata', 'uid') ?? '';
    const { requests, evictionRequest, events, operator } = yield* Effect.all({
      requests: readObject(`${GROUP_PATH}/namespaces/${at(namespace)}/capacityrequests`, {
        labelSelector: `${OWNED_BY_POD}=${uid}`,
      }).pipe(Effect.map(objectOf)),
      evictionRequest: uid === '' ? Effect.succeed(undefined) : requestOf(namespace, uid).pipe(
        Effect.map((read) => read._tag === 'Found' ? read.request : undefined),
      ),
      events: readEvents({ kind: 'Pod', name, namespace }).pipe(Effect.map((list) => [list])),
      operator: readOperatorLeases(leaseName),
    }, { concurrency: 'unbounded' });
    return { pod, requests, evictionRequest, events, ...operator };
  });

/** Reads an UpcomingNode, the Node that it refers to, the Events of both, and the Leases. */
export const readExplainedMachine = (
  name: string,
  leaseName: string,
): Effect.Effect<ExplainedMachine, KubeFault, KubeApi> =>
  Effect.gen(function* () {
    const upcomingNode = yield* readObject(`${GROUP_PATH}/upcomingnodes/${at(name)}`);
    const nodeName = textAt(objectOf(upcomingNode), 'status', 'nodeRef', 'name');
    const subjects = [
      { kind: 'UpcomingNode', name, namespace: 'default' },
      ...(nodeName === undefined ? [] : [{ kind: 'Node', name: nodeName, namespace: 'default' }]),
    ];
    const { node, events, operator } = yield* Effect.all({
      node: nodeName === undefined
        ? Effect.succeed(undefined)
        : readObject(`/api/v1/nodes/${at(nodeName)}`).pipe(Effect.map(objectOf)),
      events: Effect.all(subjects.map(readEvents), { concurrency: 'unbounded' }),
      operator: readOperatorLeases(leaseName),
    }, { concurrency: 'unbounded' });
    return { upcomingNode, node, events, ...operator };
  });
