/**
 * Sets of fields, in the form of `FieldsV1`: `{"f:data": {".": {}, "f:key": {}}}`.
 *
 * Promises: a set is never changed; an operation that changes nothing returns its operand itself,
 * so that versions of an object share their sets. Algebra: structured-merge-diff's `fieldpath.Set`,
 * in which a field and the fields below it are members independently of each other.
 */
import { asRecord } from '../values/json.ts';

/**
 * Fields by path element: `f:name`, `k:{"key":1}` or `v:"value"`. A field is a member when it is
 * empty or has `.`; the set as a whole has no member of its own.
 */
export interface FieldSet {
  readonly [element: string]: FieldSet;
}

/** A set that is being built. */
export type FieldsInProgress = Record<string, FieldSet>;

/** A field that is a member and has nothing below it. At the root, the empty set. */
export const LEAF: FieldSet = Object.freeze({});

/** The element that makes a field with others below it a member. */
export const SELF = '.';

/** Whether there is no member. */
export const isEmptySet = (set: FieldSet): boolean => {
  for (const _ in set) return false;
  return true;
};

/** Whether the field itself is a member. */
export const isInSet = (field: FieldSet): boolean => SELF in field || isEmptySet(field);

/** The field with itself as a member. */
export const asElement = (field: FieldSet): FieldSet =>
  isInSet(field) ? field : { [SELF]: LEAF, ...field };

const unitedFields = (left: FieldSet, right: FieldSet): FieldSet => {
  if (left === right) return left;
  if (isEmptySet(right)) return asElement(left);
  return isEmptySet(left) ? asElement(right) : united(left, right);
};

const united = (left: FieldSet, right: FieldSet): FieldSet => {
  let result: FieldsInProgress | undefined;
  for (const [element, field] of Object.entries(right)) {
    const known = left[element];
    const both = known === undefined ? field : unitedFields(known, field);
    if (both === known) continue;
    result ??= { ...left };
    result[element] = both;
  }
  return result ?? left;
};

/** The members of either set. */
export const union = (left: FieldSet, right: FieldSet): FieldSet => {
  if (isEmptySet(left)) return right;
  return isEmptySet(right) ? left : united(left, right);
};

/** A field with these below it; undefined when it is no member and has none. */
const fieldOf = (member: boolean, below: FieldSet): FieldSet | undefined => {
  if (isEmptySet(below)) return member ? LEAF : undefined;
  return member ? { [SELF]: LEAF, ...below } : below;
};

type Combine = (one: FieldSet, other: FieldSet | undefined) => FieldSet | undefined;

/** The fields below `left`, each combined with that of `right`; `left` itself when none changes. */
const combined = (left: FieldSet, right: FieldSet, combine: Combine): FieldSet => {
  const result: FieldsInProgress = {};
  let isSame = true;
  for (const [element, field] of Object.entries(left)) {
    if (element === SELF) continue;
    const kept = combine(field, right[element]);
    if (kept !== field) isSame = false;
    if (kept !== undefined) result[element] = kept;
  }
  return isSame ? left : result;
};

const withoutSelf = (field: FieldSet): FieldSet => {
  if (!(SELF in field)) return field;
  const { [SELF]: _, ...below } = field;
  return below;
};

/** A field that stays a member or not, with what is left below it. */
const reduced = (field: FieldSet, isStill: boolean, below: FieldSet): FieldSet | undefined =>
  below === field && isStill === isInSet(field) ? field : fieldOf(isStill, withoutSelf(below));

const without: Combine = (left, right) => {
  if (right === undefined) return left;
  return left === right
    ? undefined
    : reduced(left, isInSet(left) && !isInSet(right), combined(left, right, without));
};

/** The members of `left` that are none of `right`. */
export const difference = (left: FieldSet, right: FieldSet): FieldSet =>
  combined(left, right, without);

const common: Combine = (left, right) => {
  if (right === undefined) return undefined;
  return left === right
    ? left
    : reduced(left, isInSet(left) && isInSet(right), combined(left, right, common));
};

/** The members of both sets. */
export const intersection = (left: FieldSet, right: FieldSet): FieldSet =>
  combined(left, right, common);

const ORDER = 'fkvi';

const byElement = ([left]: readonly [string, FieldSet], [right]: readonly [string, FieldSet]) => {
  const [one, other] = [ORDER.indexOf(left[0] ?? ''), ORDER.indexOf(right[0] ?? '')];
  if (one !== other) return one - other;
  return left < right ? -1 : 1;
};

/** `.spec`, `[name="main",port=1]`, `[="value"]`: an element as messages write it. */
export const elementText = (element: string): string => {
  const rest = element.slice(2);
  if (element.startsWith('f:')) return `.${rest}`;
  if (element.startsWith('v:')) return `[=${rest}]`;
  if (!element.startsWith('k:')) return `[${rest}]`;
  const keys = Object.entries(asRecord(JSON.parse(rest)) ?? {});
  return `[${keys.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(',')}]`;
};

/** The members as paths; those of a level come before those below it. */
export const pathsIn = (set: FieldSet, prefix = ''): readonly string[] => {
  const fields = Object.entries(set).filter(([element]) => element !== SELF).toSorted(byElement);
  const members = fields.filter(([, field]) => isInSet(field));
  return [
    ...members.map(([element]) => prefix + elementText(element)),
    ...fields.flatMap(([element, field]) => pathsIn(field, prefix + elementText(element))),
  ];
};

const ELEMENT = /^(?:f:|[vki]:.)/s;

const isElement = (element: string): boolean => {
  if (!ELEMENT.test(element)) return false;
  if (element.startsWith('f:')) return true;
  try {
    const value: unknown = JSON.parse(element.slice(2));
    return !element.startsWith('k:') || asRecord(value) !== undefined;
  } catch {
    return false;
  }
};

/** Whether a value that came from a client is a set of fields. */
export const isFieldSet = (value: unknown): value is FieldSet => {
  const record = asRecord(value);
  return record !== undefined &&
    Object.entries(record).every(([element, field]) =>
      element === SELF ? asRecord(field) !== undefined : isElement(element) && isFieldSet(field)
    );
};
