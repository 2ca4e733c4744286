/**
 * SHA-256 for names derived from text. Pure and synchronous, so that the domain needs no platform
 * API; not for secrets. Source: FIPS 180-4, sections 4.1.2, 4.2.2, 5.1.1, 5.3.3 and 6.2.
 */

const BLOCK_BYTES = 64;
const LENGTH_BYTES = 8;
const ROUNDS = 64;

const isPrime = (candidate: number): boolean => {
  for (let divisor = 2; divisor * divisor <= candidate; divisor += 1) {
    if (candidate % divisor === 0) return false;
  }
  return true;
};

const firstPrimes = (count: number): readonly number[] => {
  const primes: number[] = [];
  for (let candidate = 2; primes.length < count; candidate += 1) {
    if (isPrime(candidate)) primes.push(candidate);
  }
  return primes;
};

/** The first 32 bits of the fraction of `value`; a double has enough precision. */
const fractionBits = (value: number): number => ((value - Math.floor(value)) * 2 ** 32) >>> 0;

const PRIMES = firstPrimes(ROUNDS);
const ROUND_CONSTANTS: readonly number[] = PRIMES.map((prime) => fractionBits(Math.cbrt(prime)));
const INITIAL_HASH: readonly number[] = PRIMES.slice(0, 8)
  .map((prime) => fractionBits(Math.sqrt(prime)));

const rotated = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

/** The message, a one bit, zeros, and the length in bits: whole blocks. */
const padded = (message: Uint8Array): DataView => {
  const blocks = Math.ceil((message.length + 1 + LENGTH_BYTES) / BLOCK_BYTES);
  const bytes = new Uint8Array(blocks * BLOCK_BYTES);
  bytes.set(message);
  bytes[message.length] = 0x80;
  const view = new DataView(bytes.buffer);
  view.setBigUint64(bytes.length - LENGTH_BYTES, BigInt(message.length) * 8n);
  return view;
};

const schedule = (view: DataView, start: number): Uint32Array => {
  const words = new Uint32Array(ROUNDS);
  for (let t = 0; t < 16; t += 1) words[t] = view.getUint32(start + 4 * t);
  for (let t = 16; t < ROUNDS; t += 1) {
    const [early = 0, late = 0] = [words[t - 15], words[t - 2]];
    const small = rotated(early, 7) ^ rotated(early, 18) ^ (early >>> 3);
    const large = rotated(late, 17) ^ rotated(late, 19) ^ (late >>> 10);
    words[t] = (words[t - 16] ?? 0) + small + (words[t - 7] ?? 0) + large;
  }
  return words;
};

const compressed = (hash: Uint32Array, words: Uint32Array): Uint32Array => {
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = hash;
  for (let t = 0; t < ROUNDS; t += 1) {
    const mixE = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
    const choice = (e & f) ^ (~e & g);
    const first = (h + mixE + choice + (ROUND_CONSTANTS[t] ?? 0) + (words[t] ?? 0)) | 0;
    const mixA = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + mixA + majority) | 0];
  }
  const next = [a, b, c, d, e, f, g, h];
  return hash.map((word, index) => word + (next[index] ?? 0));
};

/** The SHA-256 of the UTF-8 bytes of `text`, as 64 hexadecimal digits. */
export const sha256Hex = (text: string): string => {
  const view = padded(new TextEncoder().encode(text));
  let hash: Uint32Array = Uint32Array.from(INITIAL_HASH);
  for (let start = 0; start < view.byteLength; start += BLOCK_BYTES) {
    hash = compressed(hash, schedule(view, start));
  }
  return [...hash].map((word) => word.toString(16).padStart(8, '0')).join('');
};
