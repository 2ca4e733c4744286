/**
 * Conditions of a list that one controller writes as a whole, with the time of each.
 *
 * Promises: total; types that the controller does not write are left out.
 */
import { textAt, timeAt } from './json.ts';
import { rfc3339Seconds } from './time.ts';

/** A condition as it is stored. */
export interface StoredCondition<Type extends string = string> {
  readonly type: Type;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
  /** `lastTransitionTime`, in milliseconds of the wall clock. */
  readonly sinceMs: number;
}

/** Reads a condition; nothing when its type is another. Its message is cut at the maximum. */
export const storedConditionOf = <Type extends string>(
  raw: unknown,
  types: readonly Type[],
  messageCharactersMax: number,
): readonly StoredCondition<Type>[] => {
  const type = types.find((one) => one === textAt(raw, 'type'));
  if (type === undefined) return [];
  return [{
    type,
    status: textAt(raw, 'status') === 'True' ? 'True' : 'False',
    reason: textAt(raw, 'reason') ?? '',
    message: (textAt(raw, 'message') ?? '').slice(0, messageCharactersMax),
    sinceMs: timeAt(raw, 'lastTransitionTime') ?? 0,
  }];
};

/** The condition as it is written. */
export const storedConditionBody = <Condition extends { readonly sinceMs: number }>(
  { sinceMs, ...condition }: Condition,
) => ({ ...condition, lastTransitionTime: rfc3339Seconds(sinceMs) });
