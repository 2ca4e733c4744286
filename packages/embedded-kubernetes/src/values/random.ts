/** Seeded randomness: the same numbers on every runtime. */

/** A 32-bit seed. */
export type Seed = number;

/** The seed after this one (a step of splitmix32). */
export const nextSeed = (seed: Seed): Seed => (seed + 0x9e3779b9) >>> 0;

/** A number in [0, 1) that belongs to `seed`. */
export const unitInterval = (seed: Seed): number => {
  let z = seed >>> 0;
  z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
  z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
  return ((z ^ (z >>> 15)) >>> 0) / 0x1_0000_0000;
};

/** Numbers in [0, 1), one after the other, from a seed. */
export const seededRandom = (start: Seed): () => number => {
  let seed = start >>> 0;
  return () => {
    seed = nextSeed(seed);
    return unitInterval(seed);
  };
};
