/** An index from text to ids, compact when almost every text has one id, as provider ids do. */

/** Text → ids. */
export interface MultiIndex {
  readonly add: (text: string, id: string) => void;
  readonly remove: (text: string, id: string) => void;
  /** All ids of the text, unique. */
  readonly all: (text: string) => readonly string[];
  /** Whether the text has any id. */
  readonly has: (text: string) => boolean;
  /** The id of the text when it is the only one. */
  readonly only: (text: string) => string | undefined;
  readonly size: () => number;
}

/** Creates an empty index. */
export const multiIndex = (): MultiIndex => {
  const entries = new Map<string, string | readonly string[]>();
  const all = (text: string): readonly string[] => {
    const found = entries.get(text);
    if (found === undefined) return [];
    return typeof found === 'string' ? [found] : found;
  };
  const put = (text: string, ids: readonly string[]): void => {
    const [first] = ids;
    if (first === undefined) entries.delete(text);
    else entries.set(text, ids.length === 1 ? first : ids);
  };
  return {
    add: (text, id) => {
      const found = entries.get(text);
      if (found === undefined) entries.set(text, id);
      else if (found !== id && !all(text).includes(id)) put(text, [...all(text), id]);
    },
    remove: (text, id) => put(text, all(text).filter((other) => other !== id)),
    all,
    has: (text) => entries.has(text),
    only: (text) => {
      const found = entries.get(text);
      return typeof found === 'string' ? found : undefined;
    },
    size: () => entries.size,
  };
};
