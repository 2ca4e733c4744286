/**
 * Template values as Go's reflection sees them.
 *
 * Promises: plain JSON-shaped data becomes what Go's `map[string]any` would hold (a whole number an
 * `int`, any other number a `float64`, a list a `[]any`, an object a `map[string]any`), and
 * `structure` makes structs whose unknown fields are errors. Whether a value is inside an `any` is
 * recorded, because Go's messages and comparisons differ.
 */
import { type ByteString, toBytes } from './byte-strings.ts';

/** The types that templates meet. */
export type GoType =
  | { readonly kind: 'bool' | 'int' | 'uint8' | 'float64' | 'complex128' | 'string' | 'any' }
  | { readonly kind: 'slice'; readonly element: GoType }
  | { readonly kind: 'map'; readonly element: GoType }
  | StructType;

/** A struct: its name as Go prints it, and its fields in order. */
export interface StructType {
  readonly kind: 'struct';
  readonly name: string;
  readonly fields: readonly (readonly [name: string, type: GoType])[];
}

/** A window on an array; slicing again may reach up to `capacity`, as in Go. */
export interface SliceValue {
  readonly kind: 'slice';
  readonly element: GoType;
  readonly array: readonly Value[];
  readonly start: number;
  readonly length: number;
  readonly capacity: number;
  readonly isNil: boolean;
}

/** A map from strings. */
export interface MapValue {
  readonly kind: 'map';
  readonly element: GoType;
  readonly entries: ReadonlyMap<ByteString, Value>;
}

/** A struct with one value a field, in the order of its type. */
export interface StructValue {
  readonly kind: 'struct';
  readonly type: StructType;
  readonly fields: readonly Value[];
}

/** A value; `none` is Go's invalid value: what a missing map key or an untyped nil gives. */
export type Value =
  | { readonly kind: 'none' }
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'int' | 'uint8'; readonly value: bigint }
  | { readonly kind: 'float64'; readonly value: number }
  | { readonly kind: 'complex128'; readonly real: number; readonly imaginary: number }
  | { readonly kind: 'string'; readonly value: ByteString }
  | SliceValue
  | MapValue
  | StructValue
  /** Something inside an `any`; `none` inside is a nil. */
  | { readonly kind: 'any'; readonly inner: Value };

/** Data of JSON shape, with `bigint` for integers beyond 2^53. */
export type PlainData =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly PlainData[]
  | { readonly [key: string]: PlainData };

/** Values of each kind. */
export const NONE: Value = { kind: 'none' };
export const boolValue = (value: boolean): Value => ({ kind: 'bool', value });
export const intValue = (value: bigint): Value => ({ kind: 'int', value });
export const uint8Value = (value: number): Value => ({ kind: 'uint8', value: BigInt(value) });
export const floatValue = (value: number): Value => ({ kind: 'float64', value });
export const complexValue = (real: number, imaginary: number): Value => ({
  kind: 'complex128',
  real,
  imaginary,
});
export const stringValue = (value: ByteString): Value => ({ kind: 'string', value });
const anyValue = (inner: Value): Value => ({ kind: 'any', inner });

export const STRING: GoType = { kind: 'string' };
const ANY: GoType = { kind: 'any' };

/**
 * A slice of `element`s; an empty one is nil, as protobuf decoding leaves it, unless stated
 * otherwise.
 */
export const sliceValue = (
  element: GoType,
  items: readonly Value[],
  isNil = items.length === 0,
): SliceValue => ({
  kind: 'slice',
  element,
  array: items,
  start: 0,
  length: items.length,
  capacity: items.length,
  isNil,
});

/** A struct of `type`; `fields` in the order of the type. */
export const structValue = (type: StructType, fields: readonly Value[]): StructValue => ({
  kind: 'struct',
  type,
  fields,
});

/** The elements of a slice. */
export const itemsOf = (slice: SliceValue): readonly Value[] =>
  slice.array.slice(slice.start, slice.start + slice.length);

const compareBytes = (one: ByteString, other: ByteString): number =>
  one < other ? -1 : one > other ? 1 : 0;

/** The entries of a map, by key, as Go's `range` and printing take them. */
export const sortedEntries = (map: MapValue): readonly (readonly [ByteString, Value])[] =>
  [...map.entries].sort(([one], [other]) => compareBytes(one, other));

/** The value inside an `any`; anything else is itself. */
export const concrete = (value: Value): Value => value.kind === 'any' ? value.inner : value;

/** The type of a value that is not `none`. */
export const typeOf = (value: Exclude<Value, { kind: 'none' }>): GoType => {
  switch (value.kind) {
    case 'slice':
      return { kind: 'slice', element: value.element };
    case 'map':
      return { kind: 'map', element: value.element };
    case 'struct':
      return value.type;
    default:
      return { kind: value.kind };
  }
};

/** A type as Go writes it. */
export const typeName = (type: GoType): string => {
  switch (type.kind) {
    case 'any':
      return 'interface {}';
    case 'slice':
      return `[]${typeName(type.element)}`;
    case 'map':
      return `map[string]${typeName(type.element)}`;
    case 'struct':
      return type.name;
    default:
      return type.kind;
  }
};

/** The name of a value's type; `<nil>` for `none`. */
export const typeNameOf = (value: Value): string =>
  value.kind === 'none' ? '<nil>' : typeName(typeOf(value));

/** The zero value of a type. */
export const zeroOf = (type: GoType): Value => {
  switch (type.kind) {
    case 'bool':
      return boolValue(false);
    case 'int':
    case 'uint8':
      return { kind: type.kind, value: 0n };
    case 'float64':
      return floatValue(0);
    case 'complex128':
      return complexValue(0, 0);
    case 'string':
      return stringValue('');
    case 'any':
      return anyValue(NONE);
    case 'slice':
      return sliceValue(type.element, []);
    case 'map':
      return { kind: 'map', element: type.element, entries: new Map() };
    case 'struct':
      return structValue(type, type.fields.map(([, field]) => zeroOf(field)));
  }
};

/** Whether a condition takes the value for true: not zero, not empty, not nil. */
export const isTrue = (value: Value): boolean => {
  const inner = concrete(value);
  switch (inner.kind) {
    case 'none':
      return false;
    case 'bool':
      return inner.value;
    case 'int':
    case 'uint8':
      return inner.value !== 0n;
    case 'float64':
      return inner.value !== 0;
    case 'complex128':
      return inner.real !== 0 || inner.imaginary !== 0;
    case 'string':
      return inner.value.length > 0;
    case 'slice':
      return inner.length > 0;
    case 'map':
      return inner.entries.size > 0;
    case 'struct':
      return true;
    case 'any':
      return isTrue(inner);
  }
};

const isList = (data: PlainData): data is readonly PlainData[] => Array.isArray(data);

/** Plain data as the value that Go would hold in a variable of its own type. */
export const fromPlain = (data: PlainData): Value => {
  if (data === null) return NONE;
  switch (typeof data) {
    case 'boolean':
      return boolValue(data);
    case 'number':
      return Number.isSafeInteger(data) && !Object.is(data, -0)
        ? intValue(BigInt(data))
        : floatValue(data);
    case 'bigint':
      return intValue(BigInt.asIntN(64, data));
    case 'string':
      return stringValue(toBytes(data));
    default:
      break;
  }
  const boxed = (inner: PlainData): Value => anyValue(fromPlain(inner));
  if (isList(data)) return sliceValue(ANY, data.map(boxed), false);
  const entries = Object.entries(data).map(([key, inner]) => [toBytes(key), boxed(inner)] as const);
  return { kind: 'map', element: ANY, entries: new Map(entries) };
};
