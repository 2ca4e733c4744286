/** The innermost states of a snapshot's value. */
import { expect, test } from 'vitest';
import { statePaths, stateText } from '../../../src/domain/state-value.ts';

test.each([
  ['queued', ['queued']],
  [{ acting: 'creating' }, ['acting.creating']],
  [{ clock: 'beforeLastQuarter', work: { underway: 'holding' } }, [
    'clock.beforeLastQuarter',
    'work.underway.holding',
  ]],
  [{ idle: {} }, ['idle']],
  [undefined, []],
])('%j has the states %j', (value, paths) => {
  expect(statePaths(value)).toEqual(paths);
  expect(stateText(value)).toBe(paths.join(' '));
});
