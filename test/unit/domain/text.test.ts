/** Truncated and quoted text. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutText, cutTextToBytes, quoted } from '../../../src/domain/text.ts';

const FAMILY = '👩‍👩‍👧';

describe('cutText', () => {
  test('text that fits is unchanged', () => {
    expect(cutText('drained', 7, '…')).toBe('drained');
  });

  test('longer text ends at the limit, and the ending is added', () => {
    expect(cutText('a long story', 6, '…')).toBe('a long…');
    expect(cutText('a long story', 6)).toBe('a long');
    expect(cutText('story', 0, '…')).toBe('…');
  });

  test('a character of two UTF-16 units is kept whole or dropped', () => {
    expect(cutText('ab😀cd', 3)).toBe('ab');
    expect(cutText('ab😀cd', 4)).toBe('ab😀');
  });

  test('a grapheme is kept whole or dropped', () => {
    expect(cutText(`ab${FAMILY}`, 5)).toBe('ab');
    expect(cutText('ae\u0301o', 2)).toBe('a');
  });

  test('a text of combining marks is cut between code points', () => {
    expect(cutText(`e${'\u0301'.repeat(50)}`, 10)).toBe(`e${'\u0301'.repeat(9)}`);
    expect(cutText(FAMILY, 4)).toBe(FAMILY.slice(0, 3));
  });

  test('a lone surrogate in external text becomes U+FFFD, as in the API server', () => {
    expect(cutText('a\ud83db', 10)).toBe('a\ufffdb');
    expect(cutText('a\ud83db and more', 3)).toBe('a\ufffdb');
  });

  test('the result is well-formed, within the limit, and stable', () => {
    const units = fc.string({ unit: fc.constantFrom('a', '😀', '\ud83d', '\udc00', '\u0301', '‍') });
    fc.assert(fc.property(units, fc.nat(12), (text, unitsMax) => {
      const cut = cutText(text, unitsMax);
      expect(cut.isWellFormed()).toBe(true);
      expect(cut.length).toBeLessThanOrEqual(unitsMax);
      expect(cutText(cut, unitsMax)).toBe(cut);
    }));
  });
});

describe('cutTextToBytes', () => {
  test('as many whole characters as fit', () => {
    expect(cutTextToBytes('drained', 7)).toBe('drained');
    expect(cutTextToBytes('aé😀', 3)).toBe('aé');
    expect(cutTextToBytes('aé😀', 6)).toBe('aé');
    expect(cutTextToBytes('aé😀', 7)).toBe('aé😀');
  });
});

describe('quoted', () => {
  test('is one line of valid JSON', () => {
    expect(quoted('a "b"\nc')).toBe('"a \\"b\\"\\nc"');
  });

  test('is truncated at its limit', () => {
    expect(quoted('x'.repeat(81))).toBe(`"${'x'.repeat(80)}…"`);
    expect(quoted('abc', 2)).toBe('"ab…"');
  });
});
