/**
 * `printf` as Go's package fmt implements it: flags, widths, precisions and operand numbers.
 *
 * Promises: any format with any operands yields text; mismatches appear in it in Go's notation
 * (`%!d(MISSING)`, `%!(EXTRA int=1)`, `%!(BADWIDTH)`).
 */
import { type ByteString, decodeRune, encodeRune } from './byte-strings.ts';
import { type Directive, PLAIN } from './directive-fields.ts';
import { NIL, printOperand, stringOnMeter } from './printing.ts';
import { concrete, typeNameOf, type Value } from './values.ts';
import type { BoundedText, WorkMeter } from './work-meter.ts';

/** A width or precision beyond this is none. */
const FIELD_SIZE_MAX = 1_000_000;

/** Walks a format; `at` and `operand` move on as directives are read. */
interface FormatCursor {
  readonly format: ByteString;
  readonly operands: readonly Value[];
  at: number;
  operand: number;
  reordered: boolean;
  goodIndex: boolean;
  afterIndex: boolean;
}

const readDigits = (cursor: FormatCursor, end: number): number | undefined => {
  let value: number | undefined;
  for (; cursor.at < end; cursor.at += 1) {
    const digit = cursor.format.charCodeAt(cursor.at) - 48;
    if (!(digit >= 0 && digit <= 9)) break;
    if ((value ?? 0) > FIELD_SIZE_MAX) {
      cursor.at = end;
      return undefined;
    }
    value = (value ?? 0) * 10 + digit;
  }
  return value;
};

/** An explicit operand such as `[2]`. */
const readIndex = (cursor: FormatCursor): void => {
  cursor.afterIndex = false;
  const { format, at } = cursor;
  if (format.charAt(at) !== '[') return;
  cursor.reordered = true;
  const close = format.indexOf(']', at);
  if (format.length - at < 3 || close <= at) {
    cursor.at = at + 1;
    cursor.goodIndex = false;
    return;
  }
  cursor.at = at + 1;
  const number = readDigits(cursor, close);
  const isNumber = number !== undefined && cursor.at === close;
  cursor.at = close + 1;
  cursor.afterIndex = isNumber;
  if (isNumber && number >= 1 && number <= cursor.operands.length) cursor.operand = number - 1;
  else cursor.goodIndex = false;
};

/** The operand of a `*`, as a width or precision. */
const readStar = (cursor: FormatCursor): number | undefined => {
  cursor.at += 1;
  const operand = cursor.operands[cursor.operand];
  if (operand === undefined) return undefined;
  cursor.operand += 1;
  cursor.afterIndex = false;
  const value = concrete(operand);
  if (value.kind !== 'int' && value.kind !== 'uint8') return undefined;
  const number = Number(value.value);
  return Math.abs(number) > FIELD_SIZE_MAX ? undefined : number;
};

const FLAGS: Readonly<Record<string, 'sharp' | 'zero' | 'plus' | 'minus' | 'space'>> = {
  '#': 'sharp',
  '0': 'zero',
  '+': 'plus',
  '-': 'minus',
  ' ': 'space',
};

const readFlags = (cursor: FormatCursor): Directive => {
  let directive = PLAIN;
  for (; cursor.at < cursor.format.length; cursor.at += 1) {
    const flag = FLAGS[cursor.format.charAt(cursor.at)];
    if (flag === undefined) break;
    directive = { ...directive, [flag]: true };
  }
  return directive;
};

const readWidth = (cursor: FormatCursor, directive: Directive, out: BoundedText): Directive => {
  if (cursor.format.charAt(cursor.at) !== '*') {
    const width = readDigits(cursor, cursor.format.length);
    if (width !== undefined && cursor.afterIndex) cursor.goodIndex = false;
    return width === undefined ? directive : { ...directive, width };
  }
  const width = readStar(cursor);
  cursor.afterIndex = false;
  if (width === undefined) {
    out.append('%!(BADWIDTH)');
    return directive;
  }
  return width < 0
    ? { ...directive, width: -width, minus: true, zero: false }
    : { ...directive, width };
};

const readPrecision = (cursor: FormatCursor, directive: Directive, out: BoundedText): Directive => {
  const { format } = cursor;
  if (cursor.at + 1 >= format.length || format.charAt(cursor.at) !== '.') return directive;
  cursor.at += 1;
  if (cursor.afterIndex) cursor.goodIndex = false;
  readIndex(cursor);
  if (format.charAt(cursor.at) !== '*') {
    return { ...directive, precision: readDigits(cursor, format.length) ?? 0 };
  }
  const precision = readStar(cursor);
  cursor.afterIndex = false;
  if (precision !== undefined && precision >= 0) return { ...directive, precision };
  out.append('%!(BADPREC)');
  return directive;
};

/** `%v`, and `%w` which is like it but for its name, give two flags a meaning of their own. */
const forVerb = (verb: string, directive: Directive): Directive =>
  verb === 'v' || verb === 'w'
    ? {
      ...directive,
      goSyntax: directive.sharp,
      sharp: false,
      fieldNames: directive.plus,
      plus: false,
    }
    : directive;

/** One directive, from behind its `%`. */
const printDirective = (cursor: FormatCursor, out: BoundedText): void => {
  cursor.goodIndex = true;
  const flags = readFlags(cursor);
  readIndex(cursor);
  const directive = readPrecision(cursor, readWidth(cursor, flags, out), out);
  if (!cursor.afterIndex) readIndex(cursor);
  if (cursor.at >= cursor.format.length) return out.append('%!(NOVERB)');
  const { rune, width } = decodeRune(cursor.format, cursor.at);
  cursor.at += width;
  const verb = encodeRune(rune);
  if (verb === '%') return out.append('%');
  if (!cursor.goodIndex) return out.append(`%!${verb}(BADINDEX)`);
  const operand = cursor.operands[cursor.operand];
  if (operand === undefined) return out.append(`%!${verb}(MISSING)`);
  printOperand({ out, verb, directive: forVerb(verb, directive) }, operand);
  cursor.operand += 1;
};

const printExtra = (extra: readonly Value[], out: BoundedText): void => {
  out.append('%!(EXTRA ');
  extra.forEach((operand, index) => {
    if (index > 0) out.append(', ');
    const value = concrete(operand);
    if (value.kind === 'none') return out.append(NIL);
    out.append(`${typeNameOf(value)}=`);
    printOperand({ out, verb: 'v', directive: PLAIN }, value);
  });
  out.append(')');
};

/** `printf`. */
export const sprintf = (
  format: ByteString,
  operands: readonly Value[],
  meter: WorkMeter,
): ByteString => {
  const out = stringOnMeter(meter);
  const cursor: FormatCursor = {
    format,
    operands,
    at: 0,
    operand: 0,
    reordered: false,
    goodIndex: true,
    afterIndex: false,
  };
  while (cursor.at < format.length) {
    const next = format.indexOf('%', cursor.at);
    const end = next < 0 ? format.length : next;
    if (end > cursor.at) out.append(format.slice(cursor.at, end));
    cursor.at = end + 1;
    if (next >= 0) printDirective(cursor, out);
  }
  if (!cursor.reordered && cursor.operand < operands.length) {
    printExtra(operands.slice(cursor.operand), out);
  }
  return out.text();
};
