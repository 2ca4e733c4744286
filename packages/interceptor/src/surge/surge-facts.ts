/** A Deployment and its pods as the surge reads them. */
import {
  type JsonRecord,
  listAt,
  numberAt,
  recordAt,
  textAt,
  textsAt,
  timeAt,
  valueAt,
} from '../json.ts';
import type { Autoscaler, FoundAutoscaler } from './autoscaler.ts';
import { baselineOf, type SurgeBaseline } from './surge-baseline.ts';

/** On a workload: a person accepts that it is down while its pod moves. */
export const ACCEPT_DOWNTIME = 'tidegate.dev/accept-downtime';

/** Of a pod: a ReplicaSet that is lowered removes the lowest cost first (KEP-2255). */
export const COST_ANNOTATION = 'controller.kubernetes.io/pod-deletion-cost';

/** On a pod, while its deletion cost is the surge's: the cost before, empty for none. */
export const COST_BEFORE_ANNOTATION = 'surge.tidegate.dev/deletion-cost-before';

/** The lowest 32-bit integer: no other pod has less. */
export const LOWEST_COST = -(2 ** 31);

/** What the surge has changed of a pod that it has chosen to leave. */
export interface CostChange {
  /** The text of the deletion cost before; empty for none. */
  readonly before: string;
  /** The cost is still what the surge wrote. */
  readonly isKept: boolean;
}

/** A pod of the Deployment. */
export interface SurgePod {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** The UID of its ReplicaSet. */
  readonly replicaSet: string;
  readonly isAvailable: boolean;
  readonly isTerminating: boolean;
  /** Succeeded or failed: its ReplicaSet counts it no more. */
  readonly hasEnded: boolean;
  /** Why the scheduler finds no node; empty when it has or has not tried. */
  readonly unschedulable: string;
  readonly deletionCost: number;
  /** The text that `deletionCost` was read from; empty for none. */
  readonly costText: string;
  readonly costChange: CostChange | null;
}

/** A Deployment and its pods, read at one time. */
export interface SurgeFacts {
  /** Of the Deployment. */
  readonly resourceVersion: string;
  readonly replicas: number;
  /** What owns the replicas; null: the Deployment itself. */
  readonly autoscaler: Autoscaler | null;
  /** Pods that may be added; 0 where the strategy allows none. */
  readonly maxSurge: number;
  /** A claim that pods on one Node alone can use; null without one. */
  readonly singleClaim: string | null;
  /** A person accepts that it is down while its pod moves. */
  readonly acceptsDowntime: boolean;
  readonly baseline: SurgeBaseline | null;
  readonly isDeleting: boolean;
  /** Why a wanted pod that is missing could not be created; empty otherwise. */
  readonly creationFailure: string;
  readonly pods: readonly SurgePod[];
  /** UIDs of requested pods for whose Node a person accepts that they are down. */
  readonly downtimePods: readonly string[];
}

/** The pods that a ReplicaSet counts. */
export const activePods = ({ pods }: Pick<SurgeFacts, 'pods'>): readonly SurgePod[] =>
  pods.filter(({ hasEnded, isTerminating }) => !hasEnded && !isTerminating);

const DEFAULT_SURGE = '25%';

/** A share is rounded up, as by the Deployment controller. */
const maxSurgeOf = (deployment: unknown, replicas: number): number => {
  if (textAt(deployment, 'spec', 'strategy', 'type') === 'Recreate') return 0;
  const path = ['spec', 'strategy', 'rollingUpdate', 'maxSurge'];
  const value = valueAt(deployment, ...path) ?? DEFAULT_SURGE;
  const share = typeof value === 'string' ? /^(\d+)%$/.exec(value)?.[1] : undefined;
  if (share !== undefined) return Math.ceil(Number(share) * replicas / 100);
  return typeof value === 'number' ? Math.max(0, Math.floor(value)) : 0;
};

const conditionOf = (object: unknown, type: string): JsonRecord =>
  recordAt({
    found: listAt(object, 'status', 'conditions').find((one) => textAt(one, 'type') === type),
  }, 'found');

const isAvailable = (pod: unknown, nowMs: number, minReadySeconds: number): boolean => {
  const ready = conditionOf(pod, 'Ready');
  if (textAt(ready, 'status') !== 'True') return false;
  const sinceMs = timeAt(ready, 'lastTransitionTime') ?? nowMs;
  return minReadySeconds === 0 || nowMs - sinceMs >= minReadySeconds * 1000;
};

const unschedulableOf = (pod: unknown): string => {
  const scheduled = conditionOf(pod, 'PodScheduled');
  return textAt(scheduled, 'status') === 'False' &&
      textAt(scheduled, 'reason') === 'Unschedulable'
    ? textAt(scheduled, 'message') ?? 'no node has room'
    : '';
};

const hasEnded = (pod: unknown): boolean =>
  ['Succeeded', 'Failed'].includes(textAt(pod, 'status', 'phase') ?? '');

/** The controller of an object, of a kind. */
export const controllerOf = (object: unknown, kind: string): JsonRecord | undefined => {
  const found = listAt(object, 'metadata', 'ownerReferences').find((owner) =>
    valueAt(owner, 'controller') === true && textAt(owner, 'kind') === kind
  );
  return found === undefined ? undefined : recordAt({ found }, 'found');
};

/** Empty for what the API server refuses in a write: it counts as none. */
const costTextOf = (pod: unknown): string => {
  const text = textAt(pod, 'metadata', 'annotations', COST_ANNOTATION) ?? '';
  const isInteger = /^(?:-\d+|0|[1-9]\d*)$/.test(text);
  return isInteger && Number(text) >= LOWEST_COST && Number(text) < -LOWEST_COST ? text : '';
};

const costChangeOf = (pod: unknown, costText: string): CostChange | null => {
  const before = textAt(pod, 'metadata', 'annotations', COST_BEFORE_ANNOTATION);
  return before === undefined ? null : { before, isKept: costText === `${LOWEST_COST}` };
};

const podOf = (pod: unknown, nowMs: number, minReadySeconds: number): SurgePod => {
  const isTerminating = textAt(pod, 'metadata', 'deletionTimestamp') !== undefined;
  const ended = hasEnded(pod);
  const costText = costTextOf(pod);
  return {
    name: textAt(pod, 'metadata', 'name') ?? '',
    uid: textAt(pod, 'metadata', 'uid') ?? '',
    resourceVersion: textAt(pod, 'metadata', 'resourceVersion') ?? '',
    replicaSet: textAt(controllerOf(pod, 'ReplicaSet'), 'uid') ?? '',
    isAvailable: !isTerminating && !ended && isAvailable(pod, nowMs, minReadySeconds),
    isTerminating,
    hasEnded: ended,
    unschedulable: unschedulableOf(pod),
    deletionCost: Number(costText),
    costText,
    costChange: costChangeOf(pod, costText),
  };
};

/** The objects that one of these owners controls. */
const controlledBy = (
  objects: readonly unknown[],
  kind: string,
  owners: readonly unknown[],
): readonly unknown[] => {
  const uids = new Set(owners.flatMap((owner) => textAt(owner, 'metadata', 'uid') ?? []));
  return objects.filter((object) => uids.has(textAt(controllerOf(object, kind), 'uid') ?? ''));
};

/** Why no pod could be created. A paused Deployment does not copy it from its ReplicaSet. */
const creationFailureIn = (owners: readonly unknown[]): string => {
  const failure = owners.map((owner) => conditionOf(owner, 'ReplicaFailure'))
    .find((one) => textAt(one, 'status') === 'True' && textAt(one, 'reason') === 'FailedCreate');
  return failure === undefined ? '' : textAt(failure, 'message') ?? 'the API server refuses it';
};

/** The selector of a Deployment as a query. */
export const selectorText = (deployment: unknown): string => {
  const labels = Object.entries(recordAt(deployment, 'spec', 'selector', 'matchLabels'))
    .map(([key, value]) => `${key}=${String(value)}`);
  const expressions = listAt(deployment, 'spec', 'selector', 'matchExpressions').map((one) => {
    const key = textAt(one, 'key') ?? '';
    const values = `(${textsAt(one, 'values').join(',')})`;
    switch (textAt(one, 'operator')) {
      case 'In':
        return `${key} in ${values}`;
      case 'NotIn':
        return `${key} notin ${values}`;
      case 'DoesNotExist':
        return `!${key}`;
      default:
        return key;
    }
  });
  return [...labels, ...expressions].join(',');
};

/** A Deployment as it was read, with what belongs to it. */
export interface ReadDeployment {
  readonly deployment: unknown;
  /** Those that its selector selects. */
  readonly pods: readonly unknown[];
  /** The ReplicaSets that control these pods. */
  readonly replicaSets: readonly unknown[];
  readonly autoscaler: FoundAutoscaler | null;
  /** The PersistentVolumeClaims that its pods mount. */
  readonly claims: readonly unknown[];
  /** UIDs of pods for whose Node downtime is accepted. */
  readonly downtimePods: readonly string[];
}

const SHARED_MODES = ['ReadWriteMany', 'ReadOnlyMany'];

/** The names of the claims that all pods of a Deployment mount. */
export const claimNames = (deployment: unknown): readonly string[] =>
  listAt(deployment, 'spec', 'template', 'spec', 'volumes').flatMap((volume) =>
    textAt(volume, 'persistentVolumeClaim', 'claimName') ?? []
  );

/** The first claim that only one Node can use. */
const singleClaimIn = (claims: readonly unknown[]): string | null => {
  const single = claims.find((claim) => {
    const modes = textsAt(claim, 'spec', 'accessModes');
    return modes.length > 0 && !modes.some((mode) => SHARED_MODES.includes(mode));
  });
  return textAt(single, 'metadata', 'name') ?? null;
};

/** The facts in a Deployment and its pods: its selector may select those of another one, too. */
export const surgeFacts = (
  { deployment, pods: selected, replicaSets, autoscaler: found, claims, downtimePods }:
    ReadDeployment,
  nowMs: number,
): SurgeFacts => {
  const replicas = numberAt(deployment, 'spec', 'replicas') ?? 1;
  // A Deployment that was raised is restored, even if it has an autoscaler since.
  const own = baselineOf(deployment);
  const baseline = own ?? found?.baseline ?? null;
  const minReadySeconds = numberAt(deployment, 'spec', 'minReadySeconds') ?? 0;
  const sets = controlledBy(replicaSets, 'Deployment', [deployment]);
  const pods = controlledBy(selected, 'ReplicaSet', sets)
    .map((pod) => podOf(pod, nowMs, minReadySeconds));
  const isComplete = activePods({ pods }).length >= replicas;
  return {
    resourceVersion: textAt(deployment, 'metadata', 'resourceVersion') ?? '',
    replicas,
    autoscaler: own === null ? found?.autoscaler ?? null : null,
    maxSurge: maxSurgeOf(deployment, baseline?.replicas ?? replicas),
    singleClaim: singleClaimIn(claims),
    acceptsDowntime: textAt(deployment, 'metadata', 'annotations', ACCEPT_DOWNTIME) === 'true',
    baseline,
    isDeleting: textAt(deployment, 'metadata', 'deletionTimestamp') !== undefined,
    creationFailure: isComplete ? '' : creationFailureIn([deployment, ...sets]),
    pods,
    downtimePods,
  };
};

/** The facts where the Deployment is gone: what was raised of its autoscaler is restored. */
export const factsWithoutDeployment = (found: FoundAutoscaler | null): SurgeFacts => ({
  resourceVersion: '',
  replicas: 0,
  autoscaler: found?.autoscaler ?? null,
  maxSurge: 0,
  singleClaim: null,
  acceptsDowntime: false,
  baseline: found?.baseline ?? null,
  isDeleting: true,
  creationFailure: '',
  pods: [],
  downtimePods: [],
});
