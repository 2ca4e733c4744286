/** Interns equal plain values, such as the labels of pods of one workload. */

/** Returns the equal value that was seen first. */
export type Share<Value> = (value: Value) => Value;

/** A pool of at most `limit` values, keyed by their JSON; a full pool is cleared. */
export const valuePool = <Value>(limit: number): Share<Value> => {
  const values = new Map<string, Value>();
  return (value) => {
    const text = JSON.stringify(value);
    const known = values.get(text);
    if (known !== undefined) return known;
    if (values.size >= limit) values.clear();
    values.set(text, value);
    return value;
  };
};
