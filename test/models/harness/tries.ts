/** The failed tries of an object's writer, as far as a configuration has to tell them apart. */

/** After as many failures the writer releases its slot. */
export const TRIES_PER_SLOT = 5;

/**
 * No decision depends on how many tries have failed until the last of a slot: they are counted only
 * where `isCounted`, from where paths lead to the last one, and its consequences are walked for
 * every fact.
 */
export const triesOf = (attempt: number, isCounted: boolean): number => {
  if (attempt >= TRIES_PER_SLOT) return TRIES_PER_SLOT;
  return isCounted ? attempt : Math.min(attempt, 1);
};
