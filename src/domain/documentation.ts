/**
 * Where the documentation is published: every link that the program prints begins there.
 *
 * Promises: below it the pages have the paths of the repository, so that a fork that publishes its
 * own changes this constant and `homepage` in package.json, and nothing else. Pure.
 */

/** The address of the repository's root, without a slash at its end. */
export const HOMEPAGE = 'https://tidegate.dev';

/** The address of a page, by its path in the repository, with an anchor if need be. */
export const pageUrl = (path: string): string => `${HOMEPAGE}/${path}`;

/** The address of a runbook, by its heading's anchor; empty for a reason without one. */
export const runbookUrl = (anchor: string): string =>
  anchor === '' ? '' : pageUrl(`docs/runbooks.md#${anchor}`);
