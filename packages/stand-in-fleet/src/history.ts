/** A bounded history. */

/** A bounded list that drops its oldest entries and counts all. */
export interface History<T> {
  readonly add: (entry: T) => void;
  readonly entries: () => readonly T[];
  readonly total: () => number;
}

/** A history of at most `limit` entries. */
export const history = <T>(limit: number): History<T> => {
  const entries: T[] = [];
  let total = 0;
  return {
    add: (entry) => {
      total += 1;
      if (entries.push(entry) > 2 * limit) entries.splice(0, entries.length - limit);
    },
    entries: () => entries.slice(-limit),
    total: () => total,
  };
};
