/**
 * Label selectors of workloads and budgets, as `metav1.LabelSelector` means them: no selector
 * matches nothing, an empty one everything.
 */
import { listOrEmptyAt, recordAt, textAt, textRecordOrEmptyAt } from '../../../domain/json.ts';

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

/** Whether every wanted label is there with its value. */
export const hasLabels = (wanted: Labels, labels: Labels): boolean =>
  Object.entries(wanted).every(([key, value]) => labels[key] === value);

/** Whether the selector under `path` of `object` selects `labels`. */
export const selects = (
  object: unknown,
  labels: Labels,
  path: readonly string[] = ['spec', 'selector'],
): boolean => {
  const selector = recordAt(object, ...path);
  if (selector === undefined) return false;
  return hasLabels(textRecordOrEmptyAt(selector, 'matchLabels'), labels) &&
    listOrEmptyAt(selector, 'matchExpressions').every((one) => expressionHolds(one, labels));
};
