/**
 * Prunes unknown fields and applies defaults before validation.
 *
 * Source: `apiextensions-apiserver/pkg/apiserver/schema/{pruning,defaulting}`.
 */
import { asList, asRecord, type JsonRecord, recordAt } from '../values/json.ts';

/** Fields of every object, at the root and in embedded resources. */
const TYPE_FIELDS = ['apiVersion', 'kind', 'metadata'];

const PRESERVE = 'x-kubernetes-preserve-unknown-fields';
const EMBEDDED = 'x-kubernetes-embedded-resource';

const propertyOf = (schema: JsonRecord, field: string): JsonRecord | undefined =>
  recordAt(schema, 'properties', field) ?? recordAt(schema, 'additionalProperties');

const isOpen = (schema: JsonRecord): boolean =>
  schema[PRESERVE] === true || schema['additionalProperties'] === true;

/** The value without fields that the schema does not define. */
export const pruned = (value: unknown, schema: JsonRecord, isRoot = false): unknown => {
  const list = asList(value);
  const items = recordAt(schema, 'items');
  if (list !== undefined) {
    return items === undefined ? value : list.map((item) => pruned(item, items));
  }
  const record = asRecord(value);
  if (record === undefined) return value;
  const typed = isRoot || schema[EMBEDDED] === true;
  const kept: [string, unknown][] = [];
  for (const [field, inner] of Object.entries(record)) {
    const property = propertyOf(schema, field);
    if (typed && TYPE_FIELDS.includes(field)) kept.push([field, inner]);
    else if (property !== undefined) kept.push([field, pruned(inner, property)]);
    else if (isOpen(schema)) kept.push([field, inner]);
  }
  return Object.fromEntries(kept);
};

const withDefaultsOf = (record: JsonRecord, schema: JsonRecord): JsonRecord => {
  const filled: Record<string, unknown> = { ...record };
  for (const [field, property] of Object.entries(recordAt(schema, 'properties') ?? {})) {
    const rules = asRecord(property);
    if (rules === undefined) continue;
    if (filled[field] === null && rules['nullable'] !== true) delete filled[field];
    if (filled[field] === undefined && rules['default'] !== undefined) {
      filled[field] = rules['default'];
    }
  }
  return filled;
};

/** The value with the schema's defaults, applied recursively. */
export const defaulted = (value: unknown, schema: JsonRecord): unknown => {
  const list = asList(value);
  const items = recordAt(schema, 'items');
  if (list !== undefined) {
    return items === undefined ? value : list.map((item) => defaulted(item, items));
  }
  const record = asRecord(value);
  if (record === undefined) return value;
  const filled = withDefaultsOf(record, schema);
  return Object.fromEntries(
    Object.entries(filled).map(([field, inner]) => {
      const property = propertyOf(schema, field);
      return [field, property === undefined ? inner : defaulted(inner, property)];
    }),
  );
};
