/**
 * Go strings: sequences of bytes, kept here as text whose characters are bytes (0 to 255), so that
 * `len`, `index`, `slice`, widths and columns count what Go counts.
 *
 * Promises: `fromBytes(toBytes(text))` is `text` for all well-formed text; bytes that are no UTF-8
 * read as U+FFFD, one for each byte, as Go's `range` and JSON encoder read them.
 */

/** A Go string: one character a byte. */
export type ByteString = string;

/** What Go reads where bytes are no UTF-8. */
export const RUNE_ERROR = 0xfffd;
/** The greatest code point. */
export const MAX_RUNE = 0x10ffff;

/** A code point and how many bytes it took. */
export interface DecodedRune {
  readonly rune: number;
  readonly width: number;
}

// deno-lint-ignore no-control-regex
const ASCII = /^[\x00-\x7f]*$/;
const CHUNK = 8192;
const encoder = new TextEncoder();

/** The UTF-8 bytes of `text`. */
export const toBytes = (text: string): ByteString => {
  if (ASCII.test(text)) return text;
  const bytes = encoder.encode(text);
  let out = '';
  for (let at = 0; at < bytes.length; at += CHUNK) {
    out += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  }
  return out;
};

const INVALID: DecodedRune = { rune: RUNE_ERROR, width: 1 };

/** The least code point that needs `width` bytes; anything less is an overlong form. */
const LEAST_OF_WIDTH = [0, 0, 0x80, 0x800, 0x10000];

const widthOf = (leadByte: number): number => {
  if (leadByte >= 0xc2 && leadByte <= 0xdf) return 2;
  if (leadByte >= 0xe0 && leadByte <= 0xef) return 3;
  if (leadByte >= 0xf0 && leadByte <= 0xf4) return 4;
  return 0;
};

/** The code point at `at`; U+FFFD of width 1 where there is none. `at` is inside `bytes`. */
export const decodeRune = (bytes: ByteString, at: number): DecodedRune => {
  const leadByte = bytes.charCodeAt(at);
  if (leadByte < 0x80) return { rune: leadByte, width: 1 };
  const width = widthOf(leadByte);
  if (width === 0 || at + width > bytes.length) return INVALID;
  let rune = leadByte & (0xff >> (width + 1));
  for (let next = at + 1; next < at + width; next += 1) {
    const byte = bytes.charCodeAt(next);
    if ((byte & 0xc0) !== 0x80) return INVALID;
    rune = (rune << 6) | (byte & 0x3f);
  }
  if (rune < (LEAST_OF_WIDTH[width] ?? 0) || !isValidRune(rune)) return INVALID;
  return { rune, width };
};

/** Whether `rune` is a code point that UTF-8 may hold. */
export const isValidRune = (rune: number): boolean =>
  (rune >= 0 && rune < 0xd800) || (rune > 0xdfff && rune <= MAX_RUNE);

/** The UTF-8 bytes of a code point; those of U+FFFD for what is none. */
export const encodeRune = (rune: number): ByteString =>
  toBytes(String.fromCodePoint(isValidRune(rune) ? rune : RUNE_ERROR));

/** The code points of `bytes`, in order. */
export function* runesOf(bytes: ByteString): Generator<DecodedRune> {
  for (let at = 0; at < bytes.length;) {
    const decoded = decodeRune(bytes, at);
    yield decoded;
    at += decoded.width;
  }
}

/** How many code points `bytes` hold. */
export const runeCount = (bytes: ByteString): number => {
  if (ASCII.test(bytes)) return bytes.length;
  let count = 0;
  for (const _ of runesOf(bytes)) count += 1;
  return count;
};

/** The text that `bytes` spell. */
export const fromBytes = (bytes: ByteString): string => {
  if (ASCII.test(bytes)) return bytes;
  const parts: string[] = [];
  for (const { rune } of runesOf(bytes)) parts.push(String.fromCodePoint(rune));
  return parts.join('');
};

const PRINTABLE = /^[ \p{L}\p{M}\p{N}\p{P}\p{S}]$/u;
const ALPHANUMERIC = /^[_\p{L}\p{Nd}]$/u;

/** Whether Go prints the code point as itself: letters, marks, numbers, punctuation, symbols. */
export const isPrintable = (rune: number): boolean =>
  isValidRune(rune) && PRINTABLE.test(String.fromCodePoint(rune));

/** Whether the code point may stand in a template's identifier. */
export const isAlphaNumeric = (rune: number): boolean =>
  isValidRune(rune) && ALPHANUMERIC.test(String.fromCodePoint(rune));
