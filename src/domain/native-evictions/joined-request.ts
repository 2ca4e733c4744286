/**
 * One request as the core knows it, from the EvictionRequests and Evictions of one pod in
 * `lifecycle.k8s.io`: a requester there is an object, and an Eviction has the interceptors.
 *
 * Promises: total and pure; at most one open request for a pod, as there; the end of an Eviction
 * counts once every requester can read it in its own object; after a failed Eviction a requester
 * that still wants the pod to leave gets a new one.
 */
import type { ObservedRequest } from '../eviction-requests/observed-request.ts';
import { objectKey, type ResourceVersion, resourceVersion, uid } from '../ids.ts';
import { isOlder } from '../resource-versions.ts';
import { nameFromNative } from './names.ts';
import type {
  Intent,
  NativeCondition,
  NativeEviction,
  NativeRequest,
  NativeTarget,
} from './objects.ts';
import { NATIVE_GROUP_VERSION, NATIVE_LIMITS } from './objects.ts';
import { conditionsFromNative, progressFromNative, reportsFromNative } from './status.ts';

/** The objects behind a request. */
export interface NativeObjects {
  /** Null before it is created. */
  readonly eviction: NativeEviction | null;
  /** The name of the Eviction, also of one that is to be created. */
  readonly evictionName: string;
  /** The EvictionRequests of the pod. */
  readonly requests: readonly NativeRequest[];
}

/** A request with the objects behind it. */
export interface JoinedRequest extends ObservedRequest {
  readonly native: NativeObjects;
}

/** The objects about one pod. */
export interface PodObjects {
  readonly evictions: readonly NativeEviction[];
  readonly requests: readonly NativeRequest[];
  /** Whether the namespace has an Eviction of this name, of whatever pod. */
  readonly isTaken: (name: string) => boolean;
}

/** The generation of every request: that all objects agree. */
const AGREED = 2;
/** The observed generation when they do not yet. */
const OBSERVED = 1;

const NAME_MAX = 253;

const conditionIn = (conditions: readonly NativeCondition[], type: string) =>
  conditions.find((condition) => condition.type === type);

const isTrueIn = (conditions: readonly NativeCondition[], type: string): boolean =>
  conditionIn(conditions, type)?.status === 'True';

const hasSucceeded = ({ conditions }: NativeEviction): boolean =>
  isTrueIn(conditions, 'TargetEvicted');

const hasFailed = ({ conditions }: NativeEviction): boolean => isTrueIn(conditions, 'Failed');

const byAge = (left: NativeEviction, right: NativeEviction): number =>
  left.createdMs - right.createdMs || (left.name < right.name ? -1 : 1);

/** The Eviction that counts: one that succeeded, else the oldest open one, else the last. */
const relevant = (evictions: readonly NativeEviction[]): NativeEviction | undefined => {
  const sorted = [...evictions].sort(byAge);
  return sorted.findLast(hasSucceeded) ?? sorted.find((one) => !hasFailed(one)) ?? sorted.at(-1);
};

/** The first free name of those that Kubernetes' own controller gives. */
export const nextEvictionName = (pod: string, isTaken: (name: string) => boolean): string => {
  let count = 1;
  const name = (): string => `pod-${count}-${pod}`.slice(0, NAME_MAX).replace(/[-.]+$/u, '');
  while (isTaken(name())) count += 1;
  return name();
};

const wants = ({ intent }: NativeRequest): boolean => intent === 'Eviction';

/** The requesters of an Eviction with their intents, those that want the pod to leave first. */
export const requestersOf = (
  { eviction, requests }: Pick<NativeObjects, 'eviction' | 'requests'>,
): readonly { readonly name: string; readonly intent: Intent }[] => {
  const wanting = new Set(requests.filter(wants).map(({ requester }) => requester));
  const others = [
    ...(eviction?.requesters ?? []),
    ...requests.map(({ requester: name }) => ({ name })),
  ]
    .map(({ name }) => name).filter((name) => !wanting.has(name));
  const intents = (names: Iterable<string>, intent: Intent) =>
    [...names].toSorted().map((name) => ({ name, intent }));
  return [...intents(wanting, 'Eviction'), ...intents(new Set(others), 'Withdrawn')]
    .slice(0, NATIVE_LIMITS.requesters);
};

const sameRequesters = (objects: Pick<NativeObjects, 'eviction' | 'requests'>): boolean => {
  const written = new Map(objects.eviction?.requesters.map(({ name, intent }) => [name, intent]));
  return requestersOf(objects).every(({ name, intent }) => written.get(name) === intent);
};

const MIRRORED = ['TargetEvicted', 'Failed'] as const;

/** Whether the EvictionRequest shows what became of its pod. */
export const isMirrored = (
  { observedGeneration, generation, conditions: own }: NativeRequest,
  conditions: readonly NativeCondition[],
): boolean =>
  observedGeneration >= generation && MIRRORED.every((type) => {
    const mirrored = conditionIn(own, type);
    const actual = conditionIn(conditions, type);
    return mirrored !== undefined && actual !== undefined && mirrored.status === actual.status &&
      mirrored.reason === actual.reason;
  });

/** The newest of these versions. */
export const newest = (versions: readonly ResourceVersion[]): ResourceVersion =>
  versions.reduce((left, right) => isOlder(left, right) ? right : left);

const startsOf = ({ reports }: NativeEviction): Readonly<Record<string, number>> =>
  Object.fromEntries(
    reports.flatMap(({ name, startMs }) =>
      startMs === null ? [] : [[nameFromNative(name), startMs]]
    ),
  );

const NO_STATUS: ObservedRequest['status'] = {
  observedGeneration: 0,
  conditions: [],
  targets: [],
  active: null,
  processed: [],
  starts: {},
};

/** The end that all EvictionRequests show although there is no Eviction (any more). */
const endWithoutEviction = (requests: readonly NativeRequest[]): ObservedRequest['status'] => {
  const [first] = requests;
  const type = MIRRORED.find((one) => isTrueIn(first?.conditions ?? [], one));
  const isEnd = type !== undefined &&
    requests.every((request) =>
      request.observedGeneration >= request.generation && isTrueIn(request.conditions, type)
    );
  return !isEnd ? NO_STATUS : {
    ...NO_STATUS,
    observedGeneration: AGREED,
    conditions: conditionsFromNative(first?.conditions ?? []),
  };
};

const statusOf = (
  { eviction, requests }: Pick<NativeObjects, 'eviction' | 'requests'>,
): ObservedRequest['status'] => {
  if (eviction === null) return endWithoutEviction(requests);
  const { conditions } = eviction;
  const agree = sameRequesters({ eviction, requests }) &&
    requests.every((request) => isMirrored(request, conditions));
  const observedGeneration = agree ? AGREED : OBSERVED;
  // An end that a requester cannot read yet is written again, with what it lacks.
  const isOwn = !eviction.isServedByOther;
  const read = conditionsFromNative(conditions);
  return {
    observedGeneration: eviction.observedGeneration === 0 ? 0 : observedGeneration,
    conditions: agree || !isOwn ? read : read.filter(({ type }) => type === 'InterceptorSilent'),
    ...progressFromNative(eviction),
    starts: startsOf(eviction),
  };
};

/** The request from its objects. */
export const requestOf = (target: NativeTarget, native: NativeObjects): JoinedRequest => {
  const { eviction, evictionName, requests } = native;
  const objects = [...(eviction === null ? [] : [eviction]), ...requests];
  const namespace = objects[0]?.namespace ?? '';
  const wanting = requests.filter(wants).map(({ requester }) => nameFromNative(requester));
  return {
    key: objectKey(target.uid, namespace),
    // A pod has one request after another: each is known by the name of its Eviction. A pod of the
    // same name that is gone may have a request without one, for which that name is free, too.
    uid: uid(`${namespace}/${target.uid}/${evictionName}`),
    resourceVersion: objects.length === 0
      ? resourceVersion('')
      : newest(objects.map((object) => object.resourceVersion)),
    namespace,
    name: target.uid,
    generation: AGREED,
    createdMs: Math.min(...objects.map(({ createdMs }) => createdMs)),
    deleting: eviction?.deleting ?? false,
    pod: target,
    requesters: [...new Set(wanting)],
    labels: eviction?.labels ?? {},
    copiedLabels: null,
    status: statusOf(native),
    reports: eviction === null ? [] : reportsFromNative(eviction),
    native,
  };
};

/** The request of a pod; undefined when nobody has one. */
export const joinRequest = (
  { evictions, requests: all, isTaken }: PodObjects,
): JoinedRequest | undefined => {
  const requests = all.filter(({ deleting }) => !deleting);
  const current = relevant(evictions);
  const target = requests[0]?.target ?? current?.target;
  if (target === undefined) return undefined;
  const isRenewed = current !== undefined && hasFailed(current) && requests.some(wants);
  if (current === undefined || isRenewed) {
    const evictionName = nextEvictionName(target.name, isTaken);
    return requests.length === 0
      ? undefined
      : requestOf(target, { eviction: null, evictionName, requests });
  }
  return requestOf(target, { eviction: current, evictionName: current.name, requests });
};

/** The requests of all pods, from complete lists. */
export const joinRequests = (
  evictions: readonly NativeEviction[],
  requests: readonly NativeRequest[],
): readonly JoinedRequest[] => {
  const taken = new Set(evictions.map(({ key }) => key));
  const podOf = ({ namespace, target }: NativeEviction | NativeRequest): string =>
    objectKey(target.uid, namespace);
  const evictionsOf = Map.groupBy(evictions, podOf);
  const requestsOf = Map.groupBy(requests, podOf);
  return [...new Set([...evictionsOf.keys(), ...requestsOf.keys()])].flatMap((pod) => {
    const [namespace] = pod.split('/');
    const joined = joinRequest({
      evictions: evictionsOf.get(pod) ?? [],
      requests: requestsOf.get(pod) ?? [],
      isTaken: (name) => taken.has(objectKey(name, namespace)),
    });
    return joined ?? [];
  });
};

/** The request behind which there are objects of `lifecycle.k8s.io`; undefined for one of ours. */
export const nativeObjectsOf = (
  request: ObservedRequest & { readonly native?: NativeObjects },
): NativeObjects | undefined => request.native;

/** The object that Events about a request name; undefined for a request of ours. */
export const nativeSubjectOf = (request: ObservedRequest) => {
  const native = nativeObjectsOf(request);
  if (native === undefined) return undefined;
  const { eviction, requests } = native;
  const object = eviction ?? requests[0];
  return {
    apiVersion: NATIVE_GROUP_VERSION,
    kind: eviction === null ? 'EvictionRequest' : 'Eviction',
    namespace: request.namespace,
    name: object?.name ?? native.evictionName,
    uid: object?.uid ?? '',
  };
};
