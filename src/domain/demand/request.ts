/**
 * The cached fields of a CapacityRequest: its identity, its status, and its reading.
 *
 * Promises: equal requests share one copy of their reading and of their condition, so that a
 * hundred thousand of them cost little more than their names. Sharing is bounded and never affects
 * correctness: without a shared copy a request keeps its own.
 */
import { conditionOf, type CurrentCondition } from '../condition.ts';
import type { Identity } from '../facts.ts';
import { recordAt, textAt } from '../json.ts';
import { generationOf, identityOf } from '../object-meta.ts';
import { valuePool } from '../value-pool.ts';
import { namesTooManyResources } from './request-limits.ts';
import { readCapacityRequest, type Reading } from './reading.ts';
import { ACKNOWLEDGED, type RequestStatus } from './request-status.ts';
import type { Amounts, Terms } from './terms.ts';

/** The cached fields of one CapacityRequest. */
export interface CapacityRequestProjection extends Identity, RequestStatus {
  readonly reading: Reading;
}

/** The number of different terms, and of different amounts, kept for sharing. */
const SHARED_MAX = 20_000;
/** Longer specs are rare and not kept. */
const SHARED_WORDS_MAX = 2_000;

/** A map that is cleared when full, so that it never exceeds its limit. */
const put = <Value>(map: Map<string, Value>, key: string, value: Value): void => {
  if (map.has(key)) return;
  if (map.size >= SHARED_MAX) map.clear();
  map.set(key, value);
};

/** One copy of equal values, looked up by their source text. */
const sharing = <Value extends { readonly key: string }>() => {
  const byText = new Map<string, Value>();
  const byKey = new Map<string, Value>();
  return {
    get: (words: string): Value | undefined => byText.get(words),
    keep: (words: string, value: Value): Value => {
      const first = byKey.get(value.key) ?? value;
      if (words.length > SHARED_WORDS_MAX) return first;
      put(byKey, first.key, first);
      put(byText, words, first);
      return first;
    },
  };
};

/** All inputs of the terms and of the amounts, as texts. */
const textOf = (raw: unknown): readonly [terms: string, amounts: string] => {
  const { resources, ...rest } = recordAt(raw, 'spec') ?? {};
  const namespace = textAt(raw, 'metadata', 'namespace');
  return [JSON.stringify([namespace, rest]), JSON.stringify(resources ?? null)];
};

/** Reads requests; a text that was read before is not parsed again. */
const sharingReader = (): (raw: unknown) => Reading => {
  const terms = sharing<Terms>();
  const amounts = sharing<Amounts>();
  return (raw) => {
    if (namesTooManyResources(recordAt(raw, 'spec'))) return readCapacityRequest(raw);
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
 * Creates the projection of a CapacityRequest cache. It returns `undefined` for objects without a
 * name, UID or resourceVersion.
 */
export const capacityRequestProjector = (): (
  raw: unknown,
) => CapacityRequestProjection | undefined => {
  const read = sharingReader();
  const share = valuePool<CurrentCondition>();
  return (raw) => {
    const identity = identityOf(raw);
    if (identity === undefined) return undefined;
    const acknowledged = conditionOf(raw, ACKNOWLEDGED);
    return {
      ...identity,
      generation: generationOf(raw),
      phase: textAt(raw, 'status', 'phase') ?? '',
      acknowledged: acknowledged && share(acknowledged),
      reading: read(raw),
    };
  };
};
