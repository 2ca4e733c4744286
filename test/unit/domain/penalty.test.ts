/** Dollars to buckets. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { penaltyBucket } from '../../../src/domain/penalty.ts';
import { parseQuantity, wholeQuantity } from '../../../src/domain/quantity.ts';

const bucket = (dollars: string): number | undefined => {
  const reading = parseQuantity(dollars);
  return reading._tag === 'Quantity' ? penaltyBucket(reading.quantity) : undefined;
};

describe('penaltyBucket', () => {
  it('penalty: rounds dollars up to their bucket', () => {
    const examples = [
      '0',
      '1n',
      '250m',
      '500m',
      '0.51',
      '1',
      '1500m',
      '2',
      '2.1',
      '8000',
      '8388608',
    ];
    expect(examples.map(bucket)).toEqual([1, 2, 2, 2, 3, 3, 4, 4, 5, 16, 26]);
  });

  it('penalty: pins amounts above $8,388,608', () => {
    expect(['8388608.000000001', '20M', '1Ei', '1e300'].map(bucket)).toEqual([27, 27, 27, 27]);
  });

  it('penalty: is undefined for a negative penalty, and treats negative zero as zero', () => {
    expect(['-1', '-1n'].map(bucket)).toEqual([undefined, undefined]);
    expect(bucket('-0')).toBe(1);
  });

  it('has a bucket of its own for every power of two up to 2^23', () => {
    const powers = Array.from({ length: 24 }, (_, power) => wholeQuantity(2n ** BigInt(power)));
    expect(powers.map(penaltyBucket)).toEqual(powers.map((_, power) => power + 3));
  });

  it('never decreases when dollars increase', () => {
    const dollars = fc.bigInt({ min: 0n, max: 20_000_000n });
    fc.assert(
      fc.property(dollars, dollars, (one, other) => {
        const [low, high] = one < other ? [one, other] : [other, one];
        expect(penaltyBucket(wholeQuantity(low)))
          .toBeLessThanOrEqual(penaltyBucket(wholeQuantity(high)) ?? -1);
      }),
    );
  });
});
