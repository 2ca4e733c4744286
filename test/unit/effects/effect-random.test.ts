/** Effect's randomness from one seed, on which the replay of a recording depends. */
import { Effect, Random } from 'effect';
import { expect, test } from 'vitest';
import { randomLayer } from '../../../src/effects/effect-random.ts';

const DRAWS = 200;

const drawn = (seed: number) =>
  Effect.runPromise(
    Effect.all({
      doubles: Effect.replicateEffect(Random.next, DRAWS),
      integers: Effect.replicateEffect(Random.nextInt, DRAWS),
    }).pipe(Effect.provide(randomLayer(seed))),
  );

test('the same seed gives the same numbers, and another gives others', async () => {
  const [first, again, other] = [await drawn(7), await drawn(7), await drawn(8)];
  expect(again).toEqual(first);
  expect(other.doubles).not.toEqual(first.doubles);
  expect(new Set(first.doubles).size).toBe(DRAWS);
});

test('numbers are spread over their whole range', async () => {
  const { doubles, integers } = await drawn(7);
  expect(doubles.every((number) => number >= 0 && number < 1)).toBe(true);
  expect(integers.every(Number.isSafeInteger)).toBe(true);
  const isSpread = (numbers: readonly number[], middle: number): boolean =>
    [true, false].every((below) =>
      numbers.filter((number) => (number < middle) === below).length > DRAWS / 4
    );
  expect(isSpread(doubles, 0.5)).toBe(true);
  expect(isSpread(integers, 0)).toBe(true);
});
