/**
 * A PodDisruptionBudget as drains need it, and which pods it covers.
 *
 * Promises: total for any API object; plain data, suitable for machine context; a selector matches
 * as in Kubernetes' eviction handler (DR-31): without a selector nothing, `{}` everything, an
 * invalid one nothing.
 */
import type { Identity } from '../facts.ts';
import {
  listOrEmptyAt,
  numberAt,
  recordAt,
  textAt,
  textRecordOrEmptyAt,
  valueAt,
} from '../json.ts';
import { type LabelSelector, labelSelectorOf, selectsLabels } from '../label-selector.ts';
import { generationOf, identityOf } from '../object-meta.ts';
import type { DrainPod } from './pod.ts';

/** The cached fields of a PodDisruptionBudget. Missing counts read as 0. */
export interface Budget extends Identity {
  readonly namespace: string;
  readonly name: string;
  readonly selector: LabelSelector;
  readonly unhealthyPods: 'IfHealthyBudget' | 'AlwaysAllow';
  readonly generation: number;
  readonly observedGeneration: number;
  readonly disruptionsAllowed: number;
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  readonly expectedPods: number;
  /** Names of pods whose eviction the budget has counted, with the time (epoch ms). */
  readonly disruptedPods: Readonly<Record<string, number>>;
  /** `expectedPods` sums over controllers, not pods (`maxUnavailable`, percentages). */
  readonly countsControllers: boolean;
  /** Why its controller cannot compute the status; empty when it can. */
  readonly syncProblem: string;
  /** What its spec asks for; null without either field. */
  readonly limit: BudgetLimit | null;
}

/** `maxUnavailable: 0`, `minAvailable: 90%`, … */
export interface BudgetLimit {
  readonly field: 'maxUnavailable' | 'minAvailable';
  readonly value: string;
}

const limitOf = (raw: unknown): BudgetLimit | null => {
  for (const field of ['maxUnavailable', 'minAvailable'] as const) {
    const value = valueAt(raw, 'spec', field);
    if (typeof value === 'number' || typeof value === 'string') return { field, value: `${value}` };
  }
  return null;
};

const disruptedPodsOf = (raw: unknown): Readonly<Record<string, number>> => {
  const times = Object.entries(textRecordOrEmptyAt(raw, 'status', 'disruptedPods'))
    .map(([name, time]) => [name, Date.parse(time)] as const)
    .filter(([, time]) => !Number.isNaN(time));
  return Object.fromEntries(times);
};

const syncProblemOf = (raw: unknown): string => {
  const condition = listOrEmptyAt(raw, 'status', 'conditions').find((entry) =>
    textAt(entry, 'type') === 'DisruptionAllowed' && textAt(entry, 'reason') === 'SyncFailed'
  );
  return textAt(condition, 'message') ?? '';
};

/** Reads a PodDisruptionBudget as the API server returns it. Total. */
export const projectBudget = (raw: unknown): Budget | undefined => {
  const identity = identityOf(raw);
  if (identity === undefined) return undefined;
  const count = (field: string): number => numberAt(raw, 'status', field) ?? 0;
  return {
    ...identity,
    namespace: textAt(raw, 'metadata', 'namespace') ?? '',
    name: textAt(raw, 'metadata', 'name') ?? '',
    selector: labelSelectorOf(recordAt(raw, 'spec', 'selector')),
    unhealthyPods: textAt(raw, 'spec', 'unhealthyPodEvictionPolicy') === 'AlwaysAllow'
      ? 'AlwaysAllow'
      : 'IfHealthyBudget',
    generation: generationOf(raw),
    observedGeneration: count('observedGeneration'),
    disruptionsAllowed: count('disruptionsAllowed'),
    currentHealthy: count('currentHealthy'),
    desiredHealthy: count('desiredHealthy'),
    expectedPods: count('expectedPods'),
    disruptedPods: disruptedPodsOf(raw),
    countsControllers: valueAt(raw, 'spec', 'maxUnavailable') !== undefined ||
      textAt(raw, 'spec', 'minAvailable') !== undefined,
    syncProblem: syncProblemOf(raw),
    limit: limitOf(raw),
  };
};

/** True when the budget selects the pod. */
export const budgetCovers = (
  budget: Pick<Budget, 'namespace' | 'selector'>,
  pod: Pick<DrainPod, 'namespace' | 'labels'>,
): boolean => budget.namespace === pod.namespace && selectsLabels(budget.selector, pod.labels);

/** True when the status is about the current generation of the budget. */
export const isProcessed = (budget: Budget): boolean =>
  budget.observedGeneration >= budget.generation;
