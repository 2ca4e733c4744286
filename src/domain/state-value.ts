/** The value of a statechart's snapshot as the paths of its innermost states. */
import { asRecord } from './json.ts';

const collect = (value: unknown, above: string, paths: string[]): void => {
  if (typeof value === 'string') {
    paths.push(above + value);
    return;
  }
  const regions = asRecord(value);
  for (const name in regions) {
    const before = paths.length;
    const path = above + name;
    collect(regions[name], `${path}.`, paths);
    if (paths.length === before) paths.push(path);
  }
};

/**
 * The innermost states that a snapshot's value says, by their paths in the chart:
 * `{ clock: 'lastQuarter', work: { underway: 'holding' } }` → `clock.lastQuarter`,
 * `work.underway.holding`.
 */
export const statePaths = (value: unknown): readonly string[] => {
  const paths: string[] = [];
  collect(value, '', paths);
  return paths;
};

/** The innermost states as one text, separated by spaces. */
export const stateText = (value: unknown): string =>
  // Most machines are in one state at a time.
  typeof value === 'string' ? value : statePaths(value).join(' ');
