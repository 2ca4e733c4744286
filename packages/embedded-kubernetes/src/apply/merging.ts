/**
 * Merges an applied configuration into an object, and removes fields from one.
 *
 * Source: structured-merge-diff (`typed/merge.go`, `typed/remove.go`): what the configuration names
 * wins, and its order of the entries of a list, too; an entry that only the object has stays before
 * the entry that it stood before.
 */
import { asList, asRecord, type JsonRecord } from '../values/json.ts';
import { type FieldSet, type FieldsInProgress, isInSet, LEAF, SELF } from './field-set.ts';
import {
  type FieldType,
  type ListType,
  type MapType,
  typeOfField,
  typeOfValue,
} from './field-schemas.ts';
import { itemElement, itemsByElement } from './list-items.ts';

const ANY: FieldType = { _tag: 'Any' };

const mergedMap = (live: JsonRecord, applied: JsonRecord, type: MapType): JsonRecord => {
  const result: Record<string, unknown> = { ...live };
  for (const [name, value] of Object.entries(applied)) {
    result[name] = Object.hasOwn(live, name)
      ? merged(live[name], value, typeOfField(type, name) ?? ANY)
      : value;
  }
  return result;
};

const mergedList = (
  live: ReadonlyMap<string, unknown>,
  applied: ReadonlyMap<string, unknown>,
  { element: type }: ListType,
): readonly unknown[] => {
  const shared = [...applied.keys()].filter((element) => live.has(element));
  const waiting = [...live.keys()];
  const result: unknown[] = [];
  // Entries of the object alone, up to the shared entry that comes next.
  const pass = (next: string | undefined): void => {
    while (waiting.length > 0 && waiting[0] !== next) {
      const element = waiting.shift() ?? '';
      if (!applied.has(element)) result.push(live.get(element));
    }
  };
  for (const [element, item] of applied) {
    pass(shared[0]);
    result.push(live.has(element) ? merged(live.get(element), item, type) : item);
    if (element !== shared[0]) continue;
    shared.shift();
    waiting.shift();
  }
  pass(undefined);
  return result;
};

const isBare = (value: unknown): boolean =>
  value === null || (typeof value === 'object' && Object.keys(value).length === 0);

const merged = (live: unknown, applied: unknown, type: FieldType): unknown => {
  const [before, after] = [typeOfValue(type, live), typeOfValue(type, applied)];
  if (before._tag === 'Scalar' || after._tag === 'Scalar' || before !== after) return applied;
  if (before.isAtomic || (isBare(live) && isBare(applied))) return applied;
  if (before._tag === 'Map') {
    return mergedMap(asRecord(live) ?? {}, asRecord(applied) ?? {}, before);
  }
  const items = itemsByElement(asList(live) ?? [], before);
  const wanted = itemsByElement(asList(applied) ?? [], before);
  return items === undefined || wanted === undefined ? applied : mergedList(items, wanted, before);
};

/** The object with what is applied to it. */
export const mergedObject = (live: JsonRecord, applied: JsonRecord, type: MapType): JsonRecord =>
  mergedMap(live, applied, type);

const mapWithout = (value: JsonRecord, fields: FieldSet, type: MapType): JsonRecord => {
  const result: Record<string, unknown> = {};
  for (const [name, inner] of Object.entries(value)) {
    const field = fields[`f:${name}`];
    if (field === undefined) result[name] = inner;
    else if (!isInSet(field)) {
      result[name] = valueWithout(inner, field, typeOfField(type, name) ?? ANY);
    }
  }
  return result;
};

const listWithout = (
  value: readonly unknown[],
  fields: FieldSet,
  type: ListType,
): readonly unknown[] =>
  value.flatMap((item) => {
    const element = itemElement(item, type);
    const field = typeof element === 'string' ? fields[element] : undefined;
    if (field === undefined) return [item];
    return isInSet(field) ? [] : [valueWithout(item, field, type.element)];
  });

const valueWithout = (value: unknown, fields: FieldSet, type: FieldType): unknown => {
  const actual = typeOfValue(type, value);
  if (actual._tag === 'Scalar' || actual.isAtomic || value === null) return value;
  const rest = actual._tag === 'Map'
    ? mapWithout(asRecord(value) ?? {}, fields, actual)
    : listWithout(asList(value) ?? [], fields, actual);
  // The real server does the same: a structure that is left empty becomes null.
  return isBare(rest) ? null : rest;
};

/** The object without the members of a set. */
export const objectWithout = (object: JsonRecord, fields: FieldSet, type: MapType): JsonRecord =>
  mapWithout(object, fields, type);

const withStructures = (field: FieldSet, type: FieldType, isOwn: boolean): FieldSet => {
  const result: FieldsInProgress = isOwn || SELF in field ? { [SELF]: LEAF } : {};
  for (const [element, inner] of Object.entries(field)) {
    if (element === SELF) continue;
    const isNamed = element.startsWith('f:');
    const declared = type._tag === 'Map' && isNamed ? type.field(element.slice(2)) : undefined;
    const below = typeBelow(type, element);
    result[element] = Object.keys(inner).length === 0
      ? LEAF
      : withStructures(inner, below, declared !== undefined);
  }
  return result;
};

const typeBelow = (type: FieldType, element: string): FieldType => {
  if (type._tag === 'List') return type.element;
  if (type._tag !== 'Map') return ANY;
  return typeOfField(type, element.slice(2)) ?? ANY;
};

/** The set with every structure that has a member in it as a member. */
export const withStructuresOf = (fields: FieldSet, type: MapType): FieldSet =>
  withStructures(fields, type, false);
