/**
 * How much of a list of the API server is read at once.
 *
 * Promises: a page that exceeds the bytes is read again with half as many objects, so that large
 * objects, which every tenant may write, cost more requests and never a stall; no answer is larger
 * than the heap can hold.
 */

/** The bounds, with their names in `docs/reference/limits.md`. */
export const LIST_LIMITS = {
  /** Objects of one page. */
  pageObjects: 500,
  /** Of a page with more than one object. */
  pageBytes: 4 * 1024 * 1024,
  /** The same of a list whose pages took longer than their continue token lives. */
  largePageObjects: 5000,
  largePageBytes: 16 * 1024 * 1024,
} as const;

/** Text, its copy while it is parsed, and its objects need about four times its bytes. */
const WHOLE_SHARE = 1 / 8;

/** More does not fit one string. */
const WHOLE_BYTES_MAX = 400 * 1024 * 1024;

/** The largest whole list for a heap of so many bytes. */
export const wholeListBytes = (heapBytes: number): number =>
  Math.min(Math.floor(heapBytes * WHOLE_SHARE), WHOLE_BYTES_MAX);

/** What is requested at once: at most so many objects, or all, and so many bytes. */
export interface ListPart {
  readonly objects: number | null;
  readonly bytes: number;
}

/** The pages of a list. */
export const SMALL_PAGES = {
  objects: LIST_LIMITS.pageObjects,
  bytes: LIST_LIMITS.pageBytes,
} as const satisfies ListPart;

/** The pages of a list after one whose continue token expired: far fewer requests. */
export const LARGE_PAGES = {
  objects: LIST_LIMITS.largePageObjects,
  bytes: LIST_LIMITS.largePageBytes,
} as const satisfies ListPart;

/** The objects of the page after one that was too large. */
export const smallerPage = (objects: number): number => Math.max(1, Math.floor(objects / 2));

/** The objects of the page after one with this many characters; `most` are allowed. */
export const pageAfter = (
  objects: number,
  characters: number,
  most: typeof SMALL_PAGES | typeof LARGE_PAGES,
): number => characters * 4 > most.bytes ? objects : Math.min(objects * 2, most.objects);
