/**
 * What is written to `lifecycle.k8s.io` for a request of the core.
 *
 * Promises: the controller writes its part of an Eviction and of each EvictionRequest, and never a
 * responder's report beyond name and start; a requester writes its own EvictionRequest alone.
 */
import type { ImperativeReport } from '../eviction-requests/imperative-report.ts';
import {
  conditionOf,
  type ControlledStatus,
  type ObservedRequest,
} from '../eviction-requests/observed-request.ts';
import { IMPERATIVE_EVICTION } from '../eviction-requests/qualified-name.ts';
import type { RequestedPod } from '../eviction-requests/requester.ts';
import { sha256Hex } from '../sha256.ts';
import { storedConditionBody } from '../stored-condition.ts';
import { rfc3339Seconds } from '../time.ts';
import { isMirrored, type JoinedRequest, requestersOf } from './joined-request.ts';
import { nameToNative, NATIVE_IMPERATIVE_EVICTION } from './names.ts';
import {
  NATIVE_GROUP_VERSION,
  NATIVE_LIMITS,
  type NativeRequest,
  type NativeTarget,
} from './objects.ts';
import { conditionsToNative, targetsToNative } from './status.ts';

const identified = (kind: 'Eviction' | 'EvictionRequest', metadata: object) => ({
  apiVersion: NATIVE_GROUP_VERSION,
  kind,
  metadata,
});

const targetBody = ({ name, uid }: NativeTarget) => ({ target: { pod: { name, uid } } });

/** The names of all participants as labels, by which they select their Evictions. */
const rolesOf = (
  { native }: JoinedRequest,
  targets: readonly string[],
): Readonly<Record<string, string>> => {
  const roles: Record<string, string> = {};
  for (const target of targets) roles[nameToNative(target)] = 'responder';
  for (const { name } of requestersOf(native)) {
    roles[name] = Object.hasOwn(roles, name) ? 'requester-responder' : 'requester';
  }
  return roles;
};

const ownerOf = ({ name, uid }: NativeRequest) => ({
  apiVersion: NATIVE_GROUP_VERSION,
  kind: 'EvictionRequest',
  name,
  uid,
});

/** The Eviction without its status, or undefined when it is as it should be. */
export const evictionBody = (
  request: JoinedRequest,
  { targets }: Pick<ControlledStatus, 'targets'>,
): object | undefined => {
  const { namespace, pod, native: { eviction, evictionName, requests } } = request;
  const labels = rolesOf(request, targets);
  const isLabelled = Object.entries(labels)
    .every(([key, value]) => eviction?.labels[key] === value);
  const isOwned = requests.every(({ uid }) => eviction?.owners.includes(uid));
  if (eviction !== null && isLabelled && isOwned) return undefined;
  return {
    ...identified('Eviction', {
      name: evictionName,
      namespace,
      labels,
      ownerReferences: requests.map(ownerOf),
    }),
    spec: targetBody(pod),
  };
};

/** Whether the request ends before it has an Eviction: its requesters alone learn of it. */
export const endsWithoutEviction = (
  { native }: JoinedRequest,
  status: ControlledStatus,
): boolean => native.eviction === null && conditionOf({ status }, 'Canceled') !== undefined;

const conditionsOf = (request: JoinedRequest, status: ControlledStatus) =>
  conditionsToNative(status, request.native.eviction?.conditions ?? [], request.createdMs);

/** What each EvictionRequest lacks in its status. */
export const mirrorBodies = (
  request: JoinedRequest,
  status: ControlledStatus,
): readonly { readonly name: string; readonly body: object }[] => {
  const conditions = conditionsOf(request, status);
  return request.native.requests.filter((one) => !isMirrored(one, conditions)).map((one) => ({
    name: one.name,
    body: {
      ...identified('EvictionRequest', {
        name: one.name,
        namespace: one.namespace,
        uid: one.uid,
      }),
      status: {
        observedGeneration: one.generation,
        conditions: conditionsToNative(status, one.conditions, request.createdMs)
          .filter(({ type }) => type === 'TargetEvicted' || type === 'Failed')
          .map(storedConditionBody),
      },
    },
  }));
};

const timeIn = (field: string, ms: number | undefined): Readonly<Record<string, string>> =>
  ms === undefined ? {} : { [field]: rfc3339Seconds(ms) };

/** When the imperative eviction, which this controller is, had done its work. */
const evictorEndMs = (
  { reports }: JoinedRequest,
  status: ControlledStatus,
  name: string,
): number | undefined => {
  const evicted = conditionOf({ status }, 'Evicted');
  if (name !== IMPERATIVE_EVICTION || !status.processed.includes(name)) return undefined;
  const report = reports.find((one) => one.name === name);
  return evicted && (report?.completionMs ?? evicted.sinceMs);
};

/** What the controller applies to the status of the Eviction of this version. */
export const evictionStatusBody = (
  request: JoinedRequest,
  status: ControlledStatus,
  version: { readonly uid: string; readonly resourceVersion: string },
): object => {
  const { namespace, reports, native } = request;
  const progress = { ...status, reports, wasActive: request.status.active };
  return {
    ...identified('Eviction', { name: native.evictionName, namespace, ...version }),
    status: {
      observedGeneration: 1,
      conditions: conditionsOf(request, status).map(storedConditionBody),
      requesters: requestersOf(native),
      targetResponders: targetsToNative(status.targets, progress, native.eviction?.targets ?? []),
      responders: status.targets.map((name) => ({
        name: nameToNative(name),
        ...timeIn('startTime', status.starts[name]),
        ...timeIn('completionTime', evictorEndMs(request, status, name)),
      })),
    },
  };
};

/** What the imperative eviction applies to the status of its Eviction. */
export const nativeReportBody = (
  { namespace, native }: JoinedRequest,
  { heartbeatMs, message }: ImperativeReport,
): object => ({
  ...identified('Eviction', {
    name: native.evictionName,
    namespace,
    uid: native.eviction?.uid ?? '',
  }),
  status: {
    responders: [{
      name: NATIVE_IMPERATIVE_EVICTION,
      heartbeatTime: rfc3339Seconds(heartbeatMs),
      message: message.slice(0, NATIVE_LIMITS.messageCharacters),
    }],
  },
});

const NAME_MAX = 253;
const HASH_DIGITS = 16;

/** The name of a requester's object for a pod: readable, and one for each of both. */
export const nativeRequestName = (podUid: string, requester: string): string => {
  const name = `${podUid}.${requester}`.replaceAll(/[^-a-z0-9.]/gu, '-');
  return name.length <= NAME_MAX && !requester.includes('/')
    ? name
    : `${podUid}.${sha256Hex(requester).slice(0, HASH_DIGITS)}`;
};

/** What a requester applies that wants the pod to leave. */
export const nativeWantedBody = (pod: RequestedPod, requester: string): object => ({
  ...identified('EvictionRequest', {
    name: nativeRequestName(pod.uid, requester),
    namespace: pod.namespace,
  }),
  spec: { ...targetBody(pod), requester: nameToNative(requester), intent: 'Eviction' },
});

/** The object of a requester among those of a request. */
export const ownNativeRequest = (
  request: ObservedRequest & { readonly native?: JoinedRequest['native'] },
  requester: string,
): NativeRequest | undefined =>
  request.native?.requests.find((one) =>
    one.name === nativeRequestName(request.pod.uid, requester)
  );
