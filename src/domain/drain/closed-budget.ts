/**
 * Budgets that allow 0 disruptions: whether one can ever open, why, and the change that opens it.
 *
 * Promises: a budget counts as closed for good only by a status that its controller has computed
 * for the current spec; a budget that is full now and can open is not. Commands fit `kubectl` as
 * they are.
 */
import { type Budget, isProcessed } from './budget.ts';

/** True when the budget counts controllers and none of its pods has one: no call changes that. */
export const expectsNoPods = (budget: Budget): boolean =>
  budget.countsControllers && isProcessed(budget) && budget.syncProblem === '' &&
  budget.expectedPods === 0;

/**
 * True when the budget requires every pod that it expects, or expects none because its pods have
 * no controller: healthy pods do not open it, only a change of the budget or of the replicas.
 */
export const neverAllows = (budget: Budget): boolean => {
  if (!isProcessed(budget) || budget.syncProblem !== '') return false;
  const { expectedPods, desiredHealthy, disruptionsAllowed } = budget;
  if (expectedPods === 0) return expectsNoPods(budget);
  return disruptionsAllowed === 0 && desiredHealthy >= expectedPods;
};

const podsText = (count: number): string => count === 1 ? '1 pod' : `${count} pods`;

const requirement = ({ limit, desiredHealthy, expectedPods }: Budget): string => {
  const expected = expectedPods === 1 ? 'its only pod' : `all ${podsText(expectedPods)}`;
  if (limit === null) return `it requires ${expected}`;
  const { field, value } = limit;
  if (field === 'maxUnavailable') return `maxUnavailable is ${value}`;
  const rounded = value.endsWith('%') ? ` (rounded up to ${desiredHealthy})` : '';
  return expectedPods < desiredHealthy
    ? `minAvailable ${value}${rounded} exceeds its ${podsText(expectedPods)}`
    : `minAvailable ${value}${rounded} requires ${expected}`;
};

/** Why the budget never allows an eviction. */
export const neverAllowsText = (budget: Budget): string =>
  budget.expectedPods === 0
    ? `budget ${budget.key} expects 0 pods and never allows an eviction`
    : `budget ${budget.key} never allows an eviction: ${requirement(budget)}`;

const patchCommand = ({ namespace, name }: Budget, spec: object): string =>
  `kubectl patch pdb ${name} --type merge -p '${JSON.stringify({ spec })}' -n ${namespace}`;

/**
 * The smallest number of replicas of which `minAvailable` does not require all; undefined when it
 * always does. A percentage grows with them: the part that it spares must be a whole pod.
 */
const openingReplicas = ({ limit, desiredHealthy }: Budget): number | undefined => {
  if (limit === null || !limit.value.endsWith('%')) return desiredHealthy + 1;
  const sparedPercent = 100 - Number.parseInt(limit.value, 10);
  return sparedPercent > 0 ? Math.ceil(100 / sparedPercent) : undefined;
};

/** The change that lets a budget that never allows an eviction open. */
export const openingChange = (budget: Budget): string => {
  const { expectedPods, limit } = budget;
  if (expectedPods === 0) {
    return 'Give the pods a controller, set an absolute minAvailable, or delete the pods manually';
  }
  if (limit?.field === 'maxUnavailable') {
    return `Set maxUnavailable to 1 or more: ${patchCommand(budget, { maxUnavailable: 1 })}`;
  }
  const minAvailable = expectedPods - 1;
  const replicas = openingReplicas(budget);
  const change = replicas === undefined
    ? 'Lower minAvailable'
    : `Run at least ${replicas} replicas, or lower minAvailable`;
  return `${change}: ${patchCommand(budget, { minAvailable })}`;
};

/** Why the budget allows no eviction now. */
export const closedText = ({ key, syncProblem, currentHealthy, desiredHealthy }: Budget): string =>
  `budget ${key} allows 0 disruptions: ${
    syncProblem === '' ? `${currentHealthy} healthy, ${desiredHealthy} required` : syncProblem
  }`;

/** What lets a budget that is full now allow an eviction. */
export const slotChange = (budget: Budget): string => {
  const { namespace, name, syncProblem, currentHealthy, desiredHealthy } = budget;
  const look = `kubectl -n ${namespace} describe pdb ${name}`;
  if (syncProblem !== '') return `Correct what the controller of the budget reports: ${look}`;
  const missing = Math.max(1, desiredHealthy + 1 - currentHealthy);
  return `Make ${missing} more ${missing === 1 ? 'pod' : 'pods'} of the budget healthy, add ` +
    `replicas, or relax the budget: ${look}`;
};
