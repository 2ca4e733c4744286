/**
 * The functions that every template may call.
 *
 * Promises: Go's predefined functions and no others, with Go's parameters, results and complaints
 * (`FunctionFailure`). `and` and `or` are here by name only: they decide which of their arguments
 * are evaluated, so evaluation does them. Source: Go, package text/template, section "Functions".
 */
import type { ByteString } from './byte-strings.ts';
import { equalsAny, FunctionFailure, isLess } from './comparison.ts';
import { escapeHtml, escapeJs, escapeQuery } from './escaping.ts';
import { sprintf } from './formatting.ts';
import { sprint, sprintln } from './printing.ts';
import {
  boolValue,
  concrete,
  intValue,
  isTrue,
  type MapValue,
  NONE,
  type SliceValue,
  stringValue,
  typeNameOf,
  uint8Value,
  type Value,
  zeroOf,
} from './values.ts';
import type { WorkMeter } from './work-meter.ts';

/** What a parameter takes: any value as it is, anything printable, or a string. */
export type Parameter = 'value' | 'any' | 'string';

/** A function: its parameters, and what it does with as many arguments. */
export interface Builtin {
  readonly parameters: readonly Parameter[];
  /** What further arguments must be; without it there may be none. */
  readonly variadic?: Parameter;
  readonly call: (operands: readonly Value[], meter: WorkMeter) => Value;
}

const fail = (message: string): never => {
  throw new FunctionFailure(message);
};

const indexNumber = (index: Value, capacity: number): number => {
  if (index.kind === 'none') return fail('cannot index slice/array with nil');
  if (index.kind !== 'int' && index.kind !== 'uint8') {
    return fail(`cannot index slice/array with type ${typeNameOf(index)}`);
  }
  if (index.value < 0n || index.value > BigInt(capacity)) {
    return fail(`index out of range: ${index.value}`);
  }
  return Number(index.value);
};

const sliceItem = (slice: SliceValue, index: Value): Value => {
  const at = indexNumber(index, slice.length);
  return at < slice.length
    ? slice.array[slice.start + at] ?? NONE
    : fail('reflect: slice index out of range');
};

const stringItem = (bytes: ByteString, index: Value): Value => {
  const at = indexNumber(index, bytes.length);
  return at < bytes.length
    ? uint8Value(bytes.charCodeAt(at))
    : fail('reflect: string index out of range');
};

const mapItem = (map: MapValue, key: Value): Value => {
  if (key.kind === 'none') return fail('value is nil; should be of type string');
  if (key.kind !== 'string') {
    return fail(`value has type ${typeNameOf(key)}; should be string`);
  }
  return map.entries.get(key.value) ?? zeroOf(map.element);
};

const index = ([of = NONE, ...indexes]: readonly Value[]): Value => {
  let item = concrete(of);
  if (item.kind === 'none') return fail('index of untyped nil');
  for (const key of indexes.map(concrete)) {
    item = concrete(item);
    switch (item.kind) {
      case 'none':
        return fail('index of nil pointer');
      case 'slice':
        item = sliceItem(item, key);
        break;
      case 'string':
        item = stringItem(item.value, key);
        break;
      case 'map':
        item = mapItem(item, key);
        break;
      default:
        return fail(`can't index item of type ${typeNameOf(item)}`);
    }
  }
  return item;
};

const sliceable = (of: Value, indexes: number): { length: number; capacity: number } => {
  if (of.kind === 'none') return fail('slice of untyped nil');
  if (indexes > 3) return fail(`too many slice indexes: ${indexes}`);
  if (of.kind === 'slice') return of;
  if (of.kind !== 'string') return fail(`can't slice item of type ${typeNameOf(of)}`);
  if (indexes === 3) return fail('cannot 3-index slice a string');
  return { length: of.value.length, capacity: of.value.length };
};

const slice = ([item = NONE, ...indexes]: readonly Value[]): Value => {
  const of = concrete(item);
  const { length, capacity } = sliceable(of, indexes.length);
  const numbers = indexes.map((at) => indexNumber(at, capacity));
  const [from = 0, to = length, end = capacity] = numbers;
  if (from > to) return fail(`invalid slice index: ${from} > ${to}`);
  if (to > end) return fail(`invalid slice index: ${to} > ${end}`);
  if (of.kind === 'string') return stringValue(of.value.slice(from, to));
  if (of.kind !== 'slice') return NONE;
  return { ...of, start: of.start + from, length: to - from, capacity: end - from };
};

const length = ([item = NONE]: readonly Value[]): Value => {
  const of = concrete(item);
  switch (of.kind) {
    case 'string':
      return intValue(BigInt(of.value.length));
    case 'slice':
      return intValue(BigInt(of.length));
    case 'map':
      return intValue(BigInt(of.entries.size));
    case 'none':
      return fail(
        item.kind === 'any'
          ? 'len of nil pointer'
          : 'reflect: call of reflect.Value.Type on zero Value',
      );
    default:
      return fail(`len of type ${typeNameOf(of)}`);
  }
};

/**
 * There are no functions among the data of our templates, so whatever is called is none. The first
 * operand is how the template spells what it calls.
 */
const call = ([spelled = NONE, callee = NONE]: readonly Value[]): Value => {
  const of = concrete(callee);
  if (of.kind === 'none') return fail('call of nil');
  const name = spelled.kind === 'string' ? spelled.value : '';
  return fail(`non-function ${name} of type ${typeNameOf(of)}`);
};

const MISSING = stringValue('<no value>');

const escaper = (escape: (bytes: ByteString) => ByteString): Builtin => ({
  parameters: [],
  variadic: 'any',
  call: (operands, meter) => {
    const printable = operands.map((operand) =>
      concrete(operand).kind === 'none' ? MISSING : operand
    );
    const escaped = escape(sprint(printable, meter));
    meter.charge(escaped.length);
    return stringValue(escaped);
  },
});

const comparison = (
  decide: (left: Value, right: Value, meter: WorkMeter) => boolean,
): Builtin => ({
  parameters: ['value', 'value'],
  call: ([left = NONE, right = NONE], meter) => boolValue(decide(left, right, meter)),
});

const isLessOrEqual = (left: Value, right: Value, meter: WorkMeter): boolean =>
  isLess(left, right) || equalsAny([left, right], meter);

const printed = (
  print: (operands: readonly Value[], meter: WorkMeter) => ByteString,
): Builtin => ({
  parameters: [],
  variadic: 'any',
  call: (operands, meter) => stringValue(print(operands, meter)),
});

const ofValues = (run: (operands: readonly Value[]) => Value): Builtin => ({
  parameters: ['value'],
  variadic: 'value',
  call: run,
});

const formatted: Builtin = {
  parameters: ['string'],
  variadic: 'any',
  call: ([format = NONE, ...operands], meter) =>
    stringValue(sprintf(format.kind === 'string' ? format.value : '', operands, meter)),
};

/** Go's predefined functions by name. */
export const BUILTINS: ReadonlyMap<string, Builtin> = new Map<string, Builtin>([
  ['and', ofValues(() => NONE)],
  ['or', ofValues(() => NONE)],
  ['not', { parameters: ['value'], call: ([of = NONE]) => boolValue(!isTrue(of)) }],
  ['call', ofValues(call)],
  ['index', ofValues(index)],
  ['slice', ofValues(slice)],
  ['len', { parameters: ['value'], call: length }],
  ['html', escaper(escapeHtml)],
  ['js', escaper(escapeJs)],
  ['urlquery', escaper(escapeQuery)],
  ['print', printed(sprint)],
  ['println', printed(sprintln)],
  ['printf', formatted],
  ['eq', {
    parameters: ['value'],
    variadic: 'value',
    call: (operands, meter) => boolValue(equalsAny(operands, meter)),
  }],
  ['ne', comparison((left, right, meter) => !equalsAny([left, right], meter))],
  ['lt', comparison(isLess)],
  ['le', comparison(isLessOrEqual)],
  ['gt', comparison((left, right, meter) => !isLessOrEqual(left, right, meter))],
  ['ge', comparison((left, right) => !isLess(left, right))],
]);

/** The names of the functions, for the parser. */
export const BUILTIN_NAMES: ReadonlySet<string> = new Set(BUILTINS.keys());
