/** Exact quantities: read, printed and added as in Go. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  largerQuantity,
  parseQuantity,
  printQuantity,
  type Quantity,
  wholeQuantity,
} from '../../../src/domain/quantity.ts';
import { quantityTexts } from '../../support/demand/quantity-texts.ts';

const quantity = (text: string): Quantity => {
  const reading = parseQuantity(text);
  if (reading._tag === 'Malformed') throw new Error(`"${text}" ${reading.problem}`);
  return reading.quantity;
};

const problem = (text: string): string => {
  const reading = parseQuantity(text);
  return reading._tag === 'Malformed' ? reading.problem : `is ${printQuantity(reading.quantity)}`;
};

const sum = (...texts: readonly string[]): string =>
  printQuantity(texts.map(quantity).reduce(addQuantities, wholeQuantity(0n)));

describe('parseQuantity', () => {
  it('reads every suffix, in whole nanos', () => {
    const nanos = Object.fromEntries(
      ['1n', '1u', '1m', '1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti']
        .map((text) => [text, quantity(text).nanos]),
    );
    expect(nanos).toEqual({
      '1n': 1n,
      '1u': 1_000n,
      '1m': 1_000_000n,
      '1': 10n ** 9n,
      '1k': 10n ** 12n,
      '1M': 10n ** 15n,
      '1G': 10n ** 18n,
      '1T': 10n ** 21n,
      '1P': 10n ** 24n,
      '1E': 10n ** 27n,
      '1Ki': 2n ** 10n * 10n ** 9n,
      '1Mi': 2n ** 20n * 10n ** 9n,
      '1Gi': 2n ** 30n * 10n ** 9n,
      '1Ti': 2n ** 40n * 10n ** 9n,
    });
    expect(quantity('1Pi').nanos).toBe(2n ** 50n * 10n ** 9n);
    expect(quantity('1Ei').nanos).toBe(2n ** 60n * 10n ** 9n);
  });

  it('reads signs, fractions and exponents', () => {
    expect(quantity('+1.5').nanos).toBe(1_500_000_000n);
    expect(quantity('-.5').nanos).toBe(-500_000_000n);
    expect(quantity('1.').nanos).toBe(1_000_000_000n);
    expect(quantity('2e3').nanos).toBe(2_000n * 10n ** 9n);
    expect(quantity('2E+3').nanos).toBe(2_000n * 10n ** 9n);
    expect(quantity('25E-1').nanos).toBe(2_500_000_000n);
    expect(quantity('1E').nanos).toBe(10n ** 27n);
    expect(quantity('1.5Gi').nanos).toBe(1536n * 2n ** 20n * 10n ** 9n);
  });

  it('treats negative zero as zero', () => {
    expect(printQuantity(quantity('-0'))).toBe('0');
    expect(compareQuantities(quantity('-0'), quantity('0'))).toBe(0);
  });

  it('quantity: values finer than a nano are rounded away from zero', () => {
    expect(quantity('0.1n').nanos).toBe(1n);
    expect(quantity('1.0000000001').nanos).toBe(1_000_000_001n);
    expect(quantity('-0.00000000001').nanos).toBe(-1n);
    expect(quantity('1e-100').nanos).toBe(1n);
  });

  it('caps binary quantities at the largest int64, and no others', () => {
    expect(quantity('9Ei').nanos).toBe((2n ** 63n - 1n) * 10n ** 9n);
    expect(quantity('-9Ei').nanos).toBe(-(2n ** 63n - 1n) * 10n ** 9n);
    expect(quantity('10E').nanos).toBe(10n ** 28n);
  });

  it('reports the problem of a malformed text', () => {
    expect(problem('')).toBe('is empty');
    expect(problem('1mi')).toBe('has the unknown suffix "mi"');
    expect(problem('3ei')).toBe('has the unknown suffix "ei"');
    expect(problem('1e')).toBe('has the unknown suffix "e"');
    expect(problem('1e-')).toBe('has the unknown suffix "e-"');
    expect(problem('1e1.5')).toBe('is not a number with a suffix');
    expect(problem('1.1.1')).toBe('is not a number with a suffix');
    expect(problem('--1')).toBe('has no digits');
    expect(problem(' 1')).toBe('is not a number with a suffix');
    expect(problem('1 Gi')).toBe('is not a number with a suffix');
    expect(problem('NaN')).toBe('is not a number with a suffix');
    expect(problem('.')).toBe('has no digits');
    expect(problem('k')).toBe('has no digits');
    expect(problem('-')).toBe('has no digits');
    expect(problem('1e1000')).toBe('has an exponent beyond ±999');
    expect(problem('1e-99999999999999999999')).toBe('has an exponent beyond ±999');
    expect(problem('1'.repeat(257))).toBe('is longer than 256 characters');
  });
});

describe('printQuantity', () => {
  it('prints no fraction and the largest suffix that keeps every digit', () => {
    const printed = (text: string): string => canonicalQuantity(quantity(text));
    expect(printed('0.5')).toBe('500m');
    expect(printed('1500m')).toBe('1500m');
    expect(printed('1000000')).toBe('1M');
    expect(printed('1.5Gi')).toBe('1536Mi');
    expect(printed('1024')).toBe('1024');
    expect(printed('12.345')).toBe('12345m');
    expect(printed('1.5e3')).toBe('1500');
    expect(printed('15e3')).toBe('15e3');
    expect(printed('100E9')).toBe('100e9');
  });

  it('prints a binary quantity below 1024 or with a fraction as a decimal one', () => {
    expect(canonicalQuantity(quantity('0.5Ki'))).toBe('512');
    expect(canonicalQuantity(quantity('0.9765625Ki'))).toBe('1k');
    expect(canonicalQuantity(quantity('1.0001Ki'))).toBe('1024102400u');
  });

  it('keeps the original text where Go does', () => {
    expect(printQuantity(quantity('1.500'))).toBe('1.500');
    expect(printQuantity(quantity('+5'))).toBe('+5');
    expect(printQuantity(quantity('1.Ki'))).toBe('1.Ki');
    expect(printQuantity(quantity('1E3'))).toBe('1E3');
    expect(printQuantity(quantity('8Ki'))).toBe('8Ki');
    expect(printQuantity(quantity('01000m'))).toBe('1');
  });

  it('keeps the value of an amount beyond the largest suffix', () => {
    expect(canonicalQuantity(quantity('1000E'))).toBe('1000E');
    expect(sum(...Array.from({ length: 256 }, () => '4Ei'))).toBe('1024Ei');
  });
});

describe('addQuantities', () => {
  it('quantity: a sum is exact and printed as Kubernetes prints it', () => {
    expect(sum('500m', '500m')).toBe('1');
    expect(sum('1Gi', '512Mi')).toBe('1536Mi');
    expect(sum('100m', '200m', '700m')).toBe('1');
    expect(sum('1n', '1E')).toBe('1000000000000000000000000001n');
    expect(sum('1Gi', '-1Gi')).toBe('0');
  });

  it('quantity: a sum has the format of its first non-zero operand', () => {
    expect(sum('1Gi', '1G')).toBe('2073741824');
    expect(sum('0', '1Gi', '1G')).toBe('2073741824');
    expect(sum('1Gi', '1024')).toBe('1048577Ki');
    expect(sum('1024', '1Gi')).toBe('1073742848');
    expect(sum('1e3', '1k')).toBe('2e3');
    expect(sum('1Ki', '-1Ki', '1k')).toBe('1k');
    // A binary quantity below 1 counts as a decimal one once it is read.
    expect(sum('0.00048828125Ki', '1023.5')).toBe('1024');
    expect(sum('0.5Ki', '512')).toBe('1Ki');
  });

  const quantities = quantityTexts.map(quantity);

  it('quantity: sums are associative and commutative by value', () => {
    fc.assert(
      fc.property(quantities, quantities, quantities, (a, b, c) => {
        const left = addQuantities(addQuantities(a, b), c);
        const right = addQuantities(a, addQuantities(b, c));
        expect(compareQuantities(left, right)).toBe(0);
        expect(compareQuantities(addQuantities(a, b), addQuantities(b, a))).toBe(0);
      }),
      { numRuns: 2000 },
    );
  });

  // Without a suffix the text no longer tells that the format was binary: 62.5Ki is 64000 is 64k.
  it('prints a text that reads as the same value, and prints the same in the same format', () => {
    fc.assert(
      fc.property(quantities, (value) => {
        const printed = quantity(canonicalQuantity(value));
        expect(compareQuantities(printed, value)).toBe(0);
        if (printed.format === value.format) {
          expect(canonicalQuantity(printed)).toBe(canonicalQuantity(value));
        }
        expect(compareQuantities(quantity(printQuantity(value)), value)).toBe(0);
      }),
      {
        numRuns: 5000,
        examples: [[{ nanos: 64_000_000_000_000n, format: 'BinarySI', written: undefined }]],
      },
    );
  });

  it('agrees with comparison: more is larger', () => {
    fc.assert(
      fc.property(quantities, quantities, (a, b) => {
        const order = compareQuantities(addQuantities(a, b), a);
        expect(order).toBe(compareQuantities(b, wholeQuantity(0n)));
        expect(compareQuantities(largerQuantity(a, b), a)).toBeGreaterThanOrEqual(0);
        expect(compareQuantities(largerQuantity(a, b), largerQuantity(b, a))).toBe(0);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('parseQuantity of any text', () => {
  it('is total', () => {
    const mess = fc.string({
      unit: fc.constantFrom(...'0123456789.+-eEinumkKMGTP '),
      maxLength: 12,
    });
    fc.assert(
      fc.property(fc.oneof(mess, fc.string()), (text) => {
        expect(['Quantity', 'Malformed']).toContain(parseQuantity(text)._tag);
      }),
      { numRuns: 10_000 },
    );
  });
});
