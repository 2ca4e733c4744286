/** Keeps one copy of texts that come again and again, as the specs of machines of one kind do. */

/** Gives the text back, as the copy that was seen first. */
export type Intern = (text: string) => string;

/** A pool of at most `limit` texts; a full one starts over, which costs copies and nothing else. */
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
