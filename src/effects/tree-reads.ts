/**
 * Reads the objects of a tree around one Node, machine, pod or request.
 *
 * Promises: read-only; a name is tried as each kind that may have it, in a fixed order.
 */
import { Effect } from 'effect';
import { GROUP_PATH } from '../domain/api-group.ts';
import { machineId } from '../domain/ids.ts';
import { listOrEmptyAt, textAt } from '../domain/json.ts';
import { upcomingNodeName } from '../domain/names.ts';
import { labelsOf } from '../domain/object-meta.ts';
import { OWNED_BY_POD } from '../domain/pod-demand/pod-request.ts';
import { EVICTION_REQUESTS_PATH, evictionRequestPath } from './evictions-api.ts';
import type { KubeApi, KubeFault } from './kube-api.ts';
import { readList } from './object-lists.ts';
import { type ObjectRead, readObject } from './object-reads.ts';

/** The objects of a tree. Undefined objects do not exist. */
export type TreeRead =
  | {
    readonly _tag: 'AroundNode';
    readonly node: unknown;
    readonly upcomingNode: unknown;
    readonly pods: readonly unknown[];
    readonly evictionRequests: readonly unknown[];
  }
  | {
    readonly _tag: 'AroundPod';
    readonly pod: unknown;
    readonly requests: readonly unknown[];
    readonly evictionRequests: readonly unknown[];
  }
  | { readonly _tag: 'Absent' }
  | { readonly _tag: 'Refused'; readonly why: string };

type Reads<Value> = Effect.Effect<Value, KubeFault, KubeApi>;

const NODES = '/api/v1/nodes';
const UPCOMING_NODES = `${GROUP_PATH}/upcomingnodes`;
const asIs = (raw: unknown): unknown => raw;

const objectOf = (read: ObjectRead): unknown => read._tag === 'Found' ? read.object : undefined;
const at = (name: string): string => encodeURIComponent(name);

/** The first refusal: a tree without these objects would be wrong. */
const refusalIn = (...reads: readonly ObjectRead[]): TreeRead | undefined => {
  for (const read of reads) if (read._tag === 'Refused') return { _tag: 'Refused', why: read.why };
  return undefined;
};

/** The UpcomingNode that refers to a Node. */
const upcomingNodeOf = (node: string): Reads<unknown> =>
  readList({ path: UPCOMING_NODES }, asIs).pipe(
    Effect.map((read) =>
      read._tag === 'Refused'
        ? undefined
        : read.objects.find((upcoming) => textAt(upcoming, 'status', 'nodeRef', 'name') === node)
    ),
  );

const podsOn = (node: string): Reads<readonly unknown[]> =>
  readList({ path: '/api/v1/pods', query: { fieldSelector: `spec.nodeName=${node}` } }, asIs)
    .pipe(Effect.map((read) => read._tag === 'Listed' ? read.objects : []));

/** All EvictionRequests; none where the API server does not serve them. */
const evictionRequests: Reads<readonly unknown[]> = readList(
  { path: EVICTION_REQUESTS_PATH },
  asIs,
).pipe(Effect.map((read) => read._tag === 'Listed' ? read.objects : []));

/** The EvictionRequest of a pod. */
const evictionRequestOf = (namespace: string, pod: unknown): Reads<readonly unknown[]> => {
  const uid = textAt(pod, 'metadata', 'uid');
  return uid === undefined
    ? Effect.succeed([])
    : readObject(evictionRequestPath(namespace, uid)).pipe(
      Effect.map((read) => read._tag === 'Found' ? [read.object] : []),
    );
};

/** An UpcomingNode by its name, or by the id of its machine. */
const upcomingNodeNamed = (name: string): Reads<ObjectRead> =>
  readObject(`${UPCOMING_NODES}/${at(name)}`).pipe(
    Effect.flatMap((read) =>
      read._tag === 'Absent'
        ? readObject(`${UPCOMING_NODES}/${at(upcomingNodeName(machineId(name)))}`)
        : Effect.succeed(read)
    ),
  );

/** The tree around a Node, or around a machine, by its id or its UpcomingNode. */
export const readNodeTree = (name: string): Reads<TreeRead> =>
  Effect.gen(function* () {
    const node = yield* readObject(`${NODES}/${at(name)}`);
    const refused = refusalIn(node);
    if (refused !== undefined) return refused;
    if (node._tag === 'Found') {
      const around = yield* Effect.all({
        upcomingNode: upcomingNodeOf(name),
        pods: podsOn(name),
        evictionRequests,
      }, { concurrency: 'unbounded' });
      return { _tag: 'AroundNode', node: node.object, ...around };
    }
    const upcoming = yield* upcomingNodeNamed(name);
    if (upcoming._tag !== 'Found') return refusalIn(upcoming) ?? { _tag: 'Absent' };
    const nodeName = textAt(upcoming.object, 'status', 'nodeRef', 'name') ?? '';
    const joined = nodeName === ''
      ? undefined
      : objectOf(yield* readObject(`${NODES}/${at(nodeName)}`));
    const around = joined === undefined
      ? { pods: [], evictionRequests: [] }
      : yield* Effect.all({ pods: podsOn(nodeName), evictionRequests }, {
        concurrency: 'unbounded',
      });
    return { _tag: 'AroundNode', node: joined, upcomingNode: upcoming.object, ...around };
  });

const requestsOf = (namespace: string, podUid: string): Reads<readonly unknown[]> =>
  readObject(`${GROUP_PATH}/namespaces/${at(namespace)}/capacityrequests`, {
    labelSelector: `${OWNED_BY_POD}=${podUid}`,
  }).pipe(Effect.map((read) => listOrEmptyAt(objectOf(read), 'items')));

/** The name of the pod that owns a request. */
const ownerPod = (request: unknown): string | undefined => {
  if (labelsOf(request)[OWNED_BY_POD] === undefined) return undefined;
  const owner = listOrEmptyAt(request, 'metadata', 'ownerReferences')
    .find((reference) => textAt(reference, 'kind') === 'Pod');
  return textAt(owner, 'name');
};

/** The tree around a CapacityRequest, or around a pod of that name. */
export const readRequestTree = (namespace: string, name: string): Reads<TreeRead> =>
  Effect.gen(function* () {
    const podPath = (pod: string) => `/api/v1/namespaces/${at(namespace)}/pods/${at(pod)}`;
    const request = yield* readObject(
      `${GROUP_PATH}/namespaces/${at(namespace)}/capacityrequests/${at(name)}`,
    );
    if (request._tag === 'Found') {
      const owner = ownerPod(request.object);
      const pod = owner === undefined ? undefined : objectOf(yield* readObject(podPath(owner)));
      const ofPod = yield* evictionRequestOf(namespace, pod);
      return { _tag: 'AroundPod', pod, requests: [request.object], evictionRequests: ofPod };
    }
    const pod = yield* readObject(podPath(name));
    if (pod._tag !== 'Found') return refusalIn(request, pod) ?? { _tag: 'Absent' };
    const around = yield* Effect.all({
      requests: requestsOf(namespace, textAt(pod.object, 'metadata', 'uid') ?? ''),
      evictionRequests: evictionRequestOf(namespace, pod.object),
    }, { concurrency: 'unbounded' });
    return { _tag: 'AroundPod', pod: pod.object, ...around };
  });
