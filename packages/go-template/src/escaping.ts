/**
 * The built-in functions `html`, `js` and `urlquery`.
 *
 * Promises: byte for byte what Go's text/template and net/url give.
 */
import { type ByteString, decodeRune, isPrintable } from './byte-strings.ts';

const HTML: Readonly<Record<string, string>> = {
  '\0': '\xef\xbf\xbd',
  '"': '&#34;',
  "'": '&#39;',
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
};

/** `html`. */
export const escapeHtml = (bytes: ByteString): ByteString =>
  bytes.replace(/[\0"'&<>]/g, (character) => HTML[character] ?? character);

const JS: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  '"': '\\"',
  '<': '\\u003C',
  '>': '\\u003E',
  '&': '\\u0026',
  '=': '\\u003D',
};

const unicodeEscape = (rune: number): string =>
  `\\u${rune.toString(16).toUpperCase().padStart(4, '0')}`;

/** `js`. */
export const escapeJs = (bytes: ByteString): ByteString => {
  let out = '';
  for (let at = 0; at < bytes.length;) {
    const character = bytes.charAt(at);
    const { rune, width } = decodeRune(bytes, at);
    if (rune < 0x20) out += unicodeEscape(rune);
    else if (character < '\x80') out += JS[character] ?? character;
    else out += isPrintable(rune) ? bytes.slice(at, at + width) : unicodeEscape(rune);
    at += width;
  }
  return out;
};

/** `urlquery`. */
export const escapeQuery = (bytes: ByteString): ByteString =>
  bytes.replace(/[^A-Za-z0-9\-_.~]/g, (character) => {
    if (character === ' ') return '+';
    return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
  });
