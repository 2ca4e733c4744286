/**
 * A CapacityRequest as the cache keeps it: who it is, how far it is, and what it asks for or why
 * that cannot be read.
 *
 * Promises: requests that ask for the same share one copy of it, so that a hundred thousand of them
 * weigh little more than their names. How much is shared has a limit and is never a question of
 * being right: what finds no copy keeps its own.
 */
import type { Identity } from '../facts.ts';
import { textAt, valueAt } from '../json.ts';
import { identityOf } from '../object-meta.ts';
import { readCapacityRequest, type Reading } from './reading.ts';
import type { Amounts, Terms } from './terms.ts';

/** What is kept of one CapacityRequest. */
export interface CapacityRequestProjection extends Identity {
  /** `status.phase`; empty when there is none yet. */
  readonly phase: string;
  readonly reading: Reading;
}

/** Different readings, terms and amounts of which one copy is kept for sharing. */
const SHARED_MAX = 20_000;
/** Longer specs are rare, and their texts are not kept. */
const SHARED_WORDS_MAX = 2_000;

/** One value per key; starts anew when it is full, so that it never outgrows its limit. */
const sharing = <Value>(): (key: string, make: () => Value) => Value => {
  const known = new Map<string, Value>();
  return (key, make) => {
    const first = known.get(key);
    if (first !== undefined) return first;
    if (known.size >= SHARED_MAX) known.clear();
    const made = make();
    known.set(key, made);
    return made;
  };
};

/**
 * Makes the function that a cache of CapacityRequests projects its objects with. It gives
 * `undefined` for what has no name, UID or resourceVersion and so is no object of the API server.
 */
export const capacityRequestProjector = (): (
  raw: unknown,
) => CapacityRequestProjection | undefined => {
  const sharedReading = sharing<Reading>();
  const sharedTerms = sharing<Terms>();
  const sharedAmounts = sharing<Amounts>();
  const read = (raw: unknown): Reading => {
    const reading = readCapacityRequest(raw);
    if (reading._tag === 'Unreadable') return reading;
    const { terms, amounts } = reading;
    return {
      _tag: 'Readable',
      terms: sharedTerms(terms.key, () => terms),
      amounts: sharedAmounts(amounts.key, () => amounts),
    };
  };
  return (raw) => {
    const identity = identityOf(raw);
    if (identity === undefined) return undefined;
    const phase = textAt(raw, 'status', 'phase') ?? '';
    // All that a reading depends on: what was read once in these words is not read again.
    const words = JSON.stringify([textAt(raw, 'metadata', 'namespace'), valueAt(raw, 'spec')]);
    const isShort = words.length <= SHARED_WORDS_MAX;
    return {
      ...identity,
      phase,
      reading: isShort ? sharedReading(words, () => read(raw)) : read(raw),
    };
  };
};
