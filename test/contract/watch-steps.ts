/** Steps about watches: open, check, close. */
import { expect } from 'vitest';
import { numberAt, textAt } from '../../src/domain/json.ts';
import type { OpenWatch, WatchLine } from './cluster.ts';
import { fullPath } from './paths.ts';
import { filled } from './placeholders.ts';
import type { Run, Step } from './steps.ts';

const ONE = 'watch';

const watchIn = (run: Run, name: string): OpenWatch => {
  const found = run.watches.get(name);
  if (found === undefined) throw new Error(`The case has no watch "${name}"`);
  return found;
};

/** Opens a watch; `path` has its query, without `watch=true`. */
export const watch = (path: string, name = ONE): Step => async (run) => {
  const at = fullPath(filled(path, run.kept), run.kept.get('ns') ?? '');
  const opened = await run.cluster.watch(`${at}${at.includes('?') ? '&' : '?'}watch=true`);
  expect(opened.status).toBe(200);
  run.watches.set(name, opened);
};

/** A minute in real time. */
const PATIENCE_MOMENTS = 1200;

const patiently = async (run: Run, holds: () => boolean): Promise<void> => {
  for (let left = PATIENCE_MOMENTS; left > 0 && !holds(); left -= 1) await run.cluster.moment();
};

const lineText = ({ type, object }: WatchLine): string => {
  const name = textAt(object, 'metadata', 'name');
  return type === 'ERROR'
    ? `${type} ${numberAt(object, 'code')} ${textAt(object, 'reason')}`
    : [type, name].filter((part) => part !== undefined).join(' ');
};

const withoutBookmarks = (lines: readonly WatchLine[]): readonly WatchLine[] =>
  lines.filter(({ type }) => type !== 'BOOKMARK');

/**
 * The lines of a watch so far, once there are as many, in order: `ADDED a`, `ERROR 410 Expired`.
 */
export const sees = (wanted: readonly string[], name = ONE): Step => async (run) => {
  const { lines } = watchIn(run, name);
  await patiently(run, () => withoutBookmarks(lines).length >= wanted.length);
  expect(withoutBookmarks(lines).map(lineText)).toEqual(
    wanted.map((line) => filled(line, run.kept)),
  );
};

/** The first lines of a watch in any order: they come from a list, which is unordered. */
export const seesAnyOrder = (wanted: readonly string[], name = ONE): Step => async (run) => {
  const { lines } = watchIn(run, name);
  await patiently(run, () => withoutBookmarks(lines).length >= wanted.length);
  expect(withoutBookmarks(lines).map(lineText).toSorted()).toEqual(
    wanted.map((line) => filled(line, run.kept)).toSorted(),
  );
};

/** The objects in the lines of a watch, in order, match these. */
export const delivered = (wanted: readonly object[], name = ONE): Step => async (run) => {
  const { lines } = watchIn(run, name);
  await patiently(run, () => withoutBookmarks(lines).length >= wanted.length);
  expect(withoutBookmarks(lines).map(({ object }) => object)).toMatchObject(
    filled([...wanted], run.kept),
  );
};

/** A bookmark arrives, of the right kind and with only a resourceVersion. */
export const bookmarked = (shows: object, name = ONE): Step => async (run) => {
  const { lines } = watchIn(run, name);
  const found = () => lines.find(({ type }) => type === 'BOOKMARK');
  await patiently(run, () => found() !== undefined);
  expect(found()?.object).toMatchObject(filled(shows, run.kept));
};

/** Resource versions in a watch increase. */
export const growing = (name = ONE): Step => (run) => {
  const resourceVersions = watchIn(run, name).lines.map(({ object }) =>
    Number(textAt(object, 'metadata', 'resourceVersion'))
  );
  expect(resourceVersions.length).toBeGreaterThan(0);
  expect(resourceVersions).toEqual(
    [...new Set(resourceVersions)].toSorted((one, other) => one - other),
  );
  return Promise.resolve();
};

/** The cluster ends the watch. */
export const ends = (name = ONE): Step => async (run) => {
  const open = watchIn(run, name);
  await patiently(run, open.isOver);
  expect(open.isOver()).toBe(true);
};
