/**
 * What a pod asks of the labels of its node, as far as a CapacityRequest can say it.
 *
 * Promises: `nodeSelector` and the first required term of the node affinity, in canonical order; a
 * pod that asks for nothing asks for a node with an instance type, so that there is something to
 * match (POD-02). What cannot be said is left out and found.
 */
import {
  anyText,
  child,
  entries,
  type Field,
  find,
  isAbsent,
  items,
  requiredText,
} from '../demand/field.ts';
import { canonicalRequirements } from '../requirements.ts';
import type { Requirement, StandardOperator } from '../resources.ts';
import { quoted } from '../text.ts';

/** A requirement that a CapacityRequest may hold. */
export type NodeRequirement = Requirement<StandardOperator>;

/** What every pod asks for that asks for nothing else. */
const ANY_NODE: NodeRequirement = {
  key: 'node.kubernetes.io/instance-type',
  operator: 'Exists',
  values: [],
};

const OPERATORS: readonly StandardOperator[] = ['In', 'NotIn', 'Exists', 'DoesNotExist'];
const OPERATOR_REMEDY =
  'Use In, NotIn, Exists or DoesNotExist, or ask for the label in a nodeSelector';

const wantsValues = (operator: StandardOperator): boolean =>
  operator === 'In' || operator === 'NotIn';

/** An expression on labels; nothing, and a finding, when a CapacityRequest has no word for it. */
export const expressionIn = (field: Field): readonly NodeRequirement[] => {
  const key = requiredText(child(field, 'key'));
  const word = child(field, 'operator');
  const operator = OPERATORS.find((known) => known === word.value);
  const values = items(child(field, 'values')).map(anyText);
  if (operator === undefined) {
    const value = typeof word.value === 'string' ? quoted(word.value) : 'missing';
    find(word, `is ${value}, which a CapacityRequest cannot say: it is left out`, OPERATOR_REMEDY);
    return [];
  }
  if (key === '') return [];
  if (wantsValues(operator) === (values.length > 0)) return [{ key, operator, values }];
  find(field, 'has values that do not go with its operator: it is left out', OPERATOR_REMEDY);
  return [];
};

const isEmpty = (term: Field): boolean =>
  items(child(term, 'matchExpressions')).length === 0 &&
  items(child(term, 'matchFields')).length === 0;

const termOf = (spec: Field): readonly NodeRequirement[] => {
  const required = child(
    child(child(spec, 'affinity'), 'nodeAffinity'),
    'requiredDuringSchedulingIgnoredDuringExecution',
  );
  // A term without any condition matches no node: for the scheduler it is not there either.
  const term = items(child(required, 'nodeSelectorTerms')).find((one) => !isEmpty(one));
  if (term === undefined) return [];
  const fields = child(term, 'matchFields');
  if (!isAbsent(fields) && items(fields).length > 0) {
    find(
      fields,
      'is about fields of a node, which a CapacityRequest cannot say: it is left out',
      'Ask for labels of the node instead',
    );
  }
  return items(child(term, 'matchExpressions')).flatMap(expressionIn);
};

/** The requirements of a pod; `spec` is its spec. */
export const podRequirements = (spec: Field): readonly NodeRequirement[] => {
  const selected = entries(child(spec, 'nodeSelector')).map(([key, value]): NodeRequirement => ({
    key,
    operator: 'In',
    values: [anyText(value)],
  }));
  const asked = canonicalRequirements([...selected, ...termOf(spec)]);
  return asked.length === 0 ? [ANY_NODE] : asked;
};
