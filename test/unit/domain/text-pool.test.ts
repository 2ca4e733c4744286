/** Interned texts, within a limit. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { makeTextPool, textPool } from '../../../src/domain/text-pool.ts';

test('a text pool returns equal texts, whatever it has evicted', () => {
  const texts = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { maxLength: 60 });
  fc.assert(fc.property(texts, fc.integer({ min: 2, max: 6 }), (asked, limit) => {
    const intern = textPool(limit);
    expect(asked.map(intern)).toEqual(asked);
  }));
});

test('a text pool never holds more texts than its limit', () => {
  const { intern, size } = makeTextPool(1000);
  for (let number = 0; number < 10_000; number += 1) {
    intern(`text-${number}`);
    expect(size()).toBeLessThanOrEqual(1000);
  }
});

test('a text pool forgets names that come once, beside texts that recur', () => {
  const { intern, size } = makeTextPool(20_000);
  for (let number = 0; number < 20_000; number += 1) {
    intern(`gone-${number}`);
    for (let time = 0; time < 9; time += 1) intern(`recurs-${(number + time) % 50}`);
  }
  expect(size()).toBeLessThan(1000);
});

test('a text pool keeps all texts that recur, however many lists of them come', () => {
  const { intern, size } = makeTextPool(20_000);
  const ask = (): void => {
    for (let number = 0; number < 5000; number += 1) intern(`node-${number % 2500}`);
  };
  ask();
  expect(size()).toBe(2500);
  for (let round = 0; round < 20; round += 1) ask();
  expect(size()).toBeGreaterThanOrEqual(2500);
});
