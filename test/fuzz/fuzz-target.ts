/** What is fuzzed: a reader of the program, and inputs from which others are made. */
import type { Mutate } from './mutation.ts';

/** An input, and its value when it is JSON: the API client parses, not the reader. */
export interface FuzzInput {
  readonly text: string;
  readonly value: unknown;
}

/**
 * Reads one input as the program does, and returns what became of it in a few words; throws when
 * something does not hold. Equal outcomes mean that nothing new was reached.
 */
export type FuzzRead = (input: FuzzInput) => string | Promise<string>;

/** A reader under test. */
export interface FuzzTarget {
  readonly name: string;
  /** Well-formed inputs. */
  readonly seeds: readonly string[];
  /** Texts that mean something to the reader. */
  readonly words: readonly string[];
  readonly mutate: Mutate;
  /** Smaller inputs than this one, largest steps first. */
  readonly smaller: (input: string) => Iterable<string>;
  /** The reader with fresh state, such as empty caches. */
  readonly open: () => FuzzRead;
}

/** An expectation of a target that does not hold. */
class Broken extends Error {}

/** Throws when `holds` is false. */
export const expectThat = (holds: boolean, what: string): void => {
  if (!holds) throw new Broken(what);
};

const QUOTED = /"(?:[^"\\]|\\.)*"/g;
const NUMBERS = /-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/g;
const OUTCOME_MAX = 120;

/** A message without what it quotes of the input. */
export const masked = (message: string): string =>
  message.slice(0, 1000).replace(QUOTED, '"…"').replace(NUMBERS, '0').slice(0, OUTCOME_MAX);

/** Smaller texts: without a half, a quarter, … of the text. */
export const smallerText = function* (text: string): Generator<string> {
  for (let parts = 2; parts <= 32 && parts <= text.length * 2; parts *= 2) {
    const size = Math.max(1, Math.ceil(text.length / parts));
    for (let from = 0; from < text.length; from += size) {
      yield text.slice(0, from) + text.slice(from + size);
    }
  }
};
