/** Interns texts that recur, such as the specs of machines of one kind. */

/** Returns the text as the copy that was seen first. */
export type Intern = (text: string) => string;

/** Of all texts of a pool: a text may be as large as an object. */
const CHARACTERS_MAX = 8 * 1024 * 1024;

/** A pool of at most `limit` texts; a full pool is cleared, which only costs duplicates. */
export const textPool = (limit: number): Intern => {
  const texts = new Map<string, string>();
  let characters = 0;
  return (text) => {
    const known = texts.get(text);
    if (known !== undefined) return known;
    if (texts.size >= limit || characters + text.length > CHARACTERS_MAX) {
      texts.clear();
      characters = 0;
    }
    texts.set(text, text);
    characters += text.length;
    return text;
  };
};
