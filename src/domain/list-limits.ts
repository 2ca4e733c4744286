/**
 * How much of a list of the API server is read at once.
 *
 * Promises: a page that exceeds the bytes is read again with half as many objects, so that large
 * objects, which every tenant may write, cost more requests and never a stall.
 */

/** The bounds, with their names in `docs/reference/limits.md`. */
export const LIST_LIMITS = {
  /** Objects of one page. */
  pageObjects: 500,
  /** Of a page with more than one object. */
  pageBytes: 4 * 1024 * 1024,
} as const;

/** The objects of the page after one that was too large. */
export const smallerPage = (objects: number): number => Math.max(1, Math.floor(objects / 2));

/** The objects of the page after one with this many characters. */
export const pageAfter = (objects: number, characters: number): number =>
  characters * 4 > LIST_LIMITS.pageBytes ? objects : Math.min(objects * 2, LIST_LIMITS.pageObjects);
