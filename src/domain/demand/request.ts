/**
 * A CapacityRequest as the cache keeps it: who it is, how far it is, and what it asks for or why
 * that cannot be read.
 *
 * Promises: requests that ask for the same share one copy of it, so that a hundred thousand of them
 * weigh little more than their names. How much is shared has a limit and is never a question of
 * being right: what finds no copy keeps its own.
 */
import type { Identity } from '../facts.ts';
import { recordAt, textAt } from '../json.ts';
import { identityOf } from '../object-meta.ts';
import { readCapacityRequest, type Reading } from './reading.ts';
import type { Amounts, Terms } from './terms.ts';

/** What is kept of one CapacityRequest. */
export interface CapacityRequestProjection extends Identity {
  /** `status.phase`; empty when there is none yet. */
  readonly phase: string;
  readonly reading: Reading;
}

/** Different terms, and different amounts, of which one copy is kept for sharing. */
const SHARED_MAX = 20_000;
/** Longer specs are rare, and their words are not kept. */
const SHARED_WORDS_MAX = 2_000;

/** A map that starts anew when it is full, so that it never outgrows its limit. */
const put = <Value>(map: Map<string, Value>, key: string, value: Value): void => {
  if (map.has(key)) return;
  if (map.size >= SHARED_MAX) map.clear();
  map.set(key, value);
};

/** One copy of equal values, found again by the words that they were read from. */
const sharing = <Value extends { readonly key: string }>() => {
  const byText = new Map<string, Value>();
  const byKey = new Map<string, Value>();
  return {
    get: (words: string): Value | undefined => byText.get(words),
    keep: (words: string, value: Value): Value => {
      const first = byKey.get(value.key) ?? value;
      put(byKey, first.key, first);
      if (words.length <= SHARED_WORDS_MAX) put(byText, words, first);
      return first;
    },
  };
};

/** All that terms, and all that amounts, depend on, as texts. */
const textOf = (raw: unknown): readonly [terms: string, amounts: string] => {
  const { resources, ...rest } = recordAt(raw, 'spec') ?? {};
  const namespace = textAt(raw, 'metadata', 'namespace');
  return [JSON.stringify([namespace, rest]), JSON.stringify(resources ?? null)];
};

/** Reads requests; of what was found good once, the same words are not read again. */
const sharingReader = (): (raw: unknown) => Reading => {
  const terms = sharing<Terms>();
  const amounts = sharing<Amounts>();
  return (raw) => {
    const [termsText, amountsText] = textOf(raw);
    const [knownTerms, knownAmounts] = [terms.get(termsText), amounts.get(amountsText)];
    if (knownTerms !== undefined && knownAmounts !== undefined) {
      return { _tag: 'Readable', terms: knownTerms, amounts: knownAmounts };
    }
    const reading = readCapacityRequest(raw);
    if (reading._tag === 'Unreadable') return reading;
    return {
      _tag: 'Readable',
      terms: terms.keep(termsText, reading.terms),
      amounts: amounts.keep(amountsText, reading.amounts),
    };
  };
};

/**
 * Makes the function that a cache of CapacityRequests projects its objects with. It gives
 * `undefined` for what has no name, UID or resourceVersion and so is no object of the API server.
 */
export const capacityRequestProjector = (): (
  raw: unknown,
) => CapacityRequestProjection | undefined => {
  const read = sharingReader();
  return (raw) => {
    const identity = identityOf(raw);
    if (identity === undefined) return undefined;
    return { ...identity, phase: textAt(raw, 'status', 'phase') ?? '', reading: read(raw) };
  };
};
