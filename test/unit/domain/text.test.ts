/** Cut and quoted text. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutText, cutTextToBytes, quoted } from '../../../src/domain/text.ts';

const FAMILY = '👩‍👩‍👧';

describe('cutText', () => {
  test('text that fits is given back', () => {
    expect(cutText('drained', 7, '…')).toBe('drained');
  });

  test('longer text ends at the limit, and the ending comes on top', () => {
    expect(cutText('a long story', 6, '…')).toBe('a long…');
    expect(cutText('a long story', 6)).toBe('a long');
    expect(cutText('story', 0, '…')).toBe('…');
  });

  test('a character of two UTF-16 units is kept whole or left out', () => {
    expect(cutText('ab😀cd', 3)).toBe('ab');
    expect(cutText('ab😀cd', 4)).toBe('ab😀');
  });

  test('what a reader sees as one character is kept whole or left out', () => {
    expect(cutText(`ab${FAMILY}`, 5)).toBe('ab');
    expect(cutText('ae\u0301o', 2)).toBe('a');
  });

  test('a text of marks without end is cut between code points', () => {
    expect(cutText(`e${'\u0301'.repeat(50)}`, 10)).toBe(`e${'\u0301'.repeat(9)}`);
    expect(cutText(FAMILY, 4)).toBe(FAMILY.slice(0, 3));
  });

  test('half a surrogate pair that came from outside becomes U+FFFD, as in the API server', () => {
    expect(cutText('a\ud83db', 10)).toBe('a\ufffdb');
    expect(cutText('a\ud83db and more', 3)).toBe('a\ufffdb');
  });

  test('the result is well-formed, no longer than the limit, and cut once only', () => {
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
  test('as many whole characters as there is room for', () => {
    expect(cutTextToBytes('drained', 7)).toBe('drained');
    expect(cutTextToBytes('aé😀', 3)).toBe('aé');
    expect(cutTextToBytes('aé😀', 6)).toBe('aé');
    expect(cutTextToBytes('aé😀', 7)).toBe('aé😀');
  });
});

describe('quoted', () => {
  test('is one line that JSON could read', () => {
    expect(quoted('a "b"\nc')).toBe('"a \\"b\\"\\nc"');
  });

  test('is cut at its limit', () => {
    expect(quoted('x'.repeat(81))).toBe(`"${'x'.repeat(80)}…"`);
    expect(quoted('abc', 2)).toBe('"ab…"');
  });
});
