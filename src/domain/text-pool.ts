/** Interns texts that recur, such as the specs of machines of one kind. */

/** Returns the text as the copy that was seen first. */
export type Intern = (text: string) => string;

/** A pool of at most `limit` texts; a full pool is cleared, which only costs duplicates. */
export const textPool = (limit: number): Intern => {
  const texts = new Map<string, string>();
  return (text) => {
    const known = texts.get(text);
    if (known !== undefined) return known;
    if (texts.size >= limit) texts.clear();
    texts.set(text, text);
    return text;
  };
};
