/**
 * Computes the status of a PodDisruptionBudget, as the disruption controller does.
 *
 * Promises: rounds like Kubernetes (`GetScaledValueFromIntOrPercent` rounds up in both cases, so a
 * `maxUnavailable` of 30 % of 7 is 3); an entry of `disruptedPods` expires when its pod is gone or
 * terminating, or after two minutes (`DeletionTimeout`).
 */
import {
  asRecord,
  type JsonRecord,
  numberAt,
  textAt,
  textRecordOrEmptyAt,
  valueAt,
} from '../values/json.ts';
import { isFinished, isReady, isTerminating } from './pod-reading.ts';

/** How long an allowed eviction counts before its pod must be terminating. */
const DISRUPTED_MS = 120_000;

/** `5` or `"30%"` of `total`, rounded up; `undefined` when it is neither. */
export const scaledUp = (value: unknown, total: number): number | undefined => {
  if (typeof value === 'number' && Number.isInteger(value)) return value;
  const percent = typeof value === 'string' ? /^(\d+)%$/.exec(value)?.[1] : undefined;
  return percent === undefined ? undefined : Math.ceil(Number(percent) * total / 100);
};

/** The observed pods of a budget. */
export interface BudgetFacts {
  readonly budget: JsonRecord;
  /** Pods that the selector matches. */
  readonly pods: readonly JsonRecord[];
  /** The sum of the replicas of the pods' controllers; `undefined` when unknown. */
  readonly wanted: number | undefined;
  readonly nowMs: number;
}

/** The counts of a status. */
export interface BudgetCounts {
  readonly disruptionsAllowed: number;
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  readonly expectedPods: number;
  readonly disruptedPods: Readonly<Record<string, string>>;
  /** Milliseconds until the next entry of `disruptedPods` expires. */
  readonly againInMs: number | undefined;
}

/** Expected and desired pods; `undefined` when the controllers cannot be determined. */
const expectations = (
  { budget, pods, wanted }: BudgetFacts,
): { readonly expected: number; readonly desired: number } | undefined => {
  const unavailable = valueAt(budget, 'spec', 'maxUnavailable');
  if (unavailable !== undefined) {
    if (wanted === undefined) return undefined;
    const most = scaledUp(unavailable, wanted);
    return most === undefined
      ? undefined
      : { expected: wanted, desired: Math.max(0, wanted - most) };
  }
  const available = valueAt(budget, 'spec', 'minAvailable') ?? 1;
  if (typeof available === 'number') return { expected: pods.length, desired: available };
  if (wanted === undefined) return undefined;
  const least = scaledUp(available, wanted);
  return least === undefined ? undefined : { expected: wanted, desired: least };
};

/** Unexpired entries, and when the first of them expires. */
const stillDisrupted = ({ budget, pods, nowMs }: BudgetFacts) => {
  const byName = new Map(pods.map((pod) => [textAt(pod, 'metadata', 'name') ?? '', pod]));
  const kept: Record<string, string> = {};
  let againInMs: number | undefined;
  for (const [name, at] of Object.entries(textRecordOrEmptyAt(budget, 'status', 'disruptedPods'))) {
    const pod = byName.get(name);
    const leftMs = Date.parse(at) + DISRUPTED_MS - nowMs;
    if (pod === undefined || isTerminating(pod) || leftMs <= 0) continue;
    kept[name] = at;
    againInMs = Math.min(againInMs ?? leftMs, leftMs);
  }
  return { kept, againInMs };
};

/** The counts; `undefined` when they cannot be computed, which allows 0 disruptions. */
export const budgetCounts = (facts: BudgetFacts): BudgetCounts | undefined => {
  const expectation = expectations(facts);
  if (expectation === undefined) return undefined;
  const { expected, desired } = expectation;
  const { kept, againInMs } = stillDisrupted(facts);
  const healthy =
    facts.pods.filter((pod) =>
      isReady(pod) && !isTerminating(pod) && !isFinished(pod) &&
      !Object.hasOwn(kept, textAt(pod, 'metadata', 'name') ?? '')
    ).length;
  return {
    disruptionsAllowed: expected <= 0 ? 0 : Math.max(0, healthy - desired),
    currentHealthy: healthy,
    desiredHealthy: desired,
    expectedPods: expected,
    disruptedPods: kept,
    againInMs,
  };
};

/** Whether two statuses are equal. */
export const sameCounts = (status: unknown, counts: BudgetCounts): boolean => {
  const same = (
    field: 'disruptionsAllowed' | 'currentHealthy' | 'desiredHealthy' | 'expectedPods',
  ) => numberAt(status, field) === counts[field];
  const before = asRecord(valueAt(status, 'disruptedPods')) ?? {};
  const names = Object.keys(counts.disruptedPods);
  return same('disruptionsAllowed') && same('currentHealthy') && same('desiredHealthy') &&
    same('expectedPods') && names.length === Object.keys(before).length &&
    names.every((name) => Object.hasOwn(before, name));
};
