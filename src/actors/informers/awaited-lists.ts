/** Who waits for the next complete list of a collection, and for the watch that continues it. */

/** The lists and watches of one collection, as they complete and open. */
export const awaitedLists = () => {
  let list = Promise.withResolvers<void>();
  let watch = Promise.withResolvers<void>();
  let isWatched = false;
  return {
    /** Resolves with the next complete list. */
    nextList: (): Promise<void> => list.promise,
    /** Resolves once the newest list is continued by an open watch. */
    watched: (): Promise<void> => watch.promise,
    onListed: (): void => {
      // Unless somebody waits for the watch of an earlier list, which this one replaces.
      if (isWatched) watch = Promise.withResolvers();
      isWatched = false;
      list.resolve();
      list = Promise.withResolvers();
    },
    onWatchOpened: (): void => {
      isWatched = true;
      watch.resolve();
    },
  };
};
