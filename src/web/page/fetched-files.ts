/**
 * Files that the page fetches from its process: each arrives once.
 *
 * Promises: a fetch that failed, also in the middle of its answer, is made again when the file is
 * wanted again; never two at a time for one file; never rejects.
 */

/** What is used of `fetch`. */
type Fetch = (address: string) => Promise<Pick<Response, 'ok' | 'text'>>;

/** Fetches a file; undefined while that is under way, once it has arrived, and when it failed. */
export type FetchedFiles = (address: string) => Promise<string | undefined>;

/** Fetches files. */
export const fetchedFiles = (
  fetchFile: Fetch = (address) => fetch(address),
): FetchedFiles => {
  const asked = new Set<string>();
  return async (address) => {
    if (asked.has(address)) return undefined;
    asked.add(address);
    try {
      const answer = await fetchFile(address);
      if (answer.ok) return await answer.text();
    } catch {
      // The connection is lost: the page shows that.
    }
    asked.delete(address);
    return undefined;
  };
};
