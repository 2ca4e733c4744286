/** A condition on the labels of an object, as Kubernetes selectors define it. */
import type { Requirement, StandardOperator } from './resources.ts';

/** Labels of an object. */
export type Labels = Readonly<Record<string, string>>;

/** True when the labels satisfy the condition; an absent label is in no set. */
export const labelsHold = (
  { key, operator, values }: Requirement<StandardOperator>,
  labels: Labels,
): boolean => {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
  }
};
