/** Numbers of the wire as decimal text that a Kubernetes quantity field takes. */

/** Quantities know nothing finer than a nano. */
const DECIMALS = 9;
/** From here on a double prints with an exponent, which quantities know too. */
const PLAIN_MAX = 1e21;

/**
 * The number as a plain decimal, without the noise of binary fractions (0.1 + 0.2 is `0.3`).
 * What is no number, or infinite, is `undefined`.
 */
export const decimalText = (value: number): string | undefined => {
  if (!Number.isFinite(value)) return undefined;
  if (Math.abs(value) >= PLAIN_MAX) return String(value).replace('e+', 'e');
  const text = value.toFixed(DECIMALS).replace(/\.?0+$/, '');
  return text === '-0' || text === '' ? '0' : text;
};
