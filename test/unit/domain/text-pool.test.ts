/** One copy of equal texts, within a bound. */
import { expect, test } from 'vitest';
import { textPool } from '../../../src/domain/text-pool.ts';

test('a text pool gives equal texts back as they are, whatever it has forgotten', () => {
  const intern = textPool(2);
  const texts = ['a', 'b', 'c', 'a', 'b', 'c', 'c'];
  expect(texts.map(intern)).toEqual(texts);
});
