/** What is asked of another program so many at once. */

/** Does something to each item, in order, `size` at once; rejects with the first that fails. */
export const inBatches = async <Item>(
  items: readonly Item[],
  size: number,
  act: (item: Item) => Promise<unknown>,
): Promise<void> => {
  for (let from = 0; from < items.length; from += size) {
    await Promise.all(items.slice(from, from + size).map(act));
  }
};
