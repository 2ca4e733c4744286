/**
 * Penalties: the cost to an owner when a machine is taken away, as a bucket of the wire. Dollars
 * are rounded up to their bucket; an absent penalty has a bucket of its own.
 */
import { compareQuantities, type Quantity, wholeQuantity } from './quantity.ts';

/** `PenaltyBucket` of the wire, 0 to 27. */
export type PenaltyBucket = number;

/** No penalty was given: a different bucket, and so a different need, than $0. */
export const UNSPECIFIED_BUCKET: PenaltyBucket = 0;
/** Above the last power of two dollars. */
export const PINNED_BUCKET: PenaltyBucket = 27;

const ZERO_BUCKET: PenaltyBucket = 1;
const HALF_DOLLAR: Quantity = { nanos: 500_000_000n, format: 'DecimalSI', written: undefined };

/** The upper bound of each bucket, from bucket 1: $0, $0.50, then $1, $2, $4 … $8,388,608. */
const CEILINGS: readonly Quantity[] = [
  wholeQuantity(0n),
  HALF_DOLLAR,
  ...Array.from({ length: 24 }, (_, power) => wholeQuantity(1n << BigInt(power))),
];

/**
 * The bucket of a penalty in dollars; `undefined` for a negative one. `500m` → 2, `0.51` → 3,
 * `8000` → 16, `20M` → 27.
 */
export const penaltyBucket = (dollars: Quantity): PenaltyBucket | undefined => {
  if (dollars.nanos < 0n) return undefined;
  const index = CEILINGS.findIndex((ceiling) => compareQuantities(dollars, ceiling) <= 0);
  return index < 0 ? PINNED_BUCKET : ZERO_BUCKET + index;
};
