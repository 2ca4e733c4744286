/**
 * The compiled expressions of a ValidatingAdmissionPolicy.
 *
 * Promises: `authorizer` is known in validations, match conditions and variables, and not in
 * messages; `params` only where the policy has a `paramKind`; a variable is evaluated at most once
 * a request, when it is used. Source: `apiserver/pkg/admission/plugin/policy/validating/plugin.go`.
 */
import type { Environment } from '@marcbachmann/cel-js';
import { type JsonRecord, listOrEmptyAt, recordAt, textAt } from '../values/json.ts';
import { type Compiled, compiled, kubernetesEnvironment } from '../cel/expressions.ts';
import { type FieldProblem, invalid, required } from '../validation/field-problem.ts';
import { withAuthorizer } from './authorizer-variable.ts';

/** An expression with its text. */
export interface Expression {
  readonly text: string;
  readonly program: Compiled;
  /** Where it stands in the policy. */
  readonly field: string;
}

/** One validation. */
export interface Validation {
  readonly holds: Expression;
  readonly message: string;
  readonly worded: Expression | undefined;
  readonly reason: string;
}

/** A named expression. */
export interface Named {
  readonly name: string;
  readonly expression: Expression;
}

/** All expressions of a policy. */
export interface PolicyExpressions {
  readonly conditions: readonly Named[];
  readonly variables: readonly Named[];
  readonly validations: readonly Validation[];
  readonly annotations: readonly Named[];
}

const VARIABLES = ['object', 'oldObject', 'request', 'namespaceObject', 'variables'] as const;

const environmentWith = (hasParameters: boolean, hasAuthorizer: boolean): Environment => {
  const base = kubernetesEnvironment();
  for (const name of VARIABLES) base.registerVariable(name, 'dyn');
  if (hasParameters) base.registerVariable('params', 'dyn');
  return hasAuthorizer ? withAuthorizer(base) : base;
};

interface Environments {
  readonly full: Environment;
  readonly ofMessages: Environment;
}

const environmentsWith = (hasParameters: boolean): Environments => ({
  full: environmentWith(hasParameters, true),
  ofMessages: environmentWith(hasParameters, false),
});

const PLAIN = environmentsWith(false);
const WITH_PARAMETERS = environmentsWith(true);

const namedIn = (
  spec: JsonRecord | undefined,
  list: 'matchConditions' | 'variables' | 'auditAnnotations',
  compile: (value: unknown, field: string) => Expression,
): readonly Named[] =>
  listOrEmptyAt(spec, list).map((one, index) => ({
    name: textAt(one, list === 'auditAnnotations' ? 'key' : 'name') ?? '',
    expression: compile(one, `spec.${list}[${index}]`),
  }));

/** The expressions of a policy. */
export const policyExpressions = (policy: JsonRecord): PolicyExpressions => {
  const spec = recordAt(policy, 'spec');
  const { full, ofMessages } = recordAt(spec, 'paramKind') === undefined ? PLAIN : WITH_PARAMETERS;
  const at = (key: string, wanted: 'bool' | 'string' | 'any') => (value: unknown, of: string) => {
    const text = textAt(value, key) ?? '';
    const environment = key === 'messageExpression' ? ofMessages : full;
    return { text, field: `${of}.${key}`, program: compiled(environment, text, wanted) };
  };
  const worded = at('messageExpression', 'string');
  return {
    conditions: namedIn(spec, 'matchConditions', at('expression', 'bool')),
    variables: namedIn(spec, 'variables', at('expression', 'any')),
    annotations: namedIn(spec, 'auditAnnotations', at('valueExpression', 'string')),
    validations: listOrEmptyAt(spec, 'validations').map((one, index) => {
      const field = `spec.validations[${index}]`;
      const hasMessage = (textAt(one, 'messageExpression') ?? '') !== '';
      return {
        holds: at('expression', 'bool')(one, field),
        message: (textAt(one, 'message') ?? '').trim(),
        worded: hasMessage ? worded(one, field) : undefined,
        reason: textAt(one, 'reason') ?? 'Invalid',
      };
    }),
  };
};

const problemOf = ({ text, program, field }: Expression): readonly FieldProblem[] => {
  if (text.trim() === '') return [required(field, 'expression is not specified')];
  return program._tag === 'Compiled' ? [] : [invalid(field, text, program.why)];
};

const VARIABLE = /\bvariables\.([A-Za-z_]\w*)/g;

/** A variable may use only those before it. */
const unknownVariables = (
  { text, field }: Expression,
  known: readonly string[],
): readonly FieldProblem[] =>
  [...text.matchAll(VARIABLE)].map(([, name = '']) => name)
    .filter((name) => !known.includes(name)).slice(0, 1)
    .map((name) => invalid(field, text, `compilation failed: ERROR: undefined field '${name}'`));

/** Problems of a policy's expressions. */
export const expressionProblems = (policy: JsonRecord): readonly FieldProblem[] => {
  const { conditions, variables, validations, annotations } = policyExpressions(policy);
  const names = variables.map(({ name }) => name);
  const checked = (expression: Expression, known: readonly string[]): readonly FieldProblem[] => {
    const problems = problemOf(expression);
    return problems.length > 0 ? problems : unknownVariables(expression, known);
  };
  return [
    ...conditions.flatMap(({ expression }) => checked(expression, [])),
    ...variables.flatMap(({ expression }, index) => checked(expression, names.slice(0, index))),
    ...validations.flatMap(({ holds, worded }) => [
      ...checked(holds, names),
      ...(worded === undefined ? [] : checked(worded, names)),
    ]),
    ...annotations.flatMap(({ expression }) => checked(expression, names)),
  ];
};
