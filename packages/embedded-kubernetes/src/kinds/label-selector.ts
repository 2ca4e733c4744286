/** `metav1.LabelSelector`: an absent selector matches nothing, an empty one everything. */
import {
  type JsonRecord,
  listOrEmptyAt,
  recordAt,
  textAt,
  textRecordOrEmptyAt,
} from '../values/json.ts';

type Labels = Readonly<Record<string, string>>;

const texts = (value: unknown, field: string): readonly string[] =>
  listOrEmptyAt(value, field).filter((entry) => typeof entry === 'string');

/** One `{ key, operator, values }`, also with the `Gt` and `Lt` of node affinity. */
export const expressionHolds = (expression: unknown, labels: Labels): boolean => {
  const key = textAt(expression, 'key') ?? '';
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  const values = texts(expression, 'values');
  switch (textAt(expression, 'operator')) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return value !== undefined && Number(value) > Number(values[0]);
    case 'Lt':
      return value !== undefined && Number(value) < Number(values[0]);
    default:
      return false;
  }
};

/** Whether every wanted label is present with its value. */
export const hasLabels = (wanted: Labels, labels: Labels): boolean =>
  Object.entries(wanted).every(([key, value]) => labels[key] === value);

/** Whether a selector matches labels. */
export const selectorHolds = (selector: JsonRecord | undefined, labels: Labels): boolean =>
  selector !== undefined &&
  hasLabels(textRecordOrEmptyAt(selector, 'matchLabels'), labels) &&
  listOrEmptyAt(selector, 'matchExpressions').every((one) => expressionHolds(one, labels));

/** Whether the selector of a workload or a budget matches labels. */
export const selects = (object: unknown, labels: Labels): boolean =>
  selectorHolds(recordAt(object, 'spec', 'selector'), labels);

const OPERATORS: Readonly<Record<string, (key: string, values: string) => string>> = {
  In: (key, values) => `${key} in (${values})`,
  NotIn: (key, values) => `${key} notin (${values})`,
  Exists: (key) => key,
  DoesNotExist: (key) => `!${key}`,
};

/** A selector in query syntax: `app=web,tier in (a,b)`. */
export const selectorText = (selector: JsonRecord | undefined): string => {
  const equal = Object.entries(textRecordOrEmptyAt(selector, 'matchLabels')).map(
    ([key, value]) => ({ key, text: `${key}=${value}` }),
  );
  const others = listOrEmptyAt(selector, 'matchExpressions').map((expression) => {
    const key = textAt(expression, 'key') ?? '';
    const values = listOrEmptyAt(expression, 'values').toSorted().join(',');
    return { key, text: OPERATORS[textAt(expression, 'operator') ?? '']?.(key, values) ?? '' };
  });
  return [...equal, ...others].sort((left, right) => (left.key < right.key ? -1 : 1))
    .map(({ text }) => text).join(',');
};
