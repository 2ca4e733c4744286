/** A source of numbers that depends on its seed alone. */
import { nextSeed, unitInterval } from '../../src/domain/random.ts';

/** A source of numbers in [0, 1). */
export type Draw = () => number;

/** Numbers that depend on the seed alone. */
export const drawsFrom = (seed: number): Draw => {
  let state = seed >>> 0;
  return () => {
    state = nextSeed(state);
    return unitInterval(state);
  };
};

/** A whole number from 0 to `count` - 1. */
export const drawBelow = (draw: Draw, count: number): number => Math.floor(draw() * count);

/** One of these; undefined of none. */
export const drawOne = <Entry>(draw: Draw, entries: readonly Entry[]): Entry | undefined =>
  entries[drawBelow(draw, entries.length)];
