/**
 * The CapacityRequest of a pod: its name, its ownership marks, and its spec.
 *
 * Promises: a pod has one deterministic request name, so that a lagging cache cannot create two;
 * the pod owns the request, so that both are deleted together (POD-01).
 */
import { API_GROUP } from '../api-group.ts';
import type { TopologySpread } from '../profile.ts';
import type { ResourceMap } from '../resources.ts';
import { type Penalties, type PenaltyDefaults, resolvedPenalties } from './penalties.ts';
import type { PodAsk, PodWarning } from './pod-ask.ts';
import { type PodDemand, podName } from './pod-demand.ts';
import type { PodCoLocation, RequirementFields } from './pod-placement.ts';
import { type RequestText, requestText } from './request-text.ts';

/** The label with the owner of a request: the UID of the pod. */
export const OWNED_BY_POD = `${API_GROUP}/owned-by-pod`;

/** The spec of a pod's CapacityRequest. */
export interface PodRequestSpec extends Penalties {
  readonly requirements: readonly RequirementFields[];
  readonly resources: ResourceMap;
  readonly priority: number;
  readonly topologySpread?: readonly TopologySpread[];
  readonly coLocation?: PodCoLocation;
}

/** The content of a pod's request. */
export interface PodRequest {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: PodRequestSpec;
  /** What the pod requests and the request cannot express. */
  readonly warnings: readonly PodWarning[];
}

/** The prefix of a request's name (POD-01). */
export const REQUEST_PREFIX = 'cr-pod-';
/** With prefix and UID within the 253 characters of an object's name. */
const POD_NAME_MAX = 200;

/** `cr-pod-<pod, cut>-<UID>`; a cut never ends in a `-` or `.`. */
export const requestName = (pod: string, podUid: string): string =>
  `${REQUEST_PREFIX}${pod.slice(0, POD_NAME_MAX).replace(/[.-]+$/, '')}-${podUid}`;

const specOf = (ask: PodAsk, defaults: PenaltyDefaults): PodRequestSpec => ({
  requirements: ask.requirements,
  resources: ask.resources,
  priority: ask.priority,
  ...(ask.topologySpread.length === 0 ? {} : { topologySpread: ask.topologySpread }),
  ...(ask.coLocation === null ? {} : { coLocation: ask.coLocation }),
  ...resolvedPenalties(ask.penalties, ask.priorityClass, defaults),
});

/** The request of a pod; `undefined` when the pod is no demand. */
export const requestOfPod = (
  pod: PodDemand,
  defaults: PenaltyDefaults,
): PodRequest | undefined => {
  if (pod.ask === null) return undefined;
  return {
    name: requestName(podName(pod), pod.uid),
    labels: { [OWNED_BY_POD]: pod.uid },
    spec: specOf(pod.ask, defaults),
    warnings: pod.ask.warnings,
  };
};

/** Canonical specs under given defaults, computed once for all pods with equal demand. */
export const requestTexts = (defaults: PenaltyDefaults): (ask: PodAsk) => RequestText => {
  const texts = new WeakMap<PodAsk, RequestText>();
  return (ask) => {
    const known = texts.get(ask);
    if (known !== undefined) return known;
    const text = requestText(specOf(ask, defaults));
    texts.set(ask, text);
    return text;
  };
};
