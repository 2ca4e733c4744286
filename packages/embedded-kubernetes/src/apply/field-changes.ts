/**
 * Which fields differ between two states of an object.
 *
 * Promises: values that are the same object are not looked into. Source: structured-merge-diff
 * (`typed/compare.go`): a container that appears or disappears is a field of its own, beside what
 * is in it.
 */
import { asList, asRecord, type JsonRecord } from '../values/json.ts';
import { sameJson } from '../patches/same-json.ts';
import { type FieldSet, type FieldsInProgress, isEmptySet, LEAF, SELF } from './field-set.ts';
import {
  type FieldType,
  type ListType,
  type MapType,
  typeOfField,
  typeOfValue,
} from './field-schemas.ts';
import { itemsByElement } from './list-items.ts';

/** Fields that were added or modified, and those that were removed. */
export interface FieldChanges {
  readonly touched: FieldSet;
  readonly removed: FieldSet;
}

/** The changes of one field; undefined for none. */
interface Changed {
  readonly touched: FieldSet | undefined;
  readonly removed: FieldSet | undefined;
}

const ANY: FieldType = { _tag: 'Any' };
const REPLACED: Changed = { touched: LEAF, removed: undefined };

const fieldType = (type: MapType, name: string): FieldType => typeOfField(type, name) ?? ANY;

/** Every field below a value; undefined when it has one owner as a whole, or nothing in it. */
const fieldsBelow = (value: unknown, type: FieldType): FieldsInProgress | undefined => {
  const actual = typeOfValue(type, value);
  if (actual._tag === 'Scalar' || actual.isAtomic || value === null) return undefined;
  const fields: FieldsInProgress = {};
  if (actual._tag === 'Map') {
    for (const [name, inner] of Object.entries(asRecord(value) ?? {})) {
      if (inner !== undefined) fields[`f:${name}`] = everyField(inner, fieldType(actual, name));
    }
  } else {
    for (const [element, item] of itemsByElement(asList(value) ?? [], actual) ?? []) {
      fields[element] = everyField(item, actual.element);
    }
  }
  return isEmptySet(fields) ? undefined : fields;
};

/** A value and every field below it. */
const everyField = (value: unknown, type: FieldType): FieldSet => {
  const below = fieldsBelow(value, type);
  return below === undefined ? LEAF : { [SELF]: LEAF, ...below };
};

/** Gathers the changes of the entries of a map or list. */
const gathering = () => {
  let touched: FieldsInProgress | undefined;
  let removed: FieldsInProgress | undefined;
  return {
    add: (element: string, change: Changed | undefined): void => {
      if (change?.touched !== undefined) (touched ??= {})[element] = change.touched;
      if (change?.removed !== undefined) (removed ??= {})[element] = change.removed;
    },
    all: (): Changed | undefined =>
      touched === undefined && removed === undefined ? undefined : { touched, removed },
  };
};

const mapChanges = (left: unknown, right: unknown, type: MapType): Changed | undefined => {
  const [before, after] = [asRecord(left) ?? {}, asRecord(right) ?? {}];
  const changes = gathering();
  for (const name in before) {
    if (before[name] === after[name]) continue;
    changes.add(`f:${name}`, changed(before[name], after[name], fieldType(type, name)));
  }
  for (const name in after) {
    if (before[name] !== undefined) continue;
    changes.add(`f:${name}`, changed(undefined, after[name], fieldType(type, name)));
  }
  return changes.all();
};

const leafChange = (left: unknown, right: unknown): Changed | undefined =>
  sameJson(left, right) ? undefined : REPLACED;

const listChanges = (left: unknown, right: unknown, type: ListType): Changed | undefined => {
  const before = itemsByElement(asList(left) ?? [], type);
  const after = itemsByElement(asList(right) ?? [], type);
  if (before === undefined || after === undefined) return leafChange(left, right);
  const changes = gathering();
  for (const [element, item] of before) {
    changes.add(element, changed(item, after.get(element), type.element));
  }
  for (const [element, item] of after) {
    if (!before.has(element)) changes.add(element, changed(undefined, item, type.element));
  }
  return changes.all();
};

const isBare = (value: unknown): boolean =>
  value === null || (typeof value === 'object' && Object.keys(value).length === 0);

/** The change of a value into another sort: of the value, and of what is below either. */
const converted = (left: unknown, right: unknown, type: FieldType): Changed | undefined => {
  if (sameJson(left, right)) return undefined;
  const after = fieldsBelow(right, type);
  return {
    touched: after === undefined ? LEAF : { [SELF]: LEAF, ...after },
    removed: fieldsBelow(left, type),
  };
};

const changed = (left: unknown, right: unknown, type: FieldType): Changed | undefined => {
  if (left === right) return undefined;
  if (left === undefined) return { touched: everyField(right, type), removed: undefined };
  if (right === undefined) return { touched: undefined, removed: everyField(left, type) };
  // Null has the type of what it stands beside.
  const before = typeOfValue(type, left ?? right);
  const after = typeOfValue(type, right ?? left);
  if (before._tag === 'Scalar' || after._tag === 'Scalar' || before !== after) {
    return converted(left, right, type);
  }
  // An empty value and null differ as values, although nothing is in either.
  if (before.isAtomic || (isBare(left) && isBare(right))) return leafChange(left, right);
  return before._tag === 'Map' ? mapChanges(left, right, before) : listChanges(left, right, before);
};

/** The fields of an object that differ. */
export const fieldChanges = (
  before: JsonRecord,
  after: JsonRecord,
  type: MapType,
): FieldChanges | undefined => {
  const changes = mapChanges(before, after, type);
  return changes && { touched: changes.touched ?? LEAF, removed: changes.removed ?? LEAF };
};
