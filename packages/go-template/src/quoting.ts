/**
 * Go's quoted strings: written for `%q` and for messages, read from templates.
 *
 * Promises: `unquote(quote(s))` is `s` for every byte string. Source: Go, package strconv, `Quote`
 * and `Unquote`, and the Go specification, section "String literals".
 */
import {
  type ByteString,
  decodeRune,
  encodeRune,
  isPrintable,
  isValidRune,
  RUNE_ERROR,
  runesOf,
} from './byte-strings.ts';

/** How much of Unicode may stand as itself inside the quotes. */
export type QuotedAs = 'unicode' | 'ascii';

const NAMED_ESCAPES: ReadonlyMap<number, string> = new Map([
  [0x07, '\\a'],
  [0x08, '\\b'],
  [0x09, '\\t'],
  [0x0a, '\\n'],
  [0x0b, '\\v'],
  [0x0c, '\\f'],
  [0x0d, '\\r'],
]);

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');

const escapedRune = (rune: number, mark: string, as: QuotedAs): ByteString => {
  if (rune === mark.charCodeAt(0) || rune === 0x5c) return `\\${String.fromCharCode(rune)}`;
  if ((as === 'unicode' || rune < 0x80) && isPrintable(rune)) return encodeRune(rune);
  const named = NAMED_ESCAPES.get(rune);
  if (named !== undefined) return named;
  if (rune < 0x20 || rune === 0x7f) return `\\x${hex(rune, 2)}`;
  return rune < 0x10000 ? `\\u${hex(rune, 4)}` : `\\U${hex(rune, 8)}`;
};

/** `bytes` as a double-quoted Go string. */
export const quote = (bytes: ByteString, as: QuotedAs = 'unicode'): ByteString => {
  let out = '"';
  let at = 0;
  for (const { rune, width } of runesOf(bytes)) {
    out += rune === RUNE_ERROR && width === 1
      ? `\\x${hex(bytes.charCodeAt(at), 2)}`
      : escapedRune(rune, '"', as);
    at += width;
  }
  return `${out}"`;
};

/** A code point as a single-quoted Go character. */
export const quoteRune = (rune: number, as: QuotedAs = 'unicode'): ByteString =>
  `'${escapedRune(isValidRune(rune) ? rune : RUNE_ERROR, "'", as)}'`;

/** Whether `bytes` can be written between backquotes as they are. */
export const canBackquote = (bytes: ByteString): boolean => {
  for (const { rune, width } of runesOf(bytes)) {
    if (width > 1 && rune !== 0xfeff) continue;
    if (width > 1 || rune === RUNE_ERROR) return false;
    if ((rune < 0x20 && rune !== 0x09) || rune === 0x60 || rune === 0x7f) return false;
  }
  return true;
};

/** One character of a quoted text, as bytes. */
export interface UnquotedCharacter {
  readonly rune: number;
  readonly bytes: ByteString;
  /** How many bytes of the quoted text it took. */
  readonly width: number;
}

const BYTE_ESCAPES: ReadonlyMap<string, number> = new Map([
  ['a', 0x07],
  ['b', 0x08],
  ['f', 0x0c],
  ['n', 0x0a],
  ['r', 0x0d],
  ['t', 0x09],
  ['v', 0x0b],
  ['\\', 0x5c],
]);
const HEX_DIGITS: ReadonlyMap<string, number> = new Map([['x', 2], ['u', 4], ['U', 8]]);

const ofByte = (rune: number, width: number): UnquotedCharacter => ({
  rune,
  bytes: String.fromCharCode(rune),
  width,
});

const unquoteHex = (quoted: ByteString, at: number): UnquotedCharacter | undefined => {
  const kind = quoted.charAt(at + 1);
  const length = HEX_DIGITS.get(kind) ?? 0;
  const digits = quoted.slice(at + 2, at + 2 + length);
  if (digits.length < length || !/^[0-9a-fA-F]+$/.test(digits)) return undefined;
  const rune = Number.parseInt(digits, 16);
  if (kind === 'x') return ofByte(rune, 4);
  return isValidRune(rune) ? { rune, bytes: encodeRune(rune), width: 2 + length } : undefined;
};

const unquoteOctal = (quoted: ByteString, at: number): UnquotedCharacter | undefined => {
  const digits = quoted.slice(at + 1, at + 4);
  if (!/^[0-7]{3}$/.test(digits)) return undefined;
  const rune = Number.parseInt(digits, 8);
  return rune > 0xff ? undefined : ofByte(rune, 4);
};

/** The character at `at` of a text quoted by `mark`; `undefined` when it breaks Go's rules. */
export const unquoteCharacter = (
  quoted: ByteString,
  at: number,
  mark: string,
): UnquotedCharacter | undefined => {
  const first = quoted.charAt(at);
  if (first === '' || first === mark) return undefined;
  if (first.charCodeAt(0) >= 0x80) {
    const { rune, width } = decodeRune(quoted, at);
    return { rune, bytes: encodeRune(rune), width };
  }
  if (first !== '\\') return ofByte(first.charCodeAt(0), 1);
  const escape = quoted.charAt(at + 1);
  if (HEX_DIGITS.has(escape)) return unquoteHex(quoted, at);
  if (/^[0-7]$/.test(escape)) return unquoteOctal(quoted, at);
  if (escape === mark) return ofByte(escape.charCodeAt(0), 2);
  const byte = BYTE_ESCAPES.get(escape);
  return byte === undefined ? undefined : ofByte(byte, 2);
};

/** The value of a whole quoted string (`"…"` or `` `…` ``); `undefined` when it is malformed. */
export const unquote = (quoted: ByteString): ByteString | undefined => {
  const mark = quoted.charAt(0);
  const end = quoted.length - 1;
  if (end < 1 || quoted.charAt(end) !== mark) return undefined;
  if (mark === '`') return quoted.slice(1, end).replaceAll('\r', '');
  let out = '';
  for (let at = 1; at < end;) {
    const character = unquoteCharacter(quoted, at, mark);
    if (character === undefined || quoted.charAt(at) === '\n') return undefined;
    out += character.bytes;
    at += character.width;
    if (at > end) return undefined;
  }
  return out;
};
