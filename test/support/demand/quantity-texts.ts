/** Arbitrary quantities as people and programs write them, odd spellings included. */
import fc from 'fast-check';

const digits = (maxLength: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength });

const signs = fc.constantFrom('', '', '', '+', '-');
const numbers = fc.oneof(
  { weight: 4, arbitrary: fc.nat(5000).map(String) },
  { weight: 2, arbitrary: digits(6) },
  { weight: 1, arbitrary: digits(22) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('0', '00', '1000', '1024', '1000000', '9223372036854775807'),
  },
  { weight: 3, arbitrary: fc.tuple(digits(4), digits(4)).map(([a, b]) => `${a}.${b}`) },
  { weight: 1, arbitrary: fc.tuple(digits(12), digits(14)).map(([a, b]) => `${a}.${b}`) },
  { weight: 1, arbitrary: digits(4).map((whole) => `${whole}.`) },
  { weight: 1, arbitrary: digits(4).map((fraction) => `.${fraction}`) },
);
const exponents = fc.tuple(
  fc.constantFrom('e', 'E'),
  fc.constantFrom('', '+', '-'),
  fc.oneof(fc.nat(24).map(String), fc.constantFrom('00', '03', '40', '60')),
).map((parts) => parts.join(''));
const suffixes = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'P', 'E') },
  { weight: 3, arbitrary: fc.constantFrom('Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei') },
  { weight: 2, arbitrary: exponents },
);

/** Texts that are quantities. */
export const quantityTexts: fc.Arbitrary<string> = fc.tuple(signs, numbers, suffixes)
  .map((parts) => parts.join(''));

/** Texts that are quantities, or nearly: one character too many, too few, or another one. */
export const anyQuantityTexts: fc.Arbitrary<string> = fc.oneof(
  quantityTexts,
  fc.tuple(quantityTexts, fc.nat(), fc.constantFrom(...'.+-eEimkKG 07x')).map(
    ([text, at, character]) => {
      const index = at % (text.length + 1);
      return text.slice(0, index) + character + text.slice(index);
    },
  ),
  fc.tuple(quantityTexts, fc.nat()).map(([text, at]) => {
    const index = at % text.length;
    return text.slice(0, index) + text.slice(index + 1);
  }),
);
