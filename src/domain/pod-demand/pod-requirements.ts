/**
 * The node label requirements of a pod, as far as a CapacityRequest can express them.
 *
 * Promises: `nodeSelector` and the first required term of the node affinity, in canonical order; a
 * pod without requirements requests a node with an instance type, so that there is something to
 * match (POD-02). What cannot be expressed is ignored and reported.
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
  VALUES_MAX,
} from '../demand/field.ts';
import { canonicalRequirements } from '../requirements.ts';
import type { Requirement, StandardOperator } from '../resources.ts';
import { quoted } from '../text.ts';

/** A requirement that a CapacityRequest can hold. */
export type NodeRequirement = Requirement<StandardOperator>;

/** The requirement of every pod without other requirements. */
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

/** An expression on labels; nothing, and a finding, when a CapacityRequest cannot express it. */
export const expressionIn = (field: Field): readonly NodeRequirement[] => {
  const key = requiredText(child(field, 'key'));
  const word = child(field, 'operator');
  const operator = OPERATORS.find((known) => known === word.value);
  const values = items(child(field, 'values'), VALUES_MAX).map(anyText);
  if (operator === undefined) {
    const value = typeof word.value === 'string' ? quoted(word.value) : 'missing';
    find(word, `is ${value}, which a CapacityRequest cannot express: ignored`, OPERATOR_REMEDY);
    return [];
  }
  if (key === '') return [];
  if (wantsValues(operator) === (values.length > 0)) return [{ key, operator, values }];
  find(field, 'has values that do not fit its operator: ignored', OPERATOR_REMEDY);
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
  // A term without conditions matches no node: the scheduler ignores it, too.
  const term = items(child(required, 'nodeSelectorTerms')).find((one) => !isEmpty(one));
  if (term === undefined) return [];
  const fields = child(term, 'matchFields');
  if (!isAbsent(fields) && items(fields).length > 0) {
    find(
      fields,
      'is about node fields, which a CapacityRequest cannot express: ignored',
      'Use node labels instead',
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
