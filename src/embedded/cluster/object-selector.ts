/** `metav1.LabelSelector`: no selector matches nothing, an empty one everything. */
import { type JsonRecord, listOrEmptyAt, textAt, textRecordOrEmptyAt } from '../../domain/json.ts';

type Labels = Readonly<Record<string, string>>;

const holds = (expression: unknown, labels: Labels): boolean => {
  const key = textAt(expression, 'key') ?? '';
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  const values = listOrEmptyAt(expression, 'values');
  switch (textAt(expression, 'operator')) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return false;
  }
};

/** Whether a selector selects labels. */
export const selects = (selector: JsonRecord | undefined, labels: Labels): boolean =>
  selector !== undefined &&
  Object.entries(textRecordOrEmptyAt(selector, 'matchLabels')).every(([key, value]) =>
    labels[key] === value
  ) &&
  listOrEmptyAt(selector, 'matchExpressions').every((one) => holds(one, labels));

const OPERATORS: Readonly<Record<string, (key: string, values: string) => string>> = {
  In: (key, values) => `${key} in (${values})`,
  NotIn: (key, values) => `${key} notin (${values})`,
  Exists: (key) => key,
  DoesNotExist: (key) => `!${key}`,
};

/** A selector as a query writes it: `app=web,tier in (a,b)`. */
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
