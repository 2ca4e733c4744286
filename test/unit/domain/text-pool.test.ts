/** Interned texts, within a limit. */
import { expect, test } from 'vitest';
import { textPool } from '../../../src/domain/text-pool.ts';

test('a text pool returns equal texts, whatever it has evicted', () => {
  const intern = textPool(2);
  const texts = ['a', 'b', 'c', 'a', 'b', 'c', 'c'];
  expect(texts.map(intern)).toEqual(texts);
});
