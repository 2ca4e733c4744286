/**
 * ValidatingAdmissionPolicy and its binding.
 *
 * Source: `pkg/apis/admissionregistration/{v1/defaults.go,validation/validation.go}`.
 */
import { asRecord, type JsonRecord, listOrEmptyAt, recordAt, textAt } from '../values/json.ts';
import { POLICY_GROUP } from '../admission/policies.ts';
import { expressionProblems } from '../admission/policy-expressions.ts';
import { type FieldProblem, invalid, notSupported, required } from '../validation/field-problem.ts';
import { specAlone } from './generations.ts';
import { type Kind, kindNames, resourceOf } from './kind.ts';

const withScope = (rule: unknown): JsonRecord => ({ scope: '*', ...asRecord(rule) });

const RULES = ['resourceRules', 'excludeResourceRules'] as const;

const criteriaDefaults = (criteria: JsonRecord): JsonRecord => {
  const rules = RULES.filter((field) => listOrEmptyAt(criteria, field).length > 0)
    .map((field) => [field, listOrEmptyAt(criteria, field).map(withScope)] as const);
  return {
    namespaceSelector: {},
    objectSelector: {},
    matchPolicy: 'Equivalent',
    ...criteria,
    ...Object.fromEntries(rules),
  };
};

const withCriteria = (
  object: JsonRecord,
  field: 'matchConstraints' | 'matchResources',
  defaults: JsonRecord = {},
): JsonRecord => {
  const spec = recordAt(object, 'spec') ?? {};
  const criteria = recordAt(spec, field);
  return {
    ...object,
    spec: {
      ...defaults,
      ...spec,
      ...(criteria === undefined ? {} : { [field]: criteriaDefaults(criteria) }),
    },
  };
};

const OPERATIONS = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT', '*'];

const ruleProblems = (rule: unknown, field: string): readonly FieldProblem[] => [
  ...['operations', 'apiGroups', 'apiVersions', 'resources']
    .filter((name) => listOrEmptyAt(rule, name).length === 0)
    .map((name) => required(`${field}.${name}`)),
  ...listOrEmptyAt(rule, 'operations').flatMap((one, index) =>
    OPERATIONS.includes(String(one))
      ? []
      : [notSupported(`${field}.operations[${index}]`, one, OPERATIONS.toSorted())]
  ),
];

const criteriaProblems = (spec: JsonRecord, field: string): readonly FieldProblem[] =>
  RULES.flatMap((name) =>
    listOrEmptyAt(spec, field, name).flatMap((rule, index) =>
      ruleProblems(rule, `spec.${field}.${name}[${index}]`)
    )
  );

const EMPTY_POLICY = 'validations or auditAnnotations must contain at least one item';
const FAILURE_POLICIES = ['Fail', 'Ignore'];
const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];

const policyProblems = (policy: JsonRecord): readonly FieldProblem[] => {
  const spec = recordAt(policy, 'spec') ?? {};
  const constraints = recordAt(spec, 'matchConstraints');
  const failurePolicy = textAt(spec, 'failurePolicy');
  const validations = listOrEmptyAt(spec, 'validations');
  const isEmpty = validations.length === 0 && listOrEmptyAt(spec, 'auditAnnotations').length === 0;
  return [
    ...(failurePolicy === undefined || FAILURE_POLICIES.includes(failurePolicy)
      ? []
      : [notSupported('spec.failurePolicy', failurePolicy, FAILURE_POLICIES)]),
    ...(constraints === undefined
      ? [required('spec.matchConstraints')]
      : listOrEmptyAt(constraints, 'resourceRules').length === 0
      ? [required('spec.matchConstraints.resourceRules')]
      : criteriaProblems(spec, 'matchConstraints')),
    ...(isEmpty
      ? ['validations', 'auditAnnotations'].map((one) => required(`spec.${one}`, EMPTY_POLICY))
      : []),
    ...validations.flatMap((one, index) => {
      const reason = textAt(one, 'reason');
      return reason === undefined || REASONS.includes(reason)
        ? []
        : [notSupported(`spec.validations[${index}].reason`, reason, REASONS)];
    }),
    ...expressionProblems(policy),
  ];
};

const ACTIONS = ['Audit', 'Deny', 'Warn'];
const BOTH = 'must not contain both Deny and Warn (repeating the same validation failure ' +
  'information in the API response and headers serves no purpose)';

const actionProblems = (spec: JsonRecord): readonly FieldProblem[] => {
  const field = 'spec.validationActions';
  const actions = listOrEmptyAt(spec, 'validationActions');
  if (actions.length === 0) {
    return [required(field, 'at least one validation action is required')];
  }
  const isDouble = actions.includes('Deny') && actions.includes('Warn');
  return [
    ...actions.flatMap((one, index) =>
      ACTIONS.includes(String(one)) ? [] : [notSupported(`${field}[${index}]`, one, ACTIONS)]
    ),
    ...(isDouble ? [invalid(field, actions, BOTH)] : []),
  ];
};

const bindingProblems = (binding: JsonRecord): readonly FieldProblem[] => {
  const spec = recordAt(binding, 'spec') ?? {};
  return [
    ...((textAt(spec, 'policyName') ?? '') === '' ? [required('spec.policyName')] : []),
    ...criteriaProblems(spec, 'matchResources'),
    ...actionProblems(spec),
  ];
};

const policyKind = (kind: string, plural: string, rules: Partial<Kind>): Kind => {
  const names = kindNames(POLICY_GROUP, kind, { namespaced: false, plural });
  return {
    ...names,
    resource: resourceOf(names),
    custom: false,
    status: undefined,
    generationOf: specAlone,
    unconditionalUpdate: false,
    ...rules,
  };
};

/** The kinds of admission by policies. */
export const POLICY_KINDS: readonly Kind[] = [
  policyKind('ValidatingAdmissionPolicy', 'validatingadmissionpolicies', {
    status: 'spec',
    defaulted: (policy) => withCriteria(policy, 'matchConstraints', { failurePolicy: 'Fail' }),
    onCreate: (policy) => ({ ...policy, status: {} }),
    problems: policyProblems,
  }),
  policyKind('ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings', {
    defaulted: (binding) => withCriteria(binding, 'matchResources'),
    problems: bindingProblems,
  }),
];
