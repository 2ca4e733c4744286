/**
 * Conditions of custom resources, by the Kubernetes API conventions (*Typical status properties*).
 *
 * Promises: total; small plain data, one for each of up to a hundred thousand objects; the time of
 * the last transition changes with the status and with nothing else.
 */
import { listOrEmptyAt, numberAt, textAt } from './json.ts';
import { rfc3339Seconds } from './time.ts';

const STATUSES = ['True', 'False', 'Unknown'] as const;
type ConditionStatus = (typeof STATUSES)[number];

/** What a condition says. */
export interface Condition {
  readonly type: string;
  readonly status: ConditionStatus;
  readonly reason: string;
  readonly message: string;
  /** Absent where the spec has no part in it. */
  readonly observedGeneration?: number;
}

/** The kept part of a condition that an object has. */
export interface CurrentCondition {
  readonly status: ConditionStatus;
  readonly reason: string;
  /** `lastTransitionTime` in Unix seconds. */
  readonly sinceSeconds: number;
  /** 0 when it is absent. */
  readonly observedGeneration: number;
}

/** The condition of that type as the object has it; undefined without one. */
export const rawConditionOf = (raw: unknown, type: string): unknown =>
  listOrEmptyAt(raw, 'status', 'conditions').find((one) => textAt(one, 'type') === type);

/** Whether the object has that condition with the status True. */
export const isConditionTrue = (raw: unknown, type: string): boolean =>
  textAt(rawConditionOf(raw, type), 'status') === 'True';

/** The condition of that type in the status of an object; null without a valid one. */
export const conditionOf = (
  raw: unknown,
  type: string,
  intern: (reason: string) => string = (reason) => reason,
): CurrentCondition | null => {
  const found = rawConditionOf(raw, type);
  const status = STATUSES.find((known) => known === textAt(found, 'status'));
  const sinceMs = Date.parse(textAt(found, 'lastTransitionTime') ?? '');
  if (status === undefined || Number.isNaN(sinceMs)) return null;
  return {
    status,
    reason: intern(textAt(found, 'reason') ?? ''),
    sinceSeconds: Math.floor(sinceMs / 1000),
    observedGeneration: numberAt(found, 'observedGeneration') ?? 0,
  };
};

/** The condition as it is written over `current`. */
export const conditionBody = (
  condition: Condition,
  current: CurrentCondition | null,
  nowMs: number,
): object => ({
  ...condition,
  lastTransitionTime: rfc3339Seconds(
    current?.status === condition.status ? current.sinceSeconds * 1000 : nowMs,
  ),
});
