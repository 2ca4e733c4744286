/**
 * Number constants of a template, read by Go's rules for untyped constants.
 *
 * Promises: the same constants are accepted, with the same type and value, as by Go: integers in
 * bases 2, 8, 10 and 16, floats (hexadecimal ones too), characters, and complex numbers. Source:
 * Go, packages strconv and text/template/parse.
 */
import type { ByteString } from './byte-strings.ts';
import { quote, unquoteCharacter } from './quoting.ts';
import { complexValue, floatValue, intValue, type Value } from './values.ts';

/** How the lexer found a number. */
export type NumberForm = 'character' | 'complex' | 'number';

/** A constant with its value, one that no `int` holds, or what is wrong with it. */
export type NumberConstant =
  | { readonly _tag: 'Constant'; readonly value: Value }
  | { readonly _tag: 'Overflow' }
  | { readonly _tag: 'Malformed'; readonly message: string };

const MAX_INT = 0x7fff_ffff_ffff_ffffn;
const MAX_UINT = 0xffff_ffff_ffff_ffffn;

const constant = (value: Value): NumberConstant => ({ _tag: 'Constant', value });
const malformed = (message: string): NumberConstant => ({ _tag: 'Malformed', message });

const BASE = String.raw`0[bB](?<binary>_?[01]+(?:_[01]+)*)|0[oO](?<octal>_?[0-7]+(?:_[0-7]+)*)|` +
  String.raw`0[xX](?<hex>_?[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*)|` +
  String.raw`(?<zero>0(?:_?[0-7])*)|(?<decimal>[1-9]\d*(?:_\d+)*)`;
const INTEGER = new RegExp(`^(?<sign>[+-]?)(?:${BASE})$`);

/** The integer that `text` spells, however great; `undefined` when it spells none. */
const parseInteger = (text: string): bigint | undefined => {
  const groups = INTEGER.exec(text)?.groups;
  if (groups === undefined) return undefined;
  const digits = (group: string | undefined, prefix: string): string | undefined =>
    group === undefined ? undefined : prefix + group.replaceAll('_', '');
  const zero = groups['zero'];
  const spelled = digits(groups['binary'], '0b') ?? digits(groups['octal'], '0o') ??
    digits(groups['hex'], '0x') ?? digits(groups['decimal'], '') ??
    digits(zero, zero === '0' ? '' : '0o') ?? '0';
  const magnitude = BigInt(spelled);
  return groups['sign'] === '-' ? -magnitude : magnitude;
};

const DIGITS = String.raw`\d(?:_?\d)*`;
const DECIMAL_FLOAT = new RegExp(
  String.raw`^[+-]?(?:${DIGITS}(?:\.(?:${DIGITS})?)?|\.${DIGITS})(?:[eE][+-]?${DIGITS})?$`,
);
const HEX_DIGITS = '[0-9a-fA-F](?:_?[0-9a-fA-F])*';
const HEX_FLOAT = new RegExp(
  String.raw`^(?<sign>[+-]?)0[xX](?:(?<whole>_?${HEX_DIGITS})(?:\.(?<fraction>${HEX_DIGITS})?)?|` +
    String.raw`\.(?<only>${HEX_DIGITS}))[pP](?<exponent>[+-]?${DIGITS})$`,
);

/** Beyond this a binary exponent means zero or infinity whatever the digits say. */
const EXPONENT_MAX = 100_000;

const hexFloat = (groups: Readonly<Record<string, string | undefined>>): number => {
  const bare = (name: string): string => (groups[name] ?? '').replaceAll('_', '');
  const fraction = bare('fraction') + bare('only');
  const asked = Number(bare('exponent'));
  const bounded = Math.max(-EXPONENT_MAX, Math.min(EXPONENT_MAX, asked));
  let exponent = bounded - 4 * fraction.length;
  let magnitude = BigInt(`0x${bare('whole')}${fraction}`);
  if (magnitude !== 0n && exponent > 0) {
    if (exponent > 1100) return Number.POSITIVE_INFINITY;
    magnitude <<= BigInt(exponent);
    exponent = 0;
  }
  let value = Number(magnitude);
  for (; exponent < 0 && value !== 0; exponent += Math.min(1000, -exponent)) {
    value *= 2 ** Math.max(-1000, exponent);
  }
  return groups['sign'] === '-' ? -value : value;
};

/** The float that `text` spells; `undefined` when it spells none, or one that is out of range. */
const parseFloat64 = (text: string): number | undefined => {
  const hexadecimal = HEX_FLOAT.exec(text)?.groups;
  const value = hexadecimal !== undefined
    ? hexFloat(hexadecimal)
    : (DECIMAL_FLOAT.test(text) ? Number(text.replaceAll('_', '')) : Number.NaN);
  return Number.isFinite(value) ? value : undefined;
};

/** What Go's scanner takes for a float, as far as it goes. */
const FLOAT_TOKEN =
  String.raw`[+-]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[\d_]*)?|` +
  String.raw`[\d_]*(?:\.[\d_]*)?(?:[eEpP][+-]?[\d_]*)?)`;
const REAL_PART = new RegExp(`^${FLOAT_TOKEN}`);
const IMAGINARY_PART = new RegExp(`^[+-]${FLOAT_TOKEN}`);

const complexConstant = (text: string): NumberConstant => {
  const [realText = ''] = REAL_PART.exec(text) ?? [];
  const rest = text.slice(realText.length);
  const [imaginaryText = ''] = IMAGINARY_PART.exec(rest) ?? [];
  // A sign and no digit: the scanner takes the "i" for the beginning of "Inf".
  if (imaginaryText.length < 2 || rest.charAt(imaginaryText.length) !== 'i') {
    return malformed('syntax error scanning complex number');
  }
  const real = parseFloat64(realText);
  const imaginary = parseFloat64(imaginaryText);
  if (real !== undefined && imaginary !== undefined) return constant(complexValue(real, imaginary));
  const wrong = quote(real === undefined ? realText : imaginaryText);
  return malformed(`strconv.ParseFloat: parsing ${wrong}: invalid syntax`);
};

const characterConstant = (text: ByteString): NumberConstant => {
  const character = unquoteCharacter(text, 1, "'");
  if (character === undefined) return malformed('invalid syntax');
  if (text.slice(1 + character.width) !== "'") {
    return malformed(`malformed character constant: ${text}`);
  }
  return constant(intValue(BigInt(character.rune)));
};

const LOOKS_LIKE_FLOAT = /[.eEpP]/;
const IS_HEX_INTEGER = /^0[xX][^pP]+$/;

const plainConstant = (text: string): NumberConstant => {
  const integer = parseInteger(text);
  const fits = integer !== undefined && integer >= -MAX_INT - 1n && integer <= MAX_UINT &&
    (integer <= MAX_INT || !text.startsWith('+'));
  // Go recognizes floats by their letters, so -0x1e is a float: its "e" is no exponent.
  const floatLike = LOOKS_LIKE_FLOAT.test(text) && !IS_HEX_INTEGER.test(text);
  if (fits && floatLike) return constant(floatValue(Number(integer)));
  if (fits) return integer > MAX_INT ? { _tag: 'Overflow' } : constant(intValue(integer));
  const float = parseFloat64(text);
  if (float === undefined) return malformed(`illegal number syntax: ${quote(text)}`);
  if (!LOOKS_LIKE_FLOAT.test(text)) return malformed(`integer overflow: ${quote(text)}`);
  return constant(floatValue(float));
};

/** Reads the constant `text`. */
export const readNumber = (text: ByteString, form: NumberForm): NumberConstant => {
  if (form === 'character') return characterConstant(text);
  if (form === 'complex') return complexConstant(text);
  if (text.endsWith('i')) {
    const imaginary = parseFloat64(text.slice(0, -1));
    if (imaginary !== undefined) return constant(complexValue(0, imaginary));
  }
  return plainConstant(text);
};
