/**
 * A PodDisruptionBudget as drains need it, and which pods it covers.
 *
 * Promises: total for any API object; plain data, suitable for machine context; a selector matches
 * as in Kubernetes' eviction handler (DR-31): without a selector nothing, `{}` everything, an
 * invalid one nothing.
 */
import type { Identity } from '../facts.ts';
import {
  asList,
  asText,
  type JsonRecord,
  listOrEmptyAt,
  numberAt,
  recordAt,
  textAt,
  textRecordOrEmptyAt,
  valueAt,
} from '../json.ts';
import { labelsHold } from '../label-condition.ts';
import { generationOf, identityOf } from '../object-meta.ts';
import type { Requirement, StandardOperator } from '../resources.ts';
import type { DrainPod } from './pod.ts';

/** The cached fields of a PodDisruptionBudget. Missing counts read as 0. */
export interface Budget extends Identity {
  readonly namespace: string;
  readonly name: string;
  /** All must hold; an empty list matches every pod, `null` none. */
  readonly selector: readonly Requirement<StandardOperator>[] | null;
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

const OPERATORS: readonly StandardOperator[] = ['In', 'NotIn', 'Exists', 'DoesNotExist'];

/** An expression of a label selector; `undefined` when invalid for Kubernetes. */
const expressionOf = (raw: unknown): Requirement<StandardOperator> | undefined => {
  const key = textAt(raw, 'key') ?? '';
  const operator = OPERATORS.find((known) => known === textAt(raw, 'operator'));
  if (operator === undefined || key === '') return undefined;
  const values = (asList(valueAt(raw, 'values')) ?? []).map((value) => asText(value) ?? '');
  const wantsValues = operator === 'In' || operator === 'NotIn';
  return wantsValues === (values.length > 0) ? { key, operator, values } : undefined;
};

const selectorOf = (raw: JsonRecord | undefined): Budget['selector'] => {
  if (raw === undefined) return null;
  const labels = Object.entries(textRecordOrEmptyAt(raw, 'matchLabels')).map((
    [key, value],
  ): Requirement<StandardOperator> => ({ key, operator: 'In', values: [value] }));
  const expressions: Requirement<StandardOperator>[] = [];
  for (const entry of listOrEmptyAt(raw, 'matchExpressions')) {
    const expression = expressionOf(entry);
    if (expression === undefined) return null;
    expressions.push(expression);
  }
  return [...labels, ...expressions];
};

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
    selector: selectorOf(recordAt(raw, 'spec', 'selector')),
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
): boolean =>
  budget.selector !== null && budget.namespace === pod.namespace &&
  budget.selector.every((requirement) => labelsHold(requirement, pod.labels));

/** True when the status is about the current generation of the budget. */
export const isProcessed = (budget: Budget): boolean =>
  budget.observedGeneration >= budget.generation;
