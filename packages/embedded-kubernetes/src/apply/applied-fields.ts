/**
 * The fields that an applied configuration names, and what is wrong with its shape.
 *
 * Source: structured-merge-diff (`typed/tofieldset.go`, `typed/validate.go`): a structure with
 * declared fields is no field of its own, an entry of a map or list is.
 */
import { asList, asRecord, type JsonRecord } from '../values/json.ts';
import {
  asElement,
  elementText,
  type FieldSet,
  type FieldsInProgress,
  isEmptySet,
  LEAF,
  SELF,
} from './field-set.ts';
import {
  type FieldType,
  type ListType,
  type MapType,
  type ScalarType,
  typeOfField,
  typeOfValue,
} from './field-schemas.ts';
import { itemElement, itemsByElement } from './list-items.ts';

const ANY: FieldType = { _tag: 'Any' };

/** A field with these below it; one that is no member and has none is absent. */
const field = (isOwn: boolean, below: FieldSet | undefined): FieldSet | undefined => {
  if (below === undefined || isEmptySet(below)) return isOwn ? LEAF : undefined;
  return isOwn ? asElement({ [SELF]: LEAF, ...below }) : below;
};

const isBare = (value: unknown): boolean =>
  value === null || (asRecord(value) !== undefined && Object.keys(value ?? {}).length === 0);

const inMap = (value: unknown, type: MapType): FieldSet => {
  const fields: FieldsInProgress = {};
  for (const [name, inner] of Object.entries(asRecord(value) ?? {})) {
    const isDeclared = type.field(name) !== undefined;
    const found = named(inner, typeOfField(type, name) ?? ANY, !isDeclared || isBare(inner));
    if (found !== undefined) fields[`f:${name}`] = found;
  }
  return fields;
};

const inList = (value: unknown, type: ListType): FieldSet => {
  const fields: FieldsInProgress = {};
  for (const [element, item] of itemsByElement(asList(value) ?? [], type) ?? []) {
    fields[element] = named(item, type.element, true) ?? LEAF;
  }
  return fields;
};

const named = (value: unknown, type: FieldType, isOwn: boolean): FieldSet | undefined => {
  const actual = typeOfValue(type, value);
  if (actual._tag === 'Scalar' || actual.isAtomic) return LEAF;
  return field(isOwn, actual._tag === 'Map' ? inMap(value, actual) : inList(value, actual));
};

/** The fields that the object names. */
export const namedFields = (object: JsonRecord, type: MapType): FieldSet => inMap(object, type);

/** A Go value as its error messages print it. */
const printed = (value: unknown): string =>
  asRecord(value) === undefined && !Array.isArray(value) ? `&{${value}}` : JSON.stringify(value);

const wrapped = (value: unknown): string => `&value.valueUnstructured{Value:${value}}`;

const scalarProblem = (value: unknown, { of }: ScalarType): string | undefined => {
  if (value === null || of === 'any') return undefined;
  if (of === 'string' && typeof value !== 'string') {
    return `expected string, got ${wrapped(JSON.stringify(value))}`;
  }
  if (of === 'numeric' && typeof value !== 'number') {
    return `expected numeric (int or float), got ${Array.isArray(value) ? 'list' : typeof value}`;
  }
  if (of === 'boolean' && typeof value !== 'boolean') {
    return `expected boolean, got ${wrapped(JSON.stringify(value))}`;
  }
  return undefined;
};

const mapProblems = (value: JsonRecord, type: MapType, path: string): readonly string[] =>
  Object.entries(value).flatMap(([name, inner]) => {
    const known = typeOfField(type, name);
    const at = `${path}.${name}`;
    return known === undefined
      ? [`${at}: field not declared in schema`]
      : shapeProblems(inner, known, at);
  });

const listProblems = (
  list: readonly unknown[],
  type: ListType,
  path: string,
): readonly string[] => {
  const seen = new Set<string>();
  return list.flatMap((item, index) => {
    if (type.isAtomic) return shapeProblems(item, type.element, `${path}[${index}]`);
    const element = itemElement(item, type);
    if (typeof element !== 'string') return [`${path}: element ${index}: ${element.problem}`];
    if (seen.has(element)) return [`${path}: duplicate entries for key ${elementText(element)}`];
    seen.add(element);
    return shapeProblems(item, type.element, path + elementText(element));
  });
};

/** What is wrong with the shape of an object, each with its path, in the order of paths. */
export const objectProblems = (object: JsonRecord, type: MapType): readonly string[] =>
  shapeProblems(object, type).toSorted();

const shapeProblems = (
  value: unknown,
  type: FieldType,
  path = '',
): readonly string[] => {
  if (value === null || value === undefined) return [];
  switch (type._tag) {
    case 'Any':
      return [];
    case 'Scalar': {
      const problem = scalarProblem(value, type);
      return problem === undefined ? [] : [`${path}: ${problem}`];
    }
    case 'Map': {
      const record = asRecord(value);
      if (record === undefined) return [`${path}: expected map, got ${printed(value)}`];
      return mapProblems(record, type, path);
    }
    case 'List': {
      const list = asList(value);
      if (list === undefined) return [`${path}: expected list, got ${printed(value)}`];
      return listProblems(list, type, path);
    }
  }
};
