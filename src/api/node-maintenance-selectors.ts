/** The selectors of a NodeMaintenance, as Effect schemas: of nodes, and of the pods of an entry. */
import { Schema } from 'effect';
import { NODE_MAINTENANCE_LIMITS } from '../domain/node-maintenance/maintenance-limits.ts';
import { NAME_FIELD, NODE_OPERATORS } from '../domain/node-maintenance/node-selector.ts';
import { atomic, LabelKeyField } from './fields.ts';

const LIMITS = NODE_MAINTENANCE_LIMITS;
const RULES = 'x-kubernetes-validations';

const ValueField = Schema.String.check(Schema.isMaxLength(LIMITS.valueCharacters));

const SET_OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const;

interface CelRule {
  readonly rule: string;
  readonly message: string;
}

const SET_RULE: CelRule = {
  rule: `self.operator in ['In', 'NotIn'] ? has(self.values) && size(self.values) > 0 ` +
    ': !has(self.values) || size(self.values) == 0',
  message: 'In and NotIn need values, Exists and DoesNotExist take none',
};

const LABEL_RULE: CelRule = {
  rule: `self.operator in ['In', 'NotIn'] ? has(self.values) && size(self.values) > 0 ` +
    `: self.operator in ['Gt', 'Lt'] ? has(self.values) && size(self.values) == 1 ` +
    `&& self.values[0].matches('^[+-]?[0-9]{1,19}$') ` +
    ': !has(self.values) || size(self.values) == 0',
  message: 'In and NotIn need values, Gt and Lt one integer, Exists and DoesNotExist take none',
};

const NAME_RULE: CelRule = {
  rule: `self.key == '${NAME_FIELD}' && has(self.values) && size(self.values) == 1`,
  message: `matchFields has conditions on ${NAME_FIELD} only, with one value`,
};

const conditionField = (
  what: string,
  operators: readonly string[],
  rules: readonly CelRule[],
) =>
  Schema.Struct({
    key: LabelKeyField.annotate({ description: `The ${what} that the condition is on.` }),
    operator: Schema.Literals(operators).annotate({
      description: `How the ${what} relates to the values.`,
    }),
    values: Schema.optionalKey(
      Schema.Array(ValueField).check(Schema.isMaxLength(LIMITS.values)).annotate({
        ...atomic,
        description: 'Values, as many as the operator takes.',
      }),
    ),
  }).annotate(rules.length === 0 ? {} : { [RULES]: rules });

const conditionsField = (
  item: ReturnType<typeof conditionField>,
  description: string,
  most: number = LIMITS.conditions,
) =>
  Schema.optionalKey(
    Schema.Array(item).check(Schema.isMaxLength(most)).annotate({
      ...atomic,
      description,
    }),
  );

const TermField = Schema.Struct({
  matchExpressions: conditionsField(
    conditionField('label', NODE_OPERATORS, [LABEL_RULE]),
    'Conditions on the labels of the node.',
  ),
  matchFields: conditionsField(
    conditionField('field', ['In', 'NotIn'], [NAME_RULE]),
    'Conditions on the name of the node.',
  ),
});

/** `v1.NodeSelector`. */
export const NodeSelectorField = Schema.Struct({
  nodeSelectorTerms: Schema.Array(TermField)
    .check(Schema.isMinLength(1), Schema.isMaxLength(LIMITS.selectorTerms))
    .annotate({
      ...atomic,
      description: 'Alternatives. All conditions of a term must hold; a term without any selects ' +
        'no node.',
    }),
});

const podSelectorFields = (rules: readonly CelRule[], most: number) => ({
  matchLabels: Schema.optionalKey(
    Schema.Record(Schema.String, ValueField).check(Schema.isMaxProperties(LIMITS.conditions))
      .annotate({ description: 'Labels and the values that they must have.' }),
  ),
  matchExpressions: conditionsField(
    conditionField('label', SET_OPERATORS, rules),
    'Conditions on labels; all must hold.',
    most,
  ),
});

const whole = { 'x-kubernetes-map-type': 'atomic' } as const;

/** `metav1.LabelSelector` in a spec: with a condition. */
export const PodSelectorField = Schema.Struct(podSelectorFields([SET_RULE], LIMITS.conditions))
  .annotate({
    ...whole,
    [RULES]: [{
      rule: '(has(self.matchLabels) && size(self.matchLabels) > 0) ' +
        '|| (has(self.matchExpressions) && size(self.matchExpressions) > 0)',
      message: 'an empty podSelector selects every pod: leave it out',
    }],
  });

/** The same in a status, which has thousands of them: without rules, which would cost too much. */
export const ReportedPodSelectorField = Schema.Struct(
  podSelectorFields([], LIMITS.reportedConditions),
).annotate(whole);
