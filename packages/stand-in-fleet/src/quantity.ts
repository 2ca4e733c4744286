/**
 * Kubernetes quantities: exact, in billionths, as big integers.
 *
 * Written from the format's specification and deliberately not shared with the operator: two
 * independent implementations of the contract that must agree.
 */

const NANOS = 1_000_000_000n;
/** A quantity with a binary suffix is capped at this. */
const LARGEST_BINARY = ((1n << 63n) - 1n) * NANOS;
/** Exponents are capped at this, so that numbers stay small. */
const EXPONENT_MAX = 1000;
const LENGTH_MAX = 4096;

const SHAPE = /^([+-]?)(\d*)(?:\.(\d*))?(n|u|m|k|M|G|T|P|E|[KMGTPE]i|[eE][+-]?\d+)?$/;

const DECIMAL_EXPONENT: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const BINARY_STEPS = 'KMGTPE';

/** A number as numerator and denominator, both non-negative. */
type Fraction = readonly [bigint, bigint];

const powerOfTen = (exponent: number): Fraction =>
  exponent >= 0 ? [10n ** BigInt(exponent), 1n] : [1n, 10n ** BigInt(-exponent)];

const factor = (suffix: string): Fraction => {
  if (suffix === '') return [1n, 1n];
  if (suffix.endsWith('i')) {
    return [1024n ** BigInt(BINARY_STEPS.indexOf(suffix.charAt(0)) + 1), 1n];
  }
  const exponent = DECIMAL_EXPONENT[suffix] ?? Number(suffix.slice(1));
  return powerOfTen(Math.min(EXPONENT_MAX, Math.max(-EXPONENT_MAX, exponent)));
};

/** Billionths, rounded away from zero; undefined when the text is not a quantity. */
export const readQuantity = (text: string): bigint | undefined => {
  const match = text.length > LENGTH_MAX ? null : SHAPE.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = '', suffix = ''] = match;
  if (whole === '' && fraction === '') return undefined;
  const [numerator, denominator] = factor(suffix);
  const top = BigInt(whole + fraction) * numerator * NANOS;
  const bottom = denominator * 10n ** BigInt(fraction.length);
  const rounded = (top + bottom - 1n) / bottom;
  const isCapped = suffix.endsWith('i') && rounded > LARGEST_BINARY;
  const capped = isCapped ? LARGEST_BINARY : rounded;
  return sign === '-' ? -capped : capped;
};

/** Amounts by resource name, in billionths. */
export type Amounts = ReadonlyMap<string, bigint>;

/** A resource whose quantity is malformed. */
export interface UnreadableAmount {
  readonly resource: string;
  readonly text: string;
}

/** All amounts of a resource map, or the first malformed one. */
export const readAmounts = (
  resources: Readonly<Record<string, string>>,
): Amounts | UnreadableAmount => {
  const amounts = new Map<string, bigint>();
  for (const [resource, text] of Object.entries(resources)) {
    const amount = readQuantity(text);
    if (amount === undefined) return { resource, text };
    amounts.set(resource, amount);
  }
  return amounts;
};

/** Whether parsing amounts failed. */
export const isUnreadable = (
  amounts: Amounts | UnreadableAmount,
): amounts is UnreadableAmount => 'resource' in amounts;

/** Whether `have` covers `want` for every resource. */
export const covers = (have: Amounts, want: Amounts): boolean => {
  for (const [resource, amount] of want) {
    if ((have.get(resource) ?? 0n) < amount) return false;
  }
  return true;
};

/** Adds `more` to `sum`, in place. */
export const addInto = (sum: Map<string, bigint>, more: Amounts): void => {
  for (const [resource, amount] of more) sum.set(resource, (sum.get(resource) ?? 0n) + amount);
};
