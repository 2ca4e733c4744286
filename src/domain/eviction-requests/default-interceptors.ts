/**
 * Which pods get an interceptor that they do not register: those of a Deployment that would lose
 * availability with them (ER-55).
 *
 * Promises: follows pods and budgets as they change; a budget counts when it allows no disruption
 * even while all its pods are healthy, so that the answer does not depend on the moment.
 */
import type { Budget } from '../drain/budget.ts';
import { budgetIndex } from '../drain/budget-index.ts';
import type { DrainPod } from '../drain/pod.ts';
import type { ObjectKey, Uid } from '../ids.ts';

/** On every pod of a Deployment. */
export const TEMPLATE_HASH = 'pod-template-hash';

/** The ReplicaSet of a pod of a Deployment. */
const replicaSetOf = ({ controller, labels }: DrainPod): Uid | undefined =>
  controller?.kind === 'ReplicaSet' && Object.hasOwn(labels, TEMPLATE_HASH)
    ? controller.uid
    : undefined;

const neverAllows = ({ desiredHealthy, expectedPods }: Budget): boolean =>
  expectedPods > 0 && desiredHealthy >= expectedPods;

/** Pods of Deployments, and all budgets. */
export interface AvailabilityIndex {
  readonly putPod: (pod: DrainPod) => void;
  readonly removePod: (pod: DrainPod) => void;
  readonly putBudget: (budget: Budget) => void;
  readonly removeBudget: (key: ObjectKey) => void;
  /** It is the only pod of its Deployment, or a budget never allows its eviction. */
  readonly wouldLose: (pod: DrainPod) => boolean;
}

/** Creates an empty index. */
export const availabilityIndex = (): AvailabilityIndex => {
  const podsOf = new Map<Uid, Set<Uid>>();
  /** By pod: it may be taken out of its ReplicaSet, or adopted by another one. */
  const setOf = new Map<Uid, Uid>();
  const budgets = budgetIndex();

  const removePod = ({ uid }: Pick<DrainPod, 'uid'>): void => {
    const set = setOf.get(uid);
    if (set === undefined) return;
    setOf.delete(uid);
    const pods = podsOf.get(set);
    pods?.delete(uid);
    if (pods?.size === 0) podsOf.delete(set);
  };

  const isBlocked = (pod: DrainPod): boolean => {
    // Only budgets stay in this index: pods come and go far more often than they are asked about.
    budgets.putPod(pod);
    const found = budgets.budgetsOf(pod.uid).some(neverAllows);
    budgets.removePod(pod.uid);
    return found;
  };

  return {
    putPod: (pod) => {
      const set = pod.terminating || pod.finished ? undefined : replicaSetOf(pod);
      if (setOf.get(pod.uid) !== set) removePod(pod);
      if (set === undefined) return;
      setOf.set(pod.uid, set);
      podsOf.set(set, (podsOf.get(set) ?? new Set()).add(pod.uid));
    },
    removePod,
    putBudget: (budget) => {
      budgets.putBudget(budget);
    },
    removeBudget: (key) => {
      budgets.removeBudget(key);
    },
    wouldLose: (pod) => {
      const set = replicaSetOf(pod);
      if (set === undefined || pod.terminating || pod.finished) return false;
      const pods = podsOf.get(set);
      return pods === undefined || pods.size <= 1 || isBlocked(pod);
    },
  };
};
