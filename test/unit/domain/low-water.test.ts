/** The lowest value that something had, and for how long. */
import { expect, test } from 'vitest';
import { firstLowWater, nextLowWater } from '../../../src/domain/low-water.ts';

const after = (...steps: readonly (readonly [value: number, ms: number])[]) => {
  const [first, ...more] = steps;
  const [value, ms] = first ?? [0, 0];
  return more.reduce(
    (water, [next, at]) => nextLowWater(water, next, at),
    firstLowWater(value, ms),
  );
};

test('a value that never falls was never below its first', () => {
  expect(after([3, 0], [4, 10], [3, 20])).toMatchObject({ lowest: 3, lowestMs: 10, belowMs: 0 });
});

test('the time at the lowest value begins anew when a lower one comes', () => {
  expect(after([3, 0], [2, 10], [1, 30], [3, 35], [1, 50], [3, 57]))
    .toMatchObject({ first: 3, lowest: 1, lowestMs: 12, belowMs: 32 });
});
