/**
 * Validates an object against a structural schema, with the real server's messages.
 *
 * Ajv validates; the messages are those of `kube-openapi/pkg/validation/errors`. List types
 * (`x-kubernetes-list-type`) are checked here, because JSON Schema cannot express them.
 */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { asList, asRecord, type JsonRecord, listOrEmptyAt, recordAt } from '../values/json.ts';
import { sameJson } from '../patches/same-json.ts';
import {
  duplicate,
  type FieldProblem,
  invalid,
  notSupported,
  required,
  tooLong,
  wrongType,
} from '../validation/field-problem.ts';

/** Validates objects. */
export type SchemaValidator = (object: JsonRecord) => readonly FieldProblem[];

const DATE_TIME = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:?\d{2})$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const DURATION = /^-?(\d+(\.\d+)?(ns|us|µs|ms|s|m|h|d|w))+$/;

/** Formats that the real server checks; it ignores the others. */
const FORMATS = { 'date-time': DATE_TIME, 'date': DATE, 'duration': DURATION };

const NESTED = ['items', 'additionalProperties', 'not'];
const LISTED = ['allOf', 'anyOf', 'oneOf'];

const exclusive = (schema: JsonRecord): JsonRecord => ({
  ...(schema['exclusiveMinimum'] === true
    ? { exclusiveMinimum: schema['minimum'], minimum: undefined }
    : {}),
  ...(schema['exclusiveMaximum'] === true
    ? { exclusiveMaximum: schema['maximum'], maximum: undefined }
    : {}),
});

const typeOf = (schema: JsonRecord): JsonRecord => {
  const types = schema['x-kubernetes-int-or-string'] === true
    ? ['integer', 'string']
    : typeof schema['type'] === 'string' && schema['type'] !== ''
    ? [schema['type']]
    : [];
  if (types.length === 0) return { type: undefined };
  return { type: schema['nullable'] === true ? [...types, 'null'] : types };
};

/** Converts a structural schema to the equivalent JSON Schema. */
const plainSchema = (value: unknown): unknown => {
  const schema = asRecord(value);
  if (schema === undefined) return value;
  const { default: _, nullable: __, ...rest } = schema;
  const nested = NESTED.filter((field) => schema[field] !== undefined)
    .map((field) => [field, plainSchema(schema[field])]);
  const listed = LISTED.filter((field) => schema[field] !== undefined)
    .map((field) => [field, listOrEmptyAt(schema, field).map(plainSchema)]);
  const properties = Object.entries(recordAt(schema, 'properties') ?? {})
    .map(([field, property]) => [field, plainSchema(property)]);
  const whole: Record<string, unknown> = {
    ...rest,
    ...typeOf(schema),
    ...exclusive(schema),
    ...Object.fromEntries([...nested, ...listed]),
    ...(properties.length === 0 ? {} : { properties: Object.fromEntries(properties) }),
  };
  return Object.fromEntries(
    Object.entries(whole).filter(([field, rule]) =>
      rule !== undefined && !field.startsWith('x-kubernetes-')
    ),
  );
};

/** `/spec/items/0/name` in an object → `spec.items[0].name`. */
const fieldPath = (pointer: string, object: unknown): string => {
  let at = object;
  let path = '';
  for (const part of pointer.split('/').slice(1)) {
    const token = part.replaceAll('~1', '/').replaceAll('~0', '~');
    const list = asList(at);
    path += list === undefined ? `${path === '' ? '' : '.'}${token}` : `[${token}]`;
    at = list === undefined ? asRecord(at)?.[token] : list[Number(token)];
  }
  return path;
};

const goType = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
};

const MESSAGES: Readonly<Record<string, (limit: unknown) => string>> = {
  minimum: (limit) => `should be greater than or equal to ${limit}`,
  maximum: (limit) => `should be less than or equal to ${limit}`,
  exclusiveMinimum: (limit) => `should be greater than ${limit}`,
  exclusiveMaximum: (limit) => `should be less than ${limit}`,
  minLength: (limit) => `should be at least ${limit} chars long`,
  minItems: (limit) => `should have at least ${limit} items`,
  minProperties: (limit) => `should have at least ${limit} properties`,
  multipleOf: (limit) => `should be a multiple of ${limit}`,
  pattern: (limit) => `should match '${limit}'`,
};

const PARAMETERS = ['limit', 'multipleOf', 'pattern'];

const tooMany = (field: string, value: unknown, limit: unknown): FieldProblem => {
  const count = Array.isArray(value) ? value.length : Object.keys(asRecord(value) ?? {}).length;
  return {
    reason: 'FieldValueTooMany',
    field,
    message: `Too many: ${count}: must have at most ${limit} items`,
  };
};

const typeProblem = (field: string, value: unknown, wanted: unknown): FieldProblem => {
  const type = goType(value);
  const named = [wanted].flat().filter((one) => one !== 'null').join(',');
  return wrongType(field, type, `${field} in body must be of type ${named}: "${type}"`);
};

const problemOf = (error: ErrorObject, object: JsonRecord): FieldProblem => {
  const { keyword, instancePath, params, data } = error;
  const field = fieldPath(instancePath, object);
  switch (keyword) {
    case 'required': {
      const missing = String(params['missingProperty']);
      return required(field === '' ? missing : `${field}.${missing}`);
    }
    case 'enum':
      return notSupported(
        field,
        data,
        (asList(params['allowedValues']) ?? []).map((one) => `${one}`),
      );
    case 'type':
      return typeProblem(field, data, params['type']);
    case 'maxLength':
      return tooLong(field, `may not be more than ${params['limit']} bytes`);
    case 'maxItems':
    case 'maxProperties':
      return tooMany(field, data, params['limit']);
    case 'format':
      return wrongType(
        field,
        data,
        `${field} in body must be of type ${params['format']}: ` +
          JSON.stringify(data),
      );
    default: {
      const limit = PARAMETERS.map((name) => params[name]).find((one) => one !== undefined);
      const detail = MESSAGES[keyword]?.(limit) ?? error.message ?? keyword;
      return invalid(field, data, `${field} in body ${detail}`);
    }
  }
};

const keysOf = (item: unknown, keys: readonly unknown[]): unknown =>
  keys.length === 0
    ? item
    : Object.fromEntries(keys.map((key) => [`${key}`, asRecord(item)?.[`${key}`]]));

const listProblems = (value: unknown, schema: JsonRecord, field: string): FieldProblem[] => {
  const list = asList(value);
  if (list !== undefined) {
    const type = schema['x-kubernetes-list-type'];
    const keys = type === 'map' ? listOrEmptyAt(schema, 'x-kubernetes-list-map-keys') : [];
    const marks = list.map((item) => keysOf(item, keys));
    const twice = type === 'set' || type === 'map'
      ? marks.flatMap((mark, index) =>
        marks.findIndex((one) => sameJson(one, mark)) < index
          ? [duplicate(`${field}[${index}]`, mark)]
          : []
      )
      : [];
    const items = recordAt(schema, 'items') ?? {};
    return [
      ...twice,
      ...list.flatMap((item, index) => listProblems(item, items, `${field}[${index}]`)),
    ];
  }
  return Object.entries(asRecord(value) ?? {}).flatMap(([name, inner]) => {
    const property = recordAt(schema, 'properties', name) ??
      recordAt(schema, 'additionalProperties');
    const at = field === '' ? name : `${field}.${name}`;
    return property === undefined ? [] : listProblems(inner, property, at);
  });
};

const compile = (schema: JsonRecord): ValidateFunction =>
  new Ajv({
    strict: false,
    allErrors: true,
    verbose: true,
    logger: false,
    unicodeRegExp: false,
    formats: FORMATS,
  }).compile(asRecord(plainSchema(schema)) ?? {});

/**
 * Compiled schemas, by their text: every write of a definition makes its kinds anew, and the
 * clusters of a process have the same definitions. The one that was compiled first is given up.
 */
const compiledSchemas = new Map<string, ValidateFunction>();
const COMPILED_MAX = 64;

const compiled = (schema: JsonRecord): ValidateFunction => {
  const text = JSON.stringify(schema);
  const before = compiledSchemas.get(text);
  if (before !== undefined) return before;
  const [first] = compiledSchemas.keys();
  if (first !== undefined && compiledSchemas.size >= COMPILED_MAX) compiledSchemas.delete(first);
  const validate = compile(schema);
  compiledSchemas.set(text, validate);
  return validate;
};

/** The validator of a structural schema. */
export const schemaValidator = (schema: JsonRecord): SchemaValidator => {
  const validate = compiled(schema);
  return (object) => {
    const found = validate(object) ? [] : validate.errors ?? [];
    return [
      ...found.map((error) => problemOf(error, object)),
      ...listProblems(object, schema, ''),
    ];
  };
};
