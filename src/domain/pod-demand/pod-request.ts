/**
 * The CapacityRequest of a pod: its name, its marks, and its spec.
 *
 * Promises: a pod has one name for its request, whoever asks and whenever, so that a cache that
 * lags behind can never make two; the request is the pod's own, so that it goes with it (POD-01).
 */
import { API_GROUP } from '../api-group.ts';
import type { TopologySpread } from '../profile.ts';
import type { ResourceMap } from '../resources.ts';
import { type Penalties, type PenaltyDefaults, resolvedPenalties } from './penalties.ts';
import type { PodAsk, PodWarning } from './pod-ask.ts';
import { type PodDemand, podName } from './pod-demand.ts';
import type { PodCoLocation, RequirementFields } from './pod-placement.ts';
import { type RequestText, requestText } from './request-text.ts';

/** The label that says whose request it is: the UID of the pod. */
export const OWNED_BY_POD = `${API_GROUP}/owned-by-pod`;

/** The spec of a CapacityRequest that was made for a pod. */
export interface PodRequestSpec extends Penalties {
  readonly requirements: readonly RequirementFields[];
  readonly resources: ResourceMap;
  readonly priority: number;
  readonly topologySpread?: readonly TopologySpread[];
  readonly coLocation?: PodCoLocation;
}

/** All that the request of a pod says. */
export interface PodRequest {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: PodRequestSpec;
  /** What it does not say, though the pod does. */
  readonly warnings: readonly PodWarning[];
}

/** What the name of a request begins with (POD-01). */
export const REQUEST_PREFIX = 'cr-pod-';
/** With prefix and UID within the 253 characters of an object's name. */
const POD_NAME_MAX = 200;

/** `cr-pod-<pod, cut>-<UID>`; a cut never ends in the middle of a name's part. */
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

/** Canonical specs under some defaults, each worked out once for all pods that ask for the same. */
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
