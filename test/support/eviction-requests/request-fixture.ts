/** EvictionRequests and their pods as an API server returns them, and what follows from them. */
import { projectPod } from '../../../src/domain/drain/pod.ts';
import { INTERCEPTORS_ANNOTATION } from '../../../src/domain/eviction-requests/interceptor-list.ts';
import {
  type ObservedRequest,
  projectEvictionRequest,
} from '../../../src/domain/eviction-requests/observed-request.ts';
import {
  type RequestFacts,
  type RequestStep,
  requestStep,
  type StepOptions,
} from '../../../src/domain/eviction-requests/request-phase.ts';
import {
  projectInterceptedPod,
  type TargetPod,
  targetPodOf,
} from '../../../src/domain/eviction-requests/target-pod.ts';
import type { JsonRecord } from '../../../src/domain/json.ts';
import { rfc3339Seconds } from '../../../src/domain/time.ts';

const POD_UID = '6f1d2a34-0b1c-4d5e-8f90-a1b2c3d4e5f6';
/** When the request was created. */
export const CREATED_MS = Date.parse('2026-05-01T10:00:00Z');

export const ACTOR_B = 'actor-b.fruit.example.com';
export const ACTOR_A = 'actor-a.fruit.example.com';
export const IMPERATIVE = 'imperative-eviction.k8s.io';
export const DRAIN = 'drain.nodes.example.com';
export const BALANCER = 'balance.zones.example.com';

/** The defaults of the settings. */
export const TIMING = { deadlineMs: 1_200_000, warningMs: 60_000, skewMs: 10_000 };

/** An RFC 3339 time after the creation. */
export const atSeconds = (seconds: number): string => rfc3339Seconds(CREATED_MS + seconds * 1000);

/** What differs from a new request of one requester. */
export interface RequestTraits {
  readonly requesters?: readonly string[];
  readonly status?: JsonRecord;
  readonly metadata?: JsonRecord;
  readonly generation?: number;
}

/** An EvictionRequest as JSON. */
export const rawRequest = (
  { requesters = [DRAIN], status, metadata, generation = 1 }: RequestTraits = {},
): JsonRecord => ({
  apiVersion: 'lifecycle.tidegate.dev/v1alpha1',
  kind: 'EvictionRequest',
  metadata: {
    name: POD_UID,
    namespace: 'blueberry',
    uid: 'request-uid',
    resourceVersion: '10',
    generation,
    creationTimestamp: rfc3339Seconds(CREATED_MS),
    ...metadata,
  },
  spec: {
    target: { pod: { name: 'p-1', uid: POD_UID } },
    requesters: requesters.map((name) => ({ name })),
  },
  ...(status === undefined ? {} : { status }),
});

/** The same as the operator reads it. */
export const observedRequest = (traits: RequestTraits = {}): ObservedRequest => {
  const request = projectEvictionRequest(rawRequest(traits));
  if (request === undefined) throw new Error('No EvictionRequest');
  return request;
};

/** What differs from a running pod of two interceptors. */
export interface PodTraits {
  readonly uid?: string;
  readonly annotation?: string;
  readonly metadata?: JsonRecord;
  readonly spec?: JsonRecord;
  readonly phase?: string;
}

/** The pod as JSON. */
export const rawPod = (
  { uid = POD_UID, annotation = `${ACTOR_B},${ACTOR_A}`, metadata, spec, phase = 'Running' }:
    PodTraits = {},
): JsonRecord => ({
  metadata: {
    name: 'p-1',
    namespace: 'blueberry',
    uid,
    resourceVersion: '5',
    labels: { app: 'p' },
    annotations: { [INTERCEPTORS_ANNOTATION]: annotation },
    ...metadata,
  },
  spec: { nodeName: 'z', ...spec },
  status: { phase },
});

/** The same as the operator reads it. */
export const targetPod = (traits: PodTraits = {}): TargetPod => {
  const raw = rawPod(traits);
  const [drained, intercepted] = [projectPod(raw), projectInterceptedPod(raw)];
  if (drained === undefined || intercepted === undefined) throw new Error('No pod');
  return targetPodOf(drained, intercepted);
};

/** The entry of an interceptor in the status, with times in seconds after the creation. */
export const entry = (
  name: string,
  times: Readonly<Record<string, number>> = {},
  message = '',
): JsonRecord => ({
  name,
  message,
  ...Object.fromEntries(Object.entries(times).map(([field, time]) => [field, atSeconds(time)])),
});

/** A status whose interceptors are B, A and the imperative eviction. */
export const statusWith = (
  { active, processed = [], interceptors = [], conditions = [] }: {
    readonly active: string | null;
    readonly processed?: readonly string[];
    readonly interceptors?: readonly JsonRecord[];
    readonly conditions?: readonly JsonRecord[];
  },
): JsonRecord => ({
  observedGeneration: 1,
  targetInterceptors: [ACTOR_B, ACTOR_A, IMPERATIVE].map((name) => ({ name })),
  activeInterceptors: active === null ? [] : [active],
  processedInterceptors: processed,
  interceptors: [ACTOR_B, ACTOR_A, IMPERATIVE].map((name) =>
    interceptors.find((given) => given['name'] === name) ?? entry(name)
  ),
  conditions,
});

/** B has been active since the creation. */
export const B_ACTIVE = statusWith({
  active: ACTOR_B,
  interceptors: [entry(ACTOR_B, { startTime: 0 })],
});

/** Facts of a request and its pod. */
export const factsOf = (
  request: ObservedRequest,
  pod: TargetPod | null = targetPod(),
  endedSeconds: number | null = null,
): RequestFacts => ({
  request,
  pod,
  podSeen: true,
  endedMs: endedSeconds === null ? null : CREATED_MS + endedSeconds * 1000,
  heartbeat: null,
});

/** What follows from the facts, `seconds` after the creation. */
export const stepAt = (
  seconds: number,
  facts: RequestFacts,
  options: Partial<StepOptions> = {},
): RequestStep =>
  requestStep(facts, {
    nowMs: CREATED_MS + seconds * 1000,
    timing: TIMING,
    ...options,
  });

/** Type, status and reason of the conditions that follow. */
export const conditionsOf = ({ status }: Pick<RequestStep, 'status'>): readonly string[] =>
  status.conditions.map(({ type, status: holds, reason }) => `${type}=${holds} ${reason}`);
