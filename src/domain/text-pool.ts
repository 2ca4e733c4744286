/**
 * Interns texts that recur, such as the specs of machines of one kind.
 *
 * Promises: a text that nobody asks for is forgotten while the others are asked for a few times
 * each, so that a pool does not grow by the names of what is gone; forgetting costs duplicates.
 */

/** Returns the text as the copy that was seen first. */
export type Intern = (text: string) => string;

/** A pool, and how many texts it holds. */
export interface TextPool {
  readonly intern: Intern;
  readonly size: () => number;
}

/** Of all texts of a pool: a text may be as large as an object. */
const CHARACTERS_MAX = 8 * 1024 * 1024;
/**
 * A generation ends when each of its texts could have been asked for so often, so that one list of
 * all objects finds most texts again, and after so many questions at least.
 */
const ASKED_PER_TEXT = 8;
const ASKED_MIN = 4096;

/**
 * A pool of at most `limit` texts in two generations: a text that is asked for moves to the younger
 * one, and the older one is forgotten when the younger is over.
 */
export const makeTextPool = (limit: number): TextPool => {
  let young = new Map<string, string>();
  let old: ReadonlyMap<string, string> = new Map();
  let asked = 0;
  let characters = 0;
  const isOver = (text: string): boolean =>
    asked >= Math.max(ASKED_MIN, ASKED_PER_TEXT * young.size) || young.size >= limit / 2 ||
    characters + text.length > CHARACTERS_MAX / 2;
  return {
    size: () => young.size + old.size,
    intern: (text) => {
      asked += 1;
      const known = young.get(text);
      if (known !== undefined) return known;
      const kept = old.get(text) ?? text;
      if (isOver(text)) {
        old = young;
        young = new Map();
        asked = 0;
        characters = 0;
      }
      young.set(kept, kept);
      characters += kept.length;
      return kept;
    },
  };
};

/** A pool of at most `limit` texts. */
export const textPool = (limit: number): Intern => makeTextPool(limit).intern;
