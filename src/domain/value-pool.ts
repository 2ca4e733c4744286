/**
 * Interns equal plain values, such as the labels of pods of one workload.
 *
 * Promises: holds no value: one that nothing else uses is freed. A pool with a bound of entries
 * would keep the labels of pods that are gone, and their size is that of a whole object.
 */

/** Returns the equal value that was seen first. */
export type Share<Value> = (value: Value) => Value;

/** A pool of values, keyed by their JSON. */
export const valuePool = <Value extends object>(): Share<Value> => {
  const values = new Map<string, WeakRef<Value>>();
  const freed = new FinalizationRegistry<string>((text) => {
    // An equal value may have come since.
    if (values.get(text)?.deref() === undefined) values.delete(text);
  });
  return (value) => {
    const text = JSON.stringify(value);
    const known = values.get(text)?.deref();
    if (known !== undefined) return known;
    values.set(text, new WeakRef(value));
    freed.register(value, text);
    return value;
  };
};
