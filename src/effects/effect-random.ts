/** The randomness of Effect from one seed. */
import { Layer, Random } from 'effect';
import { nextSeed, type Seed, unitInterval } from '../domain/random.ts';

/** Effect's random numbers: the jitter of schedules follows from `start`. */
const effectRandom = (start: Seed): typeof Random.Random.Service => {
  let seed = start;
  const nextDoubleUnsafe = (): number => {
    seed = nextSeed(seed);
    return unitInterval(seed);
  };
  return {
    nextDoubleUnsafe,
    nextIntUnsafe: () => Math.round((nextDoubleUnsafe() * 2 - 1) * Number.MAX_SAFE_INTEGER),
  };
};

/** The layer that makes every jitter of a runtime follow from the seed. */
export const randomLayer = (seed: Seed): Layer.Layer<never> =>
  Layer.succeed(Random.Random, effectRandom(seed));
