/** Doubles of the wire as quantities: exact decimals without binary noise. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decimalText } from '../../../src/domain/decimal.ts';

test.each([
  [0, '0'],
  [-0, '0'],
  [10, '10'],
  [100.5, '100.5'],
  [0.1 + 0.2, '0.3'],
  [88.49, '88.49'],
  [1e-7, '0.0000001'],
  [1e-12, '0'],
  [-1.25, '-1.25'],
  [1e21, '1e21'],
])('decimalText(%d) is %s', (value, text) => {
  expect(decimalText(value)).toBe(text);
});

test('decimalText of NaN or infinity is undefined', () => {
  expect([NaN, Infinity, -Infinity].map(decimalText)).toEqual([undefined, undefined, undefined]);
});

test('decimalText is accepted by a quantity field, with the same value to a nano', () => {
  const quantity = /^-?[0-9]+(\.[0-9]+)?(e[0-9]+)?$/;
  fc.assert(fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
    const text = decimalText(value) ?? '';
    expect(text).toMatch(quantity);
    expect(Math.abs(Number(text) - value)).toBeLessThanOrEqual(1e-9 + Math.abs(value) * 1e-15);
  }));
});
