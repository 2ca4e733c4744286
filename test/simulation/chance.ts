/** Seeded randomness: the same seed draws the same values on every runtime. */
import { nextSeed, type Seed, unitInterval } from '../../src/domain/random.ts';

/** Draws random values. */
export interface Chance {
  /** In [0, 1). */
  readonly unit: () => number;
  /** A whole number, both ends included. */
  readonly int: (least: number, most: number) => number;
  readonly pick: <T>(list: readonly [T, ...T[]]) => T;
  readonly happens: (probability: number) => boolean;
}

/** Draws of a seed. */
export const chanceOf = (start: Seed): Chance => {
  let seed = start >>> 0;
  const unit = (): number => {
    seed = nextSeed(seed);
    return unitInterval(seed);
  };
  const int = (least: number, most: number): number =>
    least + Math.floor(unit() * (most - least + 1));
  return {
    unit,
    int,
    pick: <T>(list: readonly [T, ...T[]]): T => list[int(0, list.length - 1)] ?? list[0],
    happens: (probability) => unit() < probability,
  };
};

/** A derived seed of the same run, by number. */
export const derived = (seed: Seed, number: number): Seed =>
  Math.imul((seed >>> 0) + number * 7919, 0x9e3779b1) >>> 0;
