/**
 * `v1.NodeSelector`: which nodes a maintenance is about, as Kubernetes' scheduler evaluates it.
 *
 * Promises: total for any object; terms are alternatives, the conditions of a term all hold; a term
 * without conditions, or with an invalid one, selects nothing, and so does a selector without terms
 * (NM-12).
 */
import { asText, listOrEmptyAt, textAt } from '../json.ts';
import { type Labels, labelsHold } from '../label-condition.ts';
import type { StandardOperator } from '../resources.ts';
import { NODE_MAINTENANCE_LIMITS } from './maintenance-limits.ts';

/** The operators of a node selector. */
export const NODE_OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'] as const;
export type NodeOperator = (typeof NODE_OPERATORS)[number];

/** A condition on a label or field of a node. */
export interface NodeCondition {
  readonly key: string;
  readonly operator: NodeOperator;
  readonly values: readonly string[];
}

/** Conditions that all hold. */
export interface NodeSelectorTerm {
  readonly labels: readonly NodeCondition[];
  readonly fields: readonly NodeCondition[];
}

/** Alternatives. */
export type NodeSelector = readonly NodeSelectorTerm[];

/** What a selector reads of a node. */
export interface SelectableNode {
  readonly name: string;
  readonly labels: Labels;
}

const LIMITS = NODE_MAINTENANCE_LIMITS;

/** The only field of a node that a selector may name. */
export const NAME_FIELD = 'metadata.name';

const INTEGER = /^[+-]?\d{1,19}$/u;
const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n } as const;

/** A 64-bit integer, as Go's `strconv.ParseInt` reads it. */
const integerIn = (text: string | undefined): bigint | undefined => {
  if (text === undefined || !INTEGER.test(text)) return undefined;
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return value < INT64.min || value > INT64.max ? undefined : value;
};

const valuesFit = (operator: NodeOperator, values: readonly string[]): boolean => {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0;
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0;
    case 'Gt':
    case 'Lt':
      return values.length === 1 && integerIn(values[0]) !== undefined;
  }
};

const conditionOf = (raw: unknown): NodeCondition | undefined => {
  const key = textAt(raw, 'key') ?? '';
  const operator = NODE_OPERATORS.find((known) => known === textAt(raw, 'operator'));
  const values = listOrEmptyAt(raw, 'values').slice(0, LIMITS.values)
    .map((value) => asText(value) ?? '');
  if (key === '' || operator === undefined || !valuesFit(operator, values)) return undefined;
  return { key, operator, values };
};

/** Fields are compared with one value only. */
const fieldOf = (raw: unknown): NodeCondition | undefined => {
  const condition = conditionOf(raw);
  const isComparison = condition?.operator === 'In' || condition?.operator === 'NotIn';
  return condition?.key === NAME_FIELD && isComparison && condition.values.length === 1
    ? condition
    : undefined;
};

const termOf = (raw: unknown): readonly NodeSelectorTerm[] => {
  const labels = listOrEmptyAt(raw, 'matchExpressions').map(conditionOf);
  const fields = listOrEmptyAt(raw, 'matchFields').map(fieldOf);
  const valid = [labels, fields].map((list) => list.filter((one) => one !== undefined));
  const [validLabels = [], validFields = []] = valid;
  const isWhole = validLabels.length === labels.length && validFields.length === fields.length;
  if (!isWhole || labels.length + fields.length === 0) return [];
  if (Math.max(labels.length, fields.length) > LIMITS.conditions) return [];
  return [{ labels: validLabels, fields: validFields }];
};

/** Reads a node selector; terms that can select nothing are left out. */
export const nodeSelectorOf = (raw: unknown): NodeSelector =>
  listOrEmptyAt(raw, 'nodeSelectorTerms').slice(0, LIMITS.selectorTerms).flatMap(termOf);

const isStandard = (operator: NodeOperator): operator is StandardOperator =>
  operator !== 'Gt' && operator !== 'Lt';

const holds = ({ key, operator, values }: NodeCondition, labels: Labels): boolean => {
  if (isStandard(operator)) return labelsHold({ key, operator, values }, labels);
  const value = integerIn(Object.hasOwn(labels, key) ? labels[key] : undefined);
  const bound = integerIn(values[0]);
  if (value === undefined || bound === undefined) return false;
  return operator === 'Gt' ? value > bound : value < bound;
};

/** True when the maintenance is about the node. */
export const selectsNode = (selector: NodeSelector, { name, labels }: SelectableNode): boolean => {
  const fields = { [NAME_FIELD]: name };
  return selector.some((term) =>
    term.labels.every((condition) => holds(condition, labels)) &&
    term.fields.every((condition) => holds(condition, fields))
  );
};
