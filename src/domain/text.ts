/**
 * Text that is cut, and text that is quoted.
 *
 * Promises: what is cut is well-formed. The API server stores U+FFFD in the place of half a
 * surrogate pair, so an object with one would never equal what was wanted.
 */

const GRAPHEMES = new Intl.Segmenter();

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;

/** The last place up to `unitsMax` that splits no character that a reader sees as one. */
const cutPlace = (text: string, unitsMax: number): number => {
  const grapheme = GRAPHEMES.segment(text).containing(unitsMax)?.index ?? 0;
  // Marks without end make one grapheme of a whole text: then code points must do.
  if (grapheme > 0 || unitsMax === 0) return grapheme;
  return isHighSurrogate(text.charCodeAt(unitsMax - 1)) ? unitsMax - 1 : unitsMax;
};

/**
 * `text`, or its beginning when it has more than `unitsMax` UTF-16 units: whole characters, and
 * then `ending`, which comes on top.
 *
 * ```ts
 * cutText('a long story', 6, '…'); // 'a long…'
 * ```
 */
export const cutText = (text: string, unitsMax: number, ending = ''): string => {
  if (text.length <= unitsMax) return text.toWellFormed();
  return `${text.slice(0, cutPlace(text, unitsMax)).toWellFormed()}${ending}`;
};

/** `text`, or its beginning when it has more than `bytesMax` bytes of UTF-8: whole characters. */
export const cutTextToBytes = (text: string, bytesMax: number): string =>
  cutText(text, new TextEncoder().encodeInto(text, new Uint8Array(bytesMax)).read);

/** Longest piece of someone else's text that is repeated. */
const QUOTED_MAX = 80;

/** Someone else's text in quotes, on one line, cut after `unitsMax` UTF-16 units. */
export const quoted = (text: string, unitsMax: number = QUOTED_MAX): string =>
  JSON.stringify(cutText(text, unitsMax, '…'));
