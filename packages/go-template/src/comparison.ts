/**
 * The built-in functions `eq`, `ne`, `lt`, `le`, `gt` and `ge`.
 *
 * Promises: the same verdicts and the same complaints as Go's text/template: numbers of different
 * kinds are never compared, signed and unsigned integers are.
 */
import { display } from './printing.ts';
import {
  concrete,
  type GoType,
  type StructValue,
  typeName,
  typeNameOf,
  typeOf,
  type Value,
} from './values.ts';
import type { WorkMeter } from './work-meter.ts';

/** A function was given what it cannot work with; the message says what. */
export class FunctionFailure extends Error {
  override readonly name = 'FunctionFailure';
}

const BAD_TYPE = 'invalid type for comparison';

type BasicKind = 'bool' | 'complex' | 'int' | 'float' | 'string' | 'uint';

const BASIC: Readonly<Partial<Record<Value['kind'], BasicKind>>> = {
  bool: 'bool',
  complex128: 'complex',
  int: 'int',
  float64: 'float',
  string: 'string',
  uint8: 'uint',
};

const areIntegers = (one: BasicKind | undefined, other: BasicKind | undefined): boolean =>
  (one === 'int' || one === 'uint') && (other === 'int' || other === 'uint');

const isNil = (value: Value): boolean =>
  value.kind === 'none' || (value.kind === 'slice' && value.isNil);

const isComparable = (type: GoType): boolean => {
  if (type.kind === 'slice' || type.kind === 'map') return false;
  return type.kind !== 'struct' || type.fields.every(([, field]) => isComparable(field));
};

/** Equality of two values of one basic kind. */
const sameScalars = (one: Value, other: Value): boolean => {
  if (one.kind === 'complex128' && other.kind === 'complex128') {
    return one.real === other.real && one.imaginary === other.imaginary;
  }
  return 'value' in one && 'value' in other && one.value === other.value;
};

const sameStructs = (one: StructValue, other: StructValue): boolean =>
  one.type.name === other.type.name &&
  one.fields.every((field, index) => {
    const left = concrete(field);
    const right = concrete(other.fields[index] ?? field);
    if (left.kind === 'struct' && right.kind === 'struct') return sameStructs(left, right);
    return left.kind === right.kind && (left.kind === 'none' || sameScalars(left, right));
  });

/** Equality of values that are no scalars, or nil. */
const sameCompounds = (one: Value, other: Value, meter: WorkMeter): boolean => {
  const text = (value: Value, verb: 'v' | 's'): string => display(value, verb, meter);
  if (one.kind !== other.kind && one.kind !== 'none' && other.kind !== 'none') {
    throw new FunctionFailure(
      `non-comparable types ${text(one, 's')}: ${typeNameOf(one)}, ` +
        `${typeNameOf(other)}: ${text(other, 'v')}`,
    );
  }
  if (isNil(one) || isNil(other)) return isNil(one) === isNil(other);
  if (other.kind !== 'none' && !isComparable(typeOf(other))) {
    throw new FunctionFailure(
      `non-comparable type ${text(other, 's')}: ${typeName(typeOf(other))}`,
    );
  }
  return one.kind === 'struct' && other.kind === 'struct' && sameStructs(one, other);
};

const incompatible = (one: Value, other: Value): FunctionFailure =>
  new FunctionFailure(
    `incompatible types for comparison: ${typeNameOf(one)} and ${typeNameOf(other)}`,
  );

const isEqual = (one: Value, other: Value, meter: WorkMeter): boolean => {
  const kind = BASIC[one.kind];
  const otherKind = BASIC[other.kind];
  if (kind !== otherKind && !areIntegers(kind, otherKind)) {
    if (one.kind !== 'none' && other.kind !== 'none') throw incompatible(one, other);
    return false;
  }
  return kind === undefined ? sameCompounds(one, other, meter) : sameScalars(one, other);
};

/** `eq`: whether the first equals any of the others. */
export const equalsAny = (operands: readonly Value[], meter: WorkMeter): boolean => {
  const [first, ...others] = operands.map(concrete);
  if (first === undefined || others.length === 0) {
    throw new FunctionFailure('missing argument for comparison');
  }
  return others.some((other) => isEqual(first, other, meter));
};

/** `lt`. */
export const isLess = (left: Value, right: Value): boolean => {
  const one = concrete(left);
  const other = concrete(right);
  const kind = BASIC[one.kind];
  const otherKind = BASIC[other.kind];
  if (kind === undefined || otherKind === undefined) throw new FunctionFailure(BAD_TYPE);
  if (kind !== otherKind && !areIntegers(kind, otherKind)) throw incompatible(one, other);
  if (kind === 'bool' || kind === 'complex') throw new FunctionFailure(BAD_TYPE);
  return 'value' in one && 'value' in other && one.value < other.value;
};
