/** UIDs and generated names from a seed: reproducible between runs. */
import { nextSeed, type Seed, unitInterval } from '../values/random.ts';

/** The source of identities. */
export interface Identifiers {
  readonly uid: () => string;
  /** Five characters that `generateName` appends. */
  readonly suffix: () => string;
}

/** Letters and digits of generated names: no vowels, so no words (`apimachinery/pkg/util/rand`). */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
const WORDS_OF_A_UID = [0, 1, 2, 3];

/** Identities from a seed. */
export const makeIdentifiers = (start: Seed): Identifiers => {
  let seed = start;
  const next = (): number => {
    seed = nextSeed(seed);
    return unitInterval(seed);
  };
  const word = (): string => Math.floor(next() * 0x1_0000_0000).toString(16).padStart(8, '0');
  return {
    uid: () => {
      const hex = WORDS_OF_A_UID.map(word).join('');
      return [
        hex.slice(0, 8),
        hex.slice(8, 12),
        `4${hex.slice(13, 16)}`,
        `a${hex.slice(17, 20)}`,
        hex.slice(20),
      ].join('-');
    },
    suffix: () =>
      Array.from(
        { length: SUFFIX_LENGTH },
        () => ALPHABET[Math.floor(next() * ALPHABET.length)] ?? 'b',
      ).join(''),
  };
};
