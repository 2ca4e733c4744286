/**
 * A version of a CustomResourceDefinition as a kind.
 *
 * Source: `apiextensions-apiserver/pkg/registry/customresource/strategy.go`.
 */
import {
  asRecord,
  asText,
  type JsonRecord,
  listOrEmptyAt,
  numberAt,
  recordAt,
  textAt,
  valueAt,
} from '../values/json.ts';
import { type FieldProblem, invalid } from '../validation/field-problem.ts';
import { type SchemaValidator, schemaValidator } from '../schema/schema-problems.ts';
import { NO_RULES, type RuleValidator, ruleValidator } from '../schema/schema-rules.ts';
import { defaulted, pruned } from '../schema/schema-shape.ts';
import type { DeclaredColumn, Kind, ScalePaths } from './kind.ts';

/** `.spec.node.name` → `['spec', 'node', 'name']`. */
const pathOf = (jsonPath: string): readonly string[] =>
  jsonPath.replace(/^\./, '').split('.').filter((part) => part !== '');

const scaleOf = (version: JsonRecord): { readonly scale?: ScalePaths } => {
  const scale = recordAt(version, 'subresources', 'scale');
  if (scale === undefined) return {};
  const selector = textAt(scale, 'labelSelectorPath');
  return {
    scale: {
      specReplicas: pathOf(textAt(scale, 'specReplicasPath') ?? ''),
      statusReplicas: pathOf(textAt(scale, 'statusReplicasPath') ?? ''),
      ...(selector === undefined ? {} : { selector: pathOf(selector) }),
    },
  };
};

const scalar = (value: unknown): string => value === undefined || value === null ? '' : `${value}`;

const fieldsOf = (version: JsonRecord): Pick<Kind, 'fields'> => {
  const paths = listOrEmptyAt(version, 'selectableFields')
    .map((one) => pathOf(textAt(one, 'jsonPath') ?? ''));
  if (paths.length === 0) return {};
  return {
    fields: (object) =>
      Object.fromEntries(paths.map((path) => [path.join('.'), scalar(valueAt(object, ...path))])),
  };
};

const columnOf = (value: unknown): DeclaredColumn => {
  const [format, description] = [textAt(value, 'format'), textAt(value, 'description')];
  const priority = numberAt(value, 'priority');
  return {
    name: textAt(value, 'name') ?? '',
    type: textAt(value, 'type') ?? 'string',
    jsonPath: textAt(value, 'jsonPath') ?? '',
    ...(format === undefined ? {} : { format }),
    ...(description === undefined ? {} : { description }),
    ...(priority === undefined ? {} : { priority }),
  };
};

const texts = (value: unknown, ...path: readonly string[]): readonly string[] =>
  listOrEmptyAt(value, ...path).filter((one) => typeof one === 'string');

const without = (object: JsonRecord, fields: readonly string[]): JsonRecord =>
  Object.fromEntries(Object.entries(object).filter(([field]) => !fields.includes(field)));

interface Validators {
  readonly schema: SchemaValidator;
  readonly rules: RuleValidator;
}

const validatorsOf = (schema: JsonRecord): Validators => ({
  schema: schemaValidator(schema),
  rules: ruleValidator(schema),
});

/** After one of these, rules are not evaluated: they could fail on the shape of the object. */
const BLOCKING: ReadonlySet<FieldProblem['reason']> = new Set([
  ...['FieldValueNotSupported', 'FieldValueRequired', 'FieldValueTypeInvalid'],
  ...['FieldValueTooLong', 'FieldValueTooMany'],
]);

const NOT_EVALUATED = invalid(
  '<nil>',
  null,
  'some validation rules were not checked because the object was invalid; correct the existing ' +
    'errors to complete validation',
);

const problemsOf =
  ({ schema, rules }: Validators) => (object: JsonRecord): readonly FieldProblem[] => {
    const found = schema(object);
    if (rules === NO_RULES) return found;
    const isBlocked = found.some(({ reason }) => BLOCKING.has(reason));
    return [...found, ...(isBlocked ? [NOT_EVALUATED] : rules(object, undefined))];
  };

/** The schema of a version; validates nothing, which is the definition's own job. */
export const schemaOf = (version: JsonRecord): JsonRecord =>
  recordAt(version, 'schema', 'openAPIV3Schema') ?? { type: 'object' };

const known = (schema: JsonRecord, preserves: boolean) => (object: JsonRecord): JsonRecord =>
  preserves ? object : asRecord(pruned(object, schema, true)) ?? object;

/** The kind of one version of a definition. */
export const customKind = (definition: JsonRecord, version: JsonRecord): Kind => {
  const names = recordAt(definition, 'spec', 'names') ?? {};
  const group = textAt(definition, 'spec', 'group') ?? '';
  const kind = textAt(names, 'kind') ?? '';
  const plural = textAt(names, 'plural') ?? '';
  const schema = schemaOf(version);
  const hasStatus = recordAt(version, 'subresources', 'status') !== undefined;
  const validators = validatorsOf(schema);
  const unversioned = hasStatus ? ['metadata', 'status'] : ['metadata'];
  return {
    group,
    version: textAt(version, 'name') ?? '',
    kind,
    plural,
    singular: asText(names['singular']) ?? kind.toLowerCase(),
    listKind: asText(names['listKind']) ?? `${kind}List`,
    shortNames: texts(names, 'shortNames'),
    categories: texts(names, 'categories'),
    namespaced: textAt(definition, 'spec', 'scope') === 'Namespaced',
    resource: `${plural}.${group}`,
    custom: true,
    status: hasStatus ? 'all but status' : undefined,
    ...scaleOf(version),
    ...fieldsOf(version),
    generationOf: (object) => without(object, unversioned),
    pruned: known(schema, valueAt(definition, 'spec', 'preserveUnknownFields') === true),
    defaulted: (object) => asRecord(defaulted(object, schema)) ?? object,
    onCreate: (object) => (hasStatus ? without(object, ['status']) : object),
    problems: problemsOf(validators),
    changeProblems: ({ wanted, current }) =>
      validators.rules(wanted, current).filter((problem) =>
        !validators.rules(wanted, undefined).some(({ field, message }) =>
          field === problem.field && message === problem.message
        )
      ),
    unconditionalUpdate: false,
    columns: listOrEmptyAt(version, 'additionalPrinterColumns').map(columnOf),
    schema,
  };
};
