/**
 * A CapacityRequest as the cache keeps it: who it is, how far it is, and what it asks for or why
 * that cannot be read.
 *
 * Promises: requests that ask for the same share one copy of it, so that a hundred thousand of them
 * weigh little more than their names. How much is shared has a limit and is never a question of
 * being right: what finds no copy keeps its own.
 */
import type { Identity } from '../facts.ts';
import { textAt } from '../json.ts';
import { identityOf } from '../object-meta.ts';
import { readCapacityRequest, type Reading } from './reading.ts';

/** What is kept of one CapacityRequest. */
export interface CapacityRequestProjection extends Identity {
  /** `status.phase`; empty when there is none yet. */
  readonly phase: string;
  readonly reading: Reading;
}

/** Different terms, and different amounts, of which one copy is kept for sharing. */
const SHARED_MAX = 20_000;

/** One value per key; starts anew when it is full, so that it never outgrows its limit. */
const sharing = <Value extends { readonly key: string }>(): (value: Value) => Value => {
  const known = new Map<string, Value>();
  return (value) => {
    const first = known.get(value.key);
    if (first !== undefined) return first;
    if (known.size >= SHARED_MAX) known.clear();
    known.set(value.key, value);
    return value;
  };
};

/**
 * Makes the function that a cache of CapacityRequests projects its objects with. It gives
 * `undefined` for what has no name, UID or resourceVersion and so is no object of the API server.
 */
export const capacityRequestProjector = (): (
  raw: unknown,
) => CapacityRequestProjection | undefined => {
  const sharedTerms = sharing<Extract<Reading, { _tag: 'Readable' }>['terms']>();
  const sharedAmounts = sharing<Extract<Reading, { _tag: 'Readable' }>['amounts']>();
  return (raw) => {
    const identity = identityOf(raw);
    if (identity === undefined) return undefined;
    const phase = textAt(raw, 'status', 'phase') ?? '';
    const reading = readCapacityRequest(raw);
    if (reading._tag === 'Unreadable') return { ...identity, phase, reading };
    const terms = sharedTerms(reading.terms);
    const amounts = sharedAmounts(reading.amounts);
    return { ...identity, phase, reading: { _tag: 'Readable', terms, amounts } };
  };
};
