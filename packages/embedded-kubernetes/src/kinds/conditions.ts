/** Status conditions that the API server itself writes. */
import { type JsonRecord, listOrEmptyAt, recordAt, textAt } from '../values/json.ts';
import { sameJson } from '../patches/same-json.ts';

/** A condition and its RFC 3339 timestamp. */
export interface NewCondition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
  readonly now: string;
}

/** The object with the condition; the same object when the condition is unchanged. */
export const withCondition = (
  object: JsonRecord,
  { now, observedGeneration, ...condition }: NewCondition,
): JsonRecord => {
  const conditions = listOrEmptyAt(object, 'status', 'conditions');
  const index = conditions.findIndex((one) => textAt(one, 'type') === condition.type);
  const known = conditions[index];
  const stays = textAt(known, 'status') === condition.status;
  const written = {
    ...condition,
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    lastTransitionTime: stays ? textAt(known, 'lastTransitionTime') ?? now : now,
  };
  if (sameJson({ ...recordAt({ known }, 'known'), ...written }, known)) return object;
  const next = index < 0 ? [...conditions, written] : conditions.with(index, written);
  return { ...object, status: { ...recordAt(object, 'status'), conditions: next } };
};
