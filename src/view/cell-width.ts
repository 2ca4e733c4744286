/**
 * The width of a text on a terminal, in cells: most characters have one, those of East Asian
 * scripts and emoji two, combining ones none (Unicode Standard Annex 11).
 *
 * Promises: total; a text that is cut ends with a whole character.
 */
import { eastAsianWidth } from 'get-east-asian-width';

/** Vowels and final consonants of a decomposed Hangul syllable are part of its first letter. */
const COMBINING = /[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff]/u;
const PLAIN = /^[\u0020-\u007e]*$/u;

const widthOf = (character: string): number =>
  COMBINING.test(character) ? 0 : eastAsianWidth(character.codePointAt(0) ?? 0);

/** The number of cells that the text takes. */
export const cellWidth = (text: string): number => {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += widthOf(character);
  return width;
};

/** The text, filled up with spaces to `cells`. */
export const paddedToCells = (text: string, cells: number): string =>
  text + ' '.repeat(Math.max(0, cells - cellWidth(text)));

/** The text, or as much of its beginning as fits into `cells`, and `ending`. */
export const cutToCells = (text: string, cells: number, ending: string): string => {
  if (cellWidth(text) <= cells) return text;
  let width = cellWidth(ending);
  let cut = '';
  for (const character of text) {
    width += widthOf(character);
    if (width > cells) break;
    cut += character;
  }
  return cut + ending;
};
