/**
 * Floats as text, by Go's formats `e`, `f`, `g`, `b` and `x`.
 *
 * Promises: digits are exact: the shortest that read back as the same float, or correctly rounded
 * (half to even) at any precision. Source: Go, package strconv, `FormatFloat`.
 */

/** The decimal digits of a float: 0.d1d2d3… times 10 to the `point`. */
interface Decimal {
  readonly digits: string;
  readonly point: number;
}

/** The forms of a float; capital letters are the caller's business. */
export type FloatForm = 'b' | 'e' | 'f' | 'g' | 'x';

const MANTISSA_BITS = 52n;

/** Sign, mantissa and exponent, so that the float is ± mantissa × 2^exponent. */
const partsOf = (value: number) => {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const biased = Number((bits >> MANTISSA_BITS) & 0x7ffn);
  const fraction = bits & ((1n << MANTISSA_BITS) - 1n);
  return {
    negative: bits >> 63n === 1n,
    mantissa: biased === 0 ? fraction : fraction | (1n << MANTISSA_BITS),
    exponent: Math.max(biased, 1) - 1075,
  };
};

const ZERO: Decimal = { digits: '', point: 0 };

const trimmed = (digits: string, point: number): Decimal => {
  const bare = digits.replace(/0+$/, '');
  return bare === '' ? ZERO : { digits: bare, point };
};

/** The fewest digits that read back as `value`, which is not negative. */
const shortest = (value: number): Decimal => {
  if (value === 0) return ZERO;
  const [mantissa = '0', exponent = '0'] = value.toExponential().split('e');
  return trimmed(mantissa.replace('.', ''), Number(exponent) + 1);
};

/** All digits of `value`, which is not negative. */
const exact = (value: number): Decimal => {
  const { mantissa, exponent } = partsOf(value);
  if (mantissa === 0n) return ZERO;
  const scaled = exponent >= 0 ? mantissa << BigInt(exponent) : mantissa * 5n ** BigInt(-exponent);
  const digits = scaled.toString();
  return trimmed(digits, digits.length + Math.min(exponent, 0));
};

/** Rounds to `count` digits, half to even. */
const rounded = (decimal: Decimal, count: number): Decimal => {
  const { digits, point } = decimal;
  if (count < 0) return ZERO;
  if (count >= digits.length) return decimal;
  const kept = digits.slice(0, count);
  const next = digits.charCodeAt(count) - 48;
  const isHalf = next === 5 && count + 1 === digits.length;
  const lastIsOdd = count > 0 && (digits.charCodeAt(count - 1) - 48) % 2 === 1;
  if (next < 5 || (isHalf && !lastIsOdd)) return trimmed(kept, point);
  const up = (BigInt(`0${kept}`) + 1n).toString().padStart(count, '0');
  return up.length > count ? trimmed(up, point + 1) : trimmed(up, point);
};

const signedExponent = (exponent: number, digits: number): string =>
  (exponent < 0 ? '-' : '+') + String(Math.abs(exponent)).padStart(digits, '0');

const scientific = ({ digits, point }: Decimal, precision: number): string => {
  const fraction = precision > 0 ? `.${digits.slice(1, precision + 1).padEnd(precision, '0')}` : '';
  const exponent = digits === '' ? 0 : point - 1;
  return `${digits.charAt(0) || '0'}${fraction}e${signedExponent(exponent, 2)}`;
};

const fixed = ({ digits, point }: Decimal, precision: number): string => {
  const whole = point > 0 ? digits.slice(0, point).padEnd(point, '0') : '0';
  if (precision <= 0) return whole;
  const fraction = point >= 0 ? digits.slice(point) : '0'.repeat(-point) + digits;
  return `${whole}.${fraction.slice(0, precision).padEnd(precision, '0')}`;
};

/** From this decimal exponent on, the shortest general form is scientific. */
const SHORTEST_EXPONENT_MAX = 6;

const general = (decimal: Decimal, precision: number | undefined): string => {
  const { digits, point } = decimal;
  const isShortest = precision === undefined;
  const wanted = precision ?? digits.length;
  const wholeShows = wanted > digits.length && digits.length >= point ? digits.length : wanted;
  const exponentMax = isShortest ? SHORTEST_EXPONENT_MAX : wholeShows;
  const exponent = point - 1;
  if (exponent < -4 || exponent >= exponentMax) {
    return scientific(decimal, Math.min(wanted, digits.length) - 1);
  }
  return fixed(decimal, Math.max((wanted > point ? digits.length : wanted) - point, 0));
};

const hexadecimal = (value: number, precision: number | undefined): string => {
  const parts = partsOf(value);
  let { mantissa } = parts;
  let exponent = mantissa === 0n ? 0 : parts.exponent + 52;
  mantissa <<= 8n;
  for (; mantissa !== 0n && mantissa >> 60n === 0n; exponent -= 1) mantissa <<= 1n;
  if (precision !== undefined && precision < 15) {
    const dropped = 60n - BigInt(precision * 4);
    const half = 1n << (dropped - 1n);
    const rest = mantissa & ((1n << dropped) - 1n);
    mantissa >>= dropped;
    if (rest > half || (rest === half && mantissa % 2n === 1n)) mantissa += 1n;
    mantissa <<= dropped;
    if (mantissa >> 61n === 1n) {
      mantissa >>= 1n;
      exponent += 1;
    }
  }
  const all = (mantissa & ((1n << 60n) - 1n)).toString(16).padStart(15, '0');
  const digits = precision === undefined
    ? all.replace(/0+$/, '')
    : all.slice(0, precision).padEnd(precision, '0');
  const fraction = digits === '' ? '' : `.${digits}`;
  return `0x${mantissa >> 60n}${fraction}p${signedExponent(exponent, 2)}`;
};

const magnitude = (value: number, form: FloatForm, precision: number | undefined): string => {
  switch (form) {
    case 'b': {
      const { mantissa, exponent } = partsOf(value);
      return `${mantissa}p${exponent < 0 ? '' : '+'}${exponent}`;
    }
    case 'x':
      return hexadecimal(value, precision);
    case 'e': {
      const decimal = precision === undefined ? shortest(value) : exact(value);
      const places = precision ?? Math.max(decimal.digits.length - 1, 0);
      return scientific(rounded(decimal, places + 1), places);
    }
    case 'f': {
      const decimal = precision === undefined ? shortest(value) : exact(value);
      const places = precision ?? Math.max(decimal.digits.length - decimal.point, 0);
      return fixed(rounded(decimal, decimal.point + places), places);
    }
    case 'g': {
      if (precision === undefined) return general(shortest(value), undefined);
      const places = Math.max(precision, 1);
      return general(rounded(exact(value), places), places);
    }
  }
};

/** `value` as text; without a precision, the fewest digits that read back as the same float. */
export const formatFloat = (value: number, form: FloatForm, precision?: number): string => {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const sign = Object.is(value, -0) || value < 0 ? '-' : '';
  return sign + magnitude(Math.abs(value), form, precision);
};
