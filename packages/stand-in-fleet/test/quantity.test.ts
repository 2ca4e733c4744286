/** The stand-in fleet's own quantity parser is exact. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addInto, covers, readAmounts, readQuantity } from '../src/quantity.ts';

const NANO = 1_000_000_000n;

describe('fleet quantity', () => {
  test.each([
    ['0', 0n],
    ['250m', 250_000_000n],
    ['1', NANO],
    ['1.5', 1_500_000_000n],
    ['.5', 500_000_000n],
    ['5.', 5n * NANO],
    ['+5', 5n * NANO],
    ['-1', -NANO],
    ['1k', 1000n * NANO],
    ['1Ki', 1024n * NANO],
    ['1.5Gi', 1_610_612_736n * NANO],
    ['2E', 2n * 10n ** 18n * NANO],
    ['2e3', 2000n * NANO],
    ['2E3', 2000n * NANO],
    ['12e-1', 1_200_000_000n],
    ['1n', 1n],
    ['1u', 1000n],
    ['0.1n', 1n],
    ['-0.1n', -1n],
    ['1e-999999999', 1n],
    ['9Ei', ((1n << 63n) - 1n) * NANO],
    ['9E', 9n * 10n ** 18n * NANO],
    ['1e20', 10n ** 20n * NANO],
    ['0e999999999', 0n],
  ])('reads "%s"', (text, nanos) => {
    expect(readQuantity(text)).toBe(nanos);
  });

  test.each([
    '',
    ' ',
    '.',
    '-',
    '1 ',
    ' 1',
    '1K',
    '1ki',
    '1mm',
    'x',
    '1e',
    '1e1.5',
    '0x10',
    '1,5',
    'NaN',
    'Infinity',
    '--1',
    '1Ei3',
  ])(
    'finds "%s" unreadable',
    (text) => {
      expect(readQuantity(text)).toBeUndefined();
    },
  );

  test('sums are exact', () => {
    fc.assert(fc.property(fc.array(fc.nat(2 ** 40)), (milli) => {
      const sum = new Map<string, bigint>();
      for (const value of milli) addInto(sum, new Map([['cpu', readQuantity(`${value}m`) ?? 0n]]));
      const expected = milli.reduce((total, value) => total + BigInt(value), 0n);
      expect(sum.get('cpu') ?? 0n).toBe(expected * 1_000_000n);
    }));
  });

  test('a map with one malformed amount is malformed and names it', () => {
    expect(readAmounts({ cpu: '1', memory: '1 GB' })).toEqual({ resource: 'memory', text: '1 GB' });
  });

  test('covers compares every resource, and an absent one is zero', () => {
    const have = new Map([['cpu', 2n]]);
    expect(covers(have, new Map([['cpu', 2n]]))).toBe(true);
    expect(covers(have, new Map([['cpu', 3n]]))).toBe(false);
    expect(covers(have, new Map([['memory', 1n]]))).toBe(false);
    expect(covers(have, new Map([['memory', 0n]]))).toBe(true);
  });
});
