/**
 * `metav1.LabelSelector`: matchLabels and matchExpressions, as Kubernetes' controllers evaluate it.
 *
 * Promises: total for any object; equal selectors that are written in two ways have one key.
 */
import {
  asList,
  asText,
  type JsonRecord,
  listOrEmptyAt,
  textAt,
  textRecordOrEmptyAt,
  valueAt,
} from './json.ts';
import { type Labels, labelsHold } from './label-condition.ts';
import { canonicalRequirements, requirementText } from './requirements.ts';
import type { Requirement, StandardOperator } from './resources.ts';

/** All must hold; an empty list selects every object. */
export type LabelConditions = readonly Requirement<StandardOperator>[];

/** `null` selects no object: there is no selector, or it is invalid for Kubernetes. */
export type LabelSelector = LabelConditions | null;

const OPERATORS: readonly StandardOperator[] = ['In', 'NotIn', 'Exists', 'DoesNotExist'];

/** An expression of a selector; `undefined` when invalid for Kubernetes. */
const expressionOf = (raw: unknown): Requirement<StandardOperator> | undefined => {
  const key = textAt(raw, 'key') ?? '';
  const operator = OPERATORS.find((known) => known === textAt(raw, 'operator'));
  if (operator === undefined || key === '') return undefined;
  const values = (asList(valueAt(raw, 'values')) ?? []).map((value) => asText(value) ?? '');
  const wantsValues = operator === 'In' || operator === 'NotIn';
  return wantsValues === (values.length > 0) ? { key, operator, values } : undefined;
};

/** Reads a selector. Total. */
export const labelSelectorOf = (raw: JsonRecord | undefined): LabelSelector => {
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

/** True when the selector selects an object with these labels. */
export const selectsLabels = (selector: LabelSelector, labels: Labels): boolean =>
  selector !== null && selector.every((requirement) => labelsHold(requirement, labels));

/** Keys of selectors that were asked for before: plans repeat theirs for every node. */
const KEYS = new WeakMap<LabelConditions, string>();

/** The same text for selectors that differ in notation or order only. */
export const selectorKey = (conditions: LabelConditions): string => {
  const known = KEYS.get(conditions);
  if (known !== undefined) return known;
  const key = canonicalRequirements(conditions).map(requirementText).join('');
  KEYS.set(conditions, key);
  return key;
};
