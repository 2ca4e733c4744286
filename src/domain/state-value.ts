/** The value of a statechart's snapshot as the paths of its innermost states. */

/**
 * The innermost states that a snapshot's value says, by their paths in the chart:
 * `{ clock: 'ample', work: { underway: 'holding' } }` → `clock.ample`, `work.underway.holding`.
 */
export const statePaths = (value: unknown, above = ''): readonly string[] => {
  if (typeof value === 'string') return [above + value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const path = above + name;
    const deeper = statePaths(inner, `${path}.`);
    return deeper.length === 0 ? [path] : deeper;
  });
};
