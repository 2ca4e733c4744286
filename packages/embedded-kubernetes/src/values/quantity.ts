/**
 * Exact Kubernetes quantities: parses, prints and adds like apimachinery's `resource.Quantity`,
 * without floating point.
 *
 * Promises: a value is an integer of nanos, so sums are exact and unbounded; finer values round
 * away from zero when parsed; printing matches Go, so that a sum made here and one made by a Go
 * peer agree to the byte. Malformed text is a value, never an exception.
 *
 * Three differences from Go, all in texts that no API server accepts or that Go itself cannot read
 * back: a text without a digit (`k`) is malformed and not zero; length and exponent are limited,
 * because a peer that adds `1e2000000000` to `1n` runs out of memory; and an amount beyond the
 * largest suffix keeps that suffix (`1000E`), where Go drops it and prints `1`.
 */

/** The format of a quantity; a sum takes that of its first operand that is not zero. */
export type QuantityFormat = 'BinarySI' | 'DecimalSI' | 'DecimalExponent';

/** An exact amount. */
export interface Quantity {
  /** The value in billionths. */
  readonly nanos: bigint;
  readonly format: QuantityFormat;
  /** The original text, where Go keeps it instead of the canonical form (`1.500`). */
  readonly written: string | undefined;
}

/** The result of parsing a quantity. */
export type QuantityReading =
  | { readonly _tag: 'Quantity'; readonly quantity: Quantity }
  /** `problem` continues a sentence that starts with the text: `has the unknown suffix "mi"`. */
  | { readonly _tag: 'Malformed'; readonly problem: string };

/** Maximum text length. */
const QUANTITY_LENGTH_MAX = 256;
/** Maximum magnitude of the exponent. */
const QUANTITY_EXPONENT_MAX = 999;

const NANOS_PER_UNIT = 1_000_000_000n;
const NANO_EXPONENT = -9;
/** The largest int64: the cap of a binary quantity. */
const BINARY_CAP_NANOS = ((1n << 63n) - 1n) * NANOS_PER_UNIT;
/** More digits do not fit an int64, and Go then drops the original text. */
const FAST_DECIMAL_DIGITS = 18;
const FAST_BINARY_DIGITS = 14;

interface Suffix {
  readonly format: QuantityFormat;
  readonly exponent: number;
}

const DECIMAL_SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'] as const;
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const;

const SUFFIXES: ReadonlyMap<string, Suffix> = new Map<string, Suffix>([
  ...BINARY_SUFFIXES.map((text, step): [string, Suffix] => [
    text,
    { format: 'BinarySI', exponent: 10 * step },
  ]),
  ...DECIMAL_SUFFIXES.map((text, step): [string, Suffix] => [
    text,
    { format: 'DecimalSI', exponent: 3 * step + NANO_EXPONENT },
  ]),
]);

/** Sign, integer digits, fraction digits, suffix; the suffix is checked separately. */
const SHAPE = /^([+-]?)0*([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[+-]?[0-9]*)$/;
const EXPONENT = /^[eE]([+-]?[0-9]+)$/;

const malformed = (problem: string): QuantityReading => ({ _tag: 'Malformed', problem });

const readSuffix = (text: string): Suffix | string => {
  const known = SUFFIXES.get(text);
  if (known !== undefined) return known;
  const power = EXPONENT.exec(text)?.[1];
  if (power === undefined) return `has the unknown suffix "${text}"`;
  const exponent = Number(power);
  return Math.abs(exponent) > QUANTITY_EXPONENT_MAX
    ? `has an exponent beyond ±${QUANTITY_EXPONENT_MAX}`
    : { format: 'DecimalExponent', exponent };
};

interface Parts extends Suffix {
  readonly text: string;
  /** Without leading zeros; `0` when nothing is left. */
  readonly whole: string;
  readonly fraction: string;
}

/** Magnitude in nanos, rounded up. */
const magnitudeNanos = ({ whole, fraction, format, exponent }: Parts): bigint => {
  const digits = BigInt(whole + fraction);
  const isBinary = format === 'BinarySI';
  const scaled = isBinary ? digits << BigInt(exponent) : digits;
  const places = (isBinary ? 0 : exponent) - fraction.length - NANO_EXPONENT;
  if (places >= 0) return scaled * 10n ** BigInt(places);
  const divisor = 10n ** BigInt(-places);
  return (scaled + divisor - 1n) / divisor;
};

/** Whether Go considers this text canonical and prints it unchanged. */
const isKeptAsWritten = ({ whole, fraction, format, exponent }: Parts): boolean => {
  if (format === 'BinarySI') {
    const digits = FAST_BINARY_DIGITS - (exponent * 3) / 10;
    return fraction === '' && whole.length <= digits && (Number(whole) & 7) !== 0;
  }
  const digits = whole + fraction;
  const scale = exponent - fraction.length;
  return digits.length <= FAST_DECIMAL_DIGITS && scale >= NANO_EXPONENT && scale % 3 === 0 &&
    !digits.startsWith('0') && !digits.endsWith('000');
};

const quantityOf = (parts: Parts, isNegative: boolean): Quantity => {
  const magnitude = magnitudeNanos(parts);
  const isBinary = parts.format === 'BinarySI';
  const nanos = isBinary && magnitude > BINARY_CAP_NANOS ? BINARY_CAP_NANOS : magnitude;
  const isBelowOne = nanos > 0n && nanos < NANOS_PER_UNIT;
  return {
    nanos: isNegative ? -nanos : nanos,
    format: isBinary && isBelowOne ? 'DecimalSI' : parts.format,
    written: isKeptAsWritten(parts) ? parts.text : undefined,
  };
};

/** Parses a quantity: `500m`, `1.5Gi`, `-2e3`. */
export const parseQuantity = (text: string): QuantityReading => {
  if (text === '') return malformed('is empty');
  if (text.length > QUANTITY_LENGTH_MAX) {
    return malformed(`is longer than ${QUANTITY_LENGTH_MAX} characters`);
  }
  const [, sign, stripped = '', fraction = '', end = ''] = SHAPE.exec(text) ?? [];
  if (sign === undefined) return malformed('is not a number with a suffix');
  if (!/^[+-]?\.?[0-9]/.test(text)) return malformed('has no digits');
  const suffix = readSuffix(end);
  if (typeof suffix === 'string') return malformed(suffix);
  const parts = { ...suffix, text, whole: stripped === '' ? '0' : stripped, fraction };
  return { _tag: 'Quantity', quantity: quantityOf(parts, sign === '-') };
};

const printBinary = (nanos: bigint): string => {
  let units = nanos / NANOS_PER_UNIT;
  let step = 0;
  while (step < BINARY_SUFFIXES.length - 1 && units % 1024n === 0n) {
    units /= 1024n;
    step += 1;
  }
  return `${units}${BINARY_SUFFIXES[step]}`;
};

const printDecimal = (nanos: bigint, format: QuantityFormat): string => {
  const isExponent = format === 'DecimalExponent';
  const stepMax = isExponent ? Infinity : DECIMAL_SUFFIXES.length - 1;
  let units = nanos;
  let step = 0;
  while (step < stepMax && units % 1000n === 0n) {
    units /= 1000n;
    step += 1;
  }
  const exponent = 3 * step + NANO_EXPONENT;
  if (!isExponent) return `${units}${DECIMAL_SUFFIXES[step]}`;
  return exponent === 0 ? `${units}` : `${units}e${exponent}`;
};

/**
 * The canonical text: no fraction, the largest suffix that keeps every digit. A binary quantity
 * below 1024 or with a fraction is printed as a decimal one.
 */
const canonicalQuantity = ({ nanos, format }: Quantity): string => {
  if (nanos === 0n) return '0';
  const magnitude = nanos < 0n ? -nanos : nanos;
  const isBinary = format === 'BinarySI' && magnitude >= 1024n * NANOS_PER_UNIT &&
    magnitude % NANOS_PER_UNIT === 0n;
  if (isBinary) return printBinary(nanos);
  return printDecimal(nanos, format === 'BinarySI' ? 'DecimalSI' : format);
};

/** Go's `String()`: the canonical text, or the original text where Go keeps it. */
export const printQuantity = (quantity: Quantity): string =>
  quantity.written ?? canonicalQuantity(quantity);

/** −1, 0 or 1 by value; `1` and `1000m` are equal. */
export const compareQuantities = (left: Quantity, right: Quantity): -1 | 0 | 1 => {
  if (left.nanos === right.nanos) return 0;
  return left.nanos < right.nanos ? -1 : 1;
};
