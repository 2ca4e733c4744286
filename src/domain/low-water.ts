/**
 * The lowest value that something had, and for how long.
 *
 * Promises: pure values; times are milliseconds that only grow; a value lasts until the next one.
 */

/** What is known of one thing. */
export interface LowWater {
  readonly value: number;
  readonly sinceMs: number;
  readonly first: number;
  readonly lowest: number;
  /** How long it was at its lowest, in all, until `sinceMs`. */
  readonly lowestMs: number;
  /** How long it was below its first value, in all, until `sinceMs`. */
  readonly belowMs: number;
}

/** The first value. */
export const firstLowWater = (value: number, nowMs: number): LowWater => ({
  value,
  sinceMs: nowMs,
  first: value,
  lowest: value,
  lowestMs: 0,
  belowMs: 0,
});

/** With the value that it has now. */
export const nextLowWater = (before: LowWater, value: number, nowMs: number): LowWater => {
  const passedMs = nowMs - before.sinceMs;
  const atLowest = before.value === before.lowest ? passedMs : 0;
  const lowest = Math.min(before.lowest, value);
  return {
    value,
    sinceMs: nowMs,
    first: before.first,
    lowest,
    lowestMs: lowest < before.lowest ? 0 : before.lowestMs + atLowest,
    belowMs: before.belowMs + (before.value < before.first ? passedMs : 0),
  };
};
