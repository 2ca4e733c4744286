/** A Deployment and its pods as the surge reads them. */
import {
  type JsonRecord,
  listAt,
  numberAt,
  parseJson,
  recordAt,
  textAt,
  textsAt,
  timeAt,
  valueAt,
} from '../json.ts';

/** On the Deployment, while its replicas are raised: what to restore. */
export const BASELINE_ANNOTATION = 'surge.tidegate.dev/baseline';

/** What the surge has changed. */
export interface SurgeBaseline {
  /** The replicas before; restored as they were. */
  readonly replicas: number;
  /** What the surge wrote; another value is somebody else's, and stays. */
  readonly raisedTo: number;
}

/** A pod of the Deployment. */
export interface SurgePod {
  readonly name: string;
  readonly uid: string;
  readonly isAvailable: boolean;
  readonly isTerminating: boolean;
  /** Why the scheduler finds no node; empty when it has or has not tried. */
  readonly unschedulable: string;
}

/** A Deployment and its pods, read at one time. */
export interface SurgeFacts {
  readonly resourceVersion: string;
  readonly replicas: number;
  /** Pods that may be added; 0 where the strategy allows none. */
  readonly maxSurge: number;
  readonly baseline: SurgeBaseline | null;
  readonly isDeleting: boolean;
  readonly pods: readonly SurgePod[];
}

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

/** No Deployment has these replicas, so that nothing is restored from it. */
const UNREADABLE: SurgeBaseline = { replicas: -1, raisedTo: -1 };

const baselineOf = (deployment: unknown): SurgeBaseline | null => {
  const text = textAt(deployment, 'metadata', 'annotations', BASELINE_ANNOTATION);
  if (text === undefined) return null;
  const parsed = parseJson(text);
  const [replicas, raisedTo] = [numberAt(parsed, 'replicas'), numberAt(parsed, 'raisedTo')];
  return replicas === undefined || raisedTo === undefined ? UNREADABLE : { replicas, raisedTo };
};

const conditionOf = (pod: unknown, type: string): JsonRecord =>
  recordAt({
    found: listAt(pod, 'status', 'conditions').find((one) => textAt(one, 'type') === type),
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

const podOf = (pod: unknown, nowMs: number, minReadySeconds: number): SurgePod => {
  const isTerminating = textAt(pod, 'metadata', 'deletionTimestamp') !== undefined;
  return {
    name: textAt(pod, 'metadata', 'name') ?? '',
    uid: textAt(pod, 'metadata', 'uid') ?? '',
    isAvailable: !isTerminating && !hasEnded(pod) && isAvailable(pod, nowMs, minReadySeconds),
    isTerminating,
    unschedulable: unschedulableOf(pod),
  };
};

/** The controller of an object, of a kind. */
export const controllerOf = (object: unknown, kind: string): JsonRecord | undefined => {
  const found = listAt(object, 'metadata', 'ownerReferences').find((owner) =>
    valueAt(owner, 'controller') === true && textAt(owner, 'kind') === kind
  );
  return found === undefined ? undefined : recordAt({ found }, 'found');
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

/** The facts in a Deployment and the pods that its selector selects. */
export const surgeFacts = (
  deployment: unknown,
  pods: readonly unknown[],
  nowMs: number,
): SurgeFacts => {
  const replicas = numberAt(deployment, 'spec', 'replicas') ?? 1;
  const baseline = baselineOf(deployment);
  const minReadySeconds = numberAt(deployment, 'spec', 'minReadySeconds') ?? 0;
  return {
    resourceVersion: textAt(deployment, 'metadata', 'resourceVersion') ?? '',
    replicas,
    maxSurge: maxSurgeOf(deployment, baseline?.replicas ?? replicas),
    baseline,
    isDeleting: textAt(deployment, 'metadata', 'deletionTimestamp') !== undefined,
    pods: pods.filter((pod) => controllerOf(pod, 'ReplicaSet') !== undefined)
      .map((pod) => podOf(pod, nowMs, minReadySeconds)),
  };
};
