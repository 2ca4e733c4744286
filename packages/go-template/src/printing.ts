/**
 * Values as text: `print`, `println`, and one operand of a `printf` directive.
 *
 * Promises: what Go's package fmt prints, mistakes included (`%!d(string=x)`), but for `%p` of
 * lists and maps, which has no address to show here and counts as a verb that does not fit.
 */
import type { ByteString } from './byte-strings.ts';
import {
  booleanField,
  bytesField,
  characterField,
  type Directive,
  floatField,
  integerField,
  isFloatVerb,
  padded,
  PLAIN,
  quotedField,
  quotedRuneField,
  stringField,
  unicodeField,
} from './directive-fields.ts';
import {
  concrete,
  itemsOf,
  type MapValue,
  type SliceValue,
  sortedEntries,
  stringValue,
  type StructValue,
  typeNameOf,
  type Value,
} from './values.ts';
import { type BoundedText, boundedText, STRING_BYTES_MAX, type WorkMeter } from './work-meter.ts';

/** What nil prints as. */
export const NIL = '<nil>';

const integerText = (
  { value, kind }: Extract<Scalar, { readonly kind: 'int' | 'uint8' }>,
  verb: string,
  directive: Directive,
): ByteString | undefined => {
  switch (verb) {
    case 'v':
      return directive.goSyntax && kind !== 'int'
        ? integerField(value, 'x', { ...directive, sharp: true })
        : integerField(value, 'd', directive);
    case 'd':
    case 'b':
    case 'o':
    case 'O':
    case 'x':
    case 'X':
      return integerField(value, verb, directive);
    case 'c':
      return characterField(value, directive);
    case 'q':
      return quotedRuneField(value, directive);
    case 'U':
      return unicodeField(value, directive);
    default:
      return undefined;
  }
};

const stringText = (
  value: ByteString,
  verb: string,
  directive: Directive,
): ByteString | undefined => {
  switch (verb) {
    case 'v':
      return directive.goSyntax ? quotedField(value, directive) : stringField(value, directive);
    case 's':
      return stringField(value, directive);
    case 'q':
      return quotedField(value, directive);
    case 'x':
    case 'X':
      return bytesField(value, directive, verb === 'X');
    default:
      return undefined;
  }
};

type Scalar = Exclude<Value, SliceValue | MapValue | StructValue | { kind: 'any' | 'none' }>;

/** A scalar by a verb; `undefined` when the verb does not fit. */
const scalarText = (
  value: Scalar,
  verb: string,
  directive: Directive,
): ByteString | undefined => {
  switch (value.kind) {
    case 'bool':
      return verb === 't' || verb === 'v' ? booleanField(value.value, directive) : undefined;
    case 'int':
    case 'uint8':
      return integerText(value, verb, directive);
    case 'float64':
      return isFloatVerb(verb) ? floatField(value.value, verb, directive) : undefined;
    case 'complex128':
      return isFloatVerb(verb)
        ? `(${floatField(value.real, verb, directive)}` +
          `${floatField(value.imaginary, verb, { ...directive, plus: true })}i)`
        : undefined;
    case 'string':
      return stringText(value.value, verb, directive);
  }
};

/** A place to print to, and how. */
export interface Printer {
  readonly out: BoundedText;
  readonly verb: string;
  readonly directive: Directive;
}

const printMisfit = (printer: Printer, value: Value): void => {
  printer.out.append(`%!${printer.verb}(`);
  if (value.kind === 'none') {
    printer.out.append(NIL);
  } else {
    printer.out.append(`${typeNameOf(value)}=`);
    printInner({ ...printer, verb: 'v' }, value);
  }
  printer.out.append(')');
};

const printSeparated = (
  printer: Printer,
  brackets: readonly [open: string, close: string],
  parts: readonly (() => void)[],
): void => {
  printer.out.append(brackets[0]);
  parts.forEach((part, index) => {
    if (index > 0) printer.out.append(printer.directive.goSyntax ? ', ' : ' ');
    part();
  });
  printer.out.append(brackets[1]);
};

const printMap = (printer: Printer, map: MapValue): void => {
  const entries = sortedEntries(map).map(([key, value]) => () => {
    printInner(printer, stringValue(key));
    printer.out.append(':');
    printInner(printer, value);
  });
  const { goSyntax } = printer.directive;
  printSeparated(printer, goSyntax ? [`${typeNameOf(map)}{`, '}'] : ['map[', ']'], entries);
};

const printStruct = (printer: Printer, struct: StructValue): void => {
  const { goSyntax, fieldNames } = printer.directive;
  const fields = struct.fields.map((field, index) => () => {
    if (goSyntax || fieldNames) printer.out.append(`${struct.type.fields[index]?.[0] ?? ''}:`);
    const isNil = field.kind === 'any' && field.inner.kind === 'none';
    printInner(printer, isNil ? field : concrete(field));
  });
  printSeparated(printer, [goSyntax ? `${struct.type.name}{` : '{', '}'], fields);
};

const printSlice = (printer: Printer, slice: SliceValue): void => {
  const { goSyntax } = printer.directive;
  const name = goSyntax ? typeNameOf(slice) : '';
  if (goSyntax && slice.isNil) return printer.out.append(`${name}(nil)`);
  const items = itemsOf(slice).map((item) => () => printInner(printer, item));
  printSeparated(printer, goSyntax ? [`${name}{`, '}'] : ['[', ']'], items);
};

const printInner = (printer: Printer, value: Value): void => {
  switch (value.kind) {
    case 'none':
      return printer.out.append(NIL);
    case 'any':
      if (value.inner.kind !== 'none') return printInner(printer, value.inner);
      return printer.out.append(printer.directive.goSyntax ? 'interface {}(nil)' : NIL);
    case 'slice':
      return printSlice(printer, value);
    case 'map':
      return printMap(printer, value);
    case 'struct':
      return printStruct(printer, value);
    default: {
      const text = scalarText(value, printer.verb, printer.directive);
      return text === undefined ? printMisfit(printer, value) : printer.out.append(text);
    }
  }
};

/** One operand by one directive. */
export const printOperand = (printer: Printer, operand: Value): void => {
  const value = concrete(operand);
  const { verb, directive, out } = printer;
  if (value.kind === 'none') {
    if (verb === 'v' || verb === 'T') return out.append(padded(NIL, directive));
    return printMisfit(printer, value);
  }
  if (verb === 'T') return out.append(stringField(typeNameOf(value), directive));
  const isCompound = value.kind === 'slice' || value.kind === 'map' || value.kind === 'struct';
  if (verb === 'p' || (verb === 'w' && isCompound)) return printMisfit(printer, value);
  printInner(printer, value);
};

/** A string being built, within the limits. */
export const stringOnMeter = (meter: WorkMeter): BoundedText =>
  boundedText(meter, STRING_BYTES_MAX, 'string length');

/** `print`: operands, with a space between two that are no strings. */
export const sprint = (operands: readonly Value[], meter: WorkMeter): ByteString => {
  const out = stringOnMeter(meter);
  let previousIsString = false;
  operands.forEach((operand, index) => {
    const isString = concrete(operand).kind === 'string';
    if (index > 0 && !isString && !previousIsString) out.append(' ');
    printOperand({ out, verb: 'v', directive: PLAIN }, operand);
    previousIsString = isString;
  });
  return out.text();
};

/** `println`: operands with a space between any two, and a newline. */
export const sprintln = (operands: readonly Value[], meter: WorkMeter): ByteString => {
  const out = stringOnMeter(meter);
  operands.forEach((operand, index) => {
    if (index > 0) out.append(' ');
    printOperand({ out, verb: 'v', directive: PLAIN }, operand);
  });
  out.append('\n');
  return out.text();
};

/** A value as messages show it (`%v`, `%s`). */
export const display = (value: Value, verb: 'v' | 's', meter: WorkMeter): ByteString => {
  const out = stringOnMeter(meter);
  printInner({ out, verb, directive: PLAIN }, value);
  return out.text();
};
