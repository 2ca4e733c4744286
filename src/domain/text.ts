/**
 * Truncates and quotes text.
 *
 * Promises: truncated text is well-formed. The API server stores U+FFFD in place of a lone
 * surrogate, so an object with one would never equal the wanted object.
 */

const GRAPHEMES = new Intl.Segmenter();

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;

/** The last position up to `unitsMax` that splits no grapheme. */
const cutPlace = (text: string, unitsMax: number): number => {
  const grapheme = GRAPHEMES.segment(text).containing(unitsMax)?.index ?? 0;
  // Endless combining marks make the whole text one grapheme: fall back to code points.
  if (grapheme > 0 || unitsMax === 0) return grapheme;
  return isHighSurrogate(text.charCodeAt(unitsMax - 1)) ? unitsMax - 1 : unitsMax;
};

/**
 * `text`, or its beginning when it has more than `unitsMax` UTF-16 units: whole graphemes followed
 * by `ending`, which is not counted.
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

/** The maximum length of quoted external text. */
const QUOTED_MAX = 80;

/** External text in quotes, on one line, truncated after `unitsMax` UTF-16 units. */
export const quoted = (text: string, unitsMax: number = QUOTED_MAX): string =>
  JSON.stringify(cutText(text, unitsMax, '…'));

/** The first `most` names in one line, with the number of those left out: `a, b and 3 more`. */
export const listed = (names: readonly string[], most: number): string => {
  const more = names.length - most;
  return `${names.slice(0, most).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
};
