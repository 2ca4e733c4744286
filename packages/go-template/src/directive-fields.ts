/**
 * One formatted field: what a `printf` directive's flags, width and precision make of a boolean, an
 * integer, a float or a string.
 *
 * Promises: the same bytes as Go's package fmt for every combination of flags. All functions are
 * pure; a verb that does not fit the value is the caller's business.
 */
import {
  type ByteString,
  encodeRune,
  isPrintable,
  MAX_RUNE,
  RUNE_ERROR,
  runeCount,
  runesOf,
} from './byte-strings.ts';
import { type FloatForm, formatFloat } from './float-formatting.ts';
import { canBackquote, quote, quoteRune } from './quoting.ts';

/** The flags of one directive. */
export interface Directive {
  readonly width?: number;
  readonly precision?: number;
  readonly minus: boolean;
  readonly plus: boolean;
  readonly sharp: boolean;
  readonly space: boolean;
  readonly zero: boolean;
  /** `%#v`: Go syntax. */
  readonly goSyntax: boolean;
  /** `%+v`: with field names. */
  readonly fieldNames: boolean;
}

/** No flag at all: what `print` and `%v` use. */
export const PLAIN: Directive = {
  minus: false,
  plus: false,
  sharp: false,
  space: false,
  zero: false,
  goSyntax: false,
  fieldNames: false,
};

const padding = (count: number, { zero, minus }: Directive): string =>
  (zero && !minus ? '0' : ' ').repeat(Math.max(count, 0));

/** `text` at least as wide as the directive asks. */
export const padded = (text: ByteString, directive: Directive): ByteString => {
  const { width = 0, minus } = directive;
  if (width === 0) return text;
  const space = padding(width - runeCount(text), directive);
  return minus ? text + space : space + text;
};

const withoutZeros = (directive: Directive): Directive => ({ ...directive, zero: false });

/** `%t`. */
export const booleanField = (value: boolean, directive: Directive): ByteString =>
  padded(String(value), directive);

const truncated = (text: ByteString, { precision }: Directive): ByteString => {
  if (precision === undefined || precision >= text.length) return text;
  let runes = 0;
  let at = 0;
  for (const { width } of runesOf(text)) {
    if (runes === precision) return text.slice(0, at);
    runes += 1;
    at += width;
  }
  return text;
};

/** `%s`. */
export const stringField = (text: ByteString, directive: Directive): ByteString =>
  padded(truncated(text, directive), directive);

/** `%q` of a string. */
export const quotedField = (text: ByteString, directive: Directive): ByteString => {
  const printed = truncated(text, directive);
  if (directive.sharp && canBackquote(printed)) return padded(`\`${printed}\``, directive);
  return padded(quote(printed, directive.plus ? 'ascii' : 'unicode'), directive);
};

const hexByte = (byte: number, capital: boolean): string => {
  const digits = byte.toString(16).padStart(2, '0');
  return capital ? digits.toUpperCase() : digits;
};

/** `%x` and `%X` of a string: its bytes. */
export const bytesField = (
  text: ByteString,
  directive: Directive,
  capital: boolean,
): ByteString => {
  const { precision = text.length, sharp, space } = directive;
  const length = Math.min(precision, text.length);
  if (length === 0) return padding(directive.width ?? 0, directive);
  const prefix = sharp ? (capital ? '0X' : '0x') : '';
  const parts = Array.from(
    { length },
    (_, at) => hexByte(text.charCodeAt(at), capital),
  );
  const printed = space ? parts.map((part) => prefix + part).join(' ') : prefix + parts.join('');
  return padded(printed, directive);
};

const BASES: Readonly<Record<string, number>> = { b: 2, o: 8, O: 8, x: 16, X: 16 };
const PREFIXES: Readonly<Record<string, string>> = { b: '0b', x: '0x', X: '0X' };

const integerPrefix = (digits: string, verb: string, { sharp }: Directive): string => {
  const octal = BASES[verb] === 8 && sharp && !digits.startsWith('0') ? '0' : '';
  return (verb === 'O' ? '0o' : '') + octal + (sharp ? PREFIXES[verb] ?? '' : '');
};

/** `%d`, `%b`, `%o`, `%O`, `%x`, `%X` of an integer. */
export const integerField = (value: bigint, verb: string, directive: Directive): ByteString => {
  const { precision, width = 0, plus, space, zero, minus } = directive;
  if (precision === 0 && value === 0n) return ' '.repeat(width);
  const negative = value < 0n;
  const signs = negative || plus || space ? 1 : 0;
  const zeros = precision ?? (zero && !minus && width > 0 ? width - signs : 0);
  const bare = (negative ? -value : value).toString(BASES[verb] ?? 10);
  const digits = (verb === 'X' ? bare.toUpperCase() : bare).padStart(zeros, '0');
  const sign = negative ? '-' : plus ? '+' : space ? ' ' : '';
  const printed = sign + integerPrefix(digits, verb, directive) + digits;
  return padded(printed, withoutZeros(directive));
};

const runeOf = (value: bigint): number =>
  value < 0n || value > BigInt(MAX_RUNE) ? RUNE_ERROR : Number(value);

/** `%c`. */
export const characterField = (value: bigint, directive: Directive): ByteString =>
  padded(encodeRune(runeOf(value)), directive);

/** `%q` of an integer. */
export const quotedRuneField = (value: bigint, directive: Directive): ByteString =>
  padded(quoteRune(runeOf(value), directive.plus ? 'ascii' : 'unicode'), directive);

/** `%U`. */
export const unicodeField = (value: bigint, directive: Directive): ByteString => {
  const digits = BigInt.asUintN(64, value).toString(16).toUpperCase();
  const code = `U+${digits.padStart(Math.max(directive.precision ?? 0, 4), '0')}`;
  const printed = directive.sharp && value >= 0n && value <= BigInt(MAX_RUNE) &&
      isPrintable(Number(value))
    ? `${code} '${encodeRune(Number(value))}'`
    : code;
  return padded(printed, withoutZeros(directive));
};

interface FloatVerb {
  readonly form: FloatForm;
  readonly capital: boolean;
  readonly precision?: number;
}

const FLOAT_VERBS: Readonly<Record<string, FloatVerb>> = {
  v: { form: 'g', capital: false },
  b: { form: 'b', capital: false },
  g: { form: 'g', capital: false },
  G: { form: 'g', capital: true },
  x: { form: 'x', capital: false },
  X: { form: 'x', capital: true },
  f: { form: 'f', capital: false, precision: 6 },
  F: { form: 'f', capital: false, precision: 6 },
  e: { form: 'e', capital: false, precision: 6 },
  E: { form: 'e', capital: true, precision: 6 },
};

/** Whether a verb can print a float. */
export const isFloatVerb = (verb: string): boolean => verb in FLOAT_VERBS;

/** The `#` flag: a decimal point always, and for `%g` the trailing zeros too. */
const withPoint = (digits: string, verb: string, precision: number | undefined): string => {
  const tailAt = digits.search(/^0x/i) === 0 ? digits.search(/p/i) : digits.search(/[ep]/i);
  const head = tailAt < 0 ? digits : digits.slice(0, tailAt);
  const tail = tailAt < 0 ? '' : digits.slice(tailAt);
  const pointed = head.includes('.');
  const wanted = 'vgGx'.includes(verb) ? precision ?? 6 : 0;
  const significant = head.replace('.', '').replace(/^0+/, '').length +
    (!pointed && head === '0' ? 1 : 0);
  return `${head}${pointed ? '' : '.'}${'0'.repeat(Math.max(wanted - significant, 0))}${tail}`;
};

/** The float verbs of `isFloatVerb`. */
export const floatField = (value: number, verb: string, directive: Directive): ByteString => {
  const { form, capital, precision: standard } = FLOAT_VERBS[verb] ?? { form: 'g', capital: false };
  const precision = directive.precision ?? standard;
  const text = formatFloat(value, form, precision);
  const unsigned = text.replace(/^[+-]/, '');
  const negative = text.startsWith('-');
  const { plus, space, zero, minus, width = 0 } = directive;
  const sign = negative ? '-' : plus ? '+' : space ? ' ' : '';
  if (!Number.isFinite(value)) {
    // An infinity always shows its sign.
    const printed = sign === '' && !Number.isNaN(value) ? '+' : sign;
    return padded(printed + unsigned, withoutZeros(directive));
  }
  const cased = capital ? unsigned.toUpperCase() : unsigned;
  const digits = directive.sharp && form !== 'b'
    ? withPoint(cased, verb, directive.precision)
    : cased;
  if (sign !== '' && zero && !minus && width > digits.length + 1) {
    return sign + digits.padStart(width - 1, '0');
  }
  return padded(sign + digits, directive);
};
