/** Formats numbers of the wire as decimal text for Kubernetes quantity fields. */

/** Quantities have no unit smaller than nano. */
const DECIMALS = 9;
/** From here on a double prints with an exponent, which quantities accept too. */
const PLAIN_MAX = 1e21;

/**
 * The number as a plain decimal, without binary fraction noise (0.1 + 0.2 is `0.3`). NaN and
 * infinities are `undefined`.
 */
export const decimalText = (value: number): string | undefined => {
  if (!Number.isFinite(value)) return undefined;
  if (Math.abs(value) >= PLAIN_MAX) return String(value).replace('e+', 'e');
  const text = value.toFixed(DECIMALS).replace(/\.?0+$/, '');
  return text === '-0' || text === '' ? '0' : text;
};
