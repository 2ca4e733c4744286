/**
 * Seeds that are drawn for this run, beside the fixed ones of a suite.
 *
 * Promises: they are printed, so that a failure can be repeated.
 */
import { randomInt } from 'node:crypto';
import process from 'node:process';

/** Fixed seeds of suites and examples are below. */
const LEAST = 100_000;
const MOST = 2 ** 31;

/** So many seeds, printed with the command that repeats each. */
export const freshSeeds = (count: number, command: string): readonly number[] => {
  const seeds = Array.from({ length: count }, () => randomInt(LEAST, MOST));
  for (const seed of seeds) process.stdout.write(`drawn: ${command} ${seed}\n`);
  return seeds;
};
