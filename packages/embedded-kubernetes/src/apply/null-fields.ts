/**
 * Fields of a custom object that an apply left as null, although their schema does not allow it.
 *
 * A decoded object loses such nulls; an apply does not, so that a map or list that it empties while
 * another manager owns it is refused. Source: `apiextensions-apiserver` (schemaCoercingDecoder).
 */
import { asList, asRecord, type JsonRecord, recordAt } from '../values/json.ts';
import { type FieldProblem, wrongType } from '../validation/field-problem.ts';

const problemOf = (path: string, type: unknown): FieldProblem =>
  wrongType(path, 'null', `${path} in body must be of type ${type}: "null"`);

const isRefused = (schema: JsonRecord): boolean =>
  schema['nullable'] !== true && schema['default'] === undefined &&
  typeof schema['type'] === 'string';

/** The problems of a value with this schema. */
export const nullProblems = (
  value: unknown,
  schema: JsonRecord | undefined,
  path = '',
): readonly FieldProblem[] => {
  if (schema === undefined) return [];
  if (value === null) return isRefused(schema) ? [problemOf(path, schema['type'])] : [];
  const list = asList(value);
  if (list !== undefined) {
    return list.flatMap((item, index) =>
      nullProblems(item, recordAt(schema, 'items'), `${path}[${index}]`)
    );
  }
  return Object.entries(asRecord(value) ?? {}).flatMap(([field, inner]) => {
    const property = recordAt(schema, 'properties', field) ??
      recordAt(schema, 'additionalProperties');
    return nullProblems(inner, property, path === '' ? field : `${path}.${field}`);
  });
};
