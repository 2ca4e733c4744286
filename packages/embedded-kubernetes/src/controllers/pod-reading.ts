/** Reads the pod fields that controllers use. */
import {
  booleanAt,
  type JsonRecord,
  listOrEmptyAt,
  numberAt,
  recordAt,
  textAt,
} from '../values/json.ts';

const DEFAULT_GRACE_SECONDS = 30;

/** The owner reference with `controller: true`. */
export const controllerOf = (object: unknown): JsonRecord | undefined => {
  const owner = listOrEmptyAt(object, 'metadata', 'ownerReferences')
    .find((reference) => booleanAt(reference, 'controller') === true);
  return recordAt({ owner }, 'owner');
};

/** UID of the controller; '' without one. */
export const controllerUid = (object: unknown): string => textAt(controllerOf(object), 'uid') ?? '';

/** The node that a pod is bound to; '' without one. */
export const nodeOf = (pod: unknown): string => textAt(pod, 'spec', 'nodeName') ?? '';

/** `status.phase`; the default is Pending. */
export const phaseOf = (pod: unknown): string => textAt(pod, 'status', 'phase') ?? 'Pending';

/** Whether the object has a deletion timestamp. */
export const isTerminating = (object: unknown): boolean =>
  textAt(object, 'metadata', 'deletionTimestamp') !== undefined;

/** Whether the pod has succeeded or failed. */
export const isFinished = (pod: unknown): boolean => ['Succeeded', 'Failed'].includes(phaseOf(pod));

/** Neither finished nor terminating: counts as a replica. */
export const isActive = (pod: unknown): boolean => !isFinished(pod) && !isTerminating(pod);

/** A condition of any object. */
export const conditionOf = (object: unknown, type: string): unknown =>
  listOrEmptyAt(object, 'status', 'conditions').find((entry) => textAt(entry, 'type') === type);

/** Whether the condition `Ready` is true. */
export const isReady = (object: unknown): boolean =>
  textAt(conditionOf(object, 'Ready'), 'status') === 'True';

/** Remaining grace seconds of a terminating pod. */
export const graceSecondsOf = (pod: unknown): number =>
  numberAt(pod, 'metadata', 'deletionGracePeriodSeconds') ??
    numberAt(pod, 'spec', 'terminationGracePeriodSeconds') ?? DEFAULT_GRACE_SECONDS;

/** The conditions with `condition` replacing the one of its type. */
export const withCondition = (
  object: unknown,
  condition: { readonly type: string; readonly status: string } & JsonRecord,
  now: string,
): readonly unknown[] => {
  const conditions = listOrEmptyAt(object, 'status', 'conditions');
  const before = conditions.find((entry) => textAt(entry, 'type') === condition.type);
  const since = textAt(before, 'status') === condition.status
    ? textAt(before, 'lastTransitionTime') ?? now
    : now;
  const next = { ...condition, lastTransitionTime: since };
  return before === undefined
    ? [...conditions, next]
    : conditions.map((entry) => entry === before ? next : entry);
};
