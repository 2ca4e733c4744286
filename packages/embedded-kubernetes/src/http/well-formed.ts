/** Replaces lone surrogates in a body with U+FFFD, as the real server's decoder does. */
import { asList, asRecord } from '../values/json.ts';

const isWellFormed = (value: unknown): boolean => {
  if (typeof value === 'string') return value.isWellFormed();
  const parts = asList(value) ?? Object.entries(asRecord(value) ?? {}).flat();
  return parts.every(isWellFormed);
};

const mended = (value: unknown): unknown => {
  if (typeof value === 'string') return value.toWellFormed();
  const list = asList(value);
  if (list !== undefined) return list.map(mended);
  const record = asRecord(value);
  if (record === undefined) return value;
  return Object.fromEntries(
    Object.entries(record).map(([key, entry]) => [key.toWellFormed(), mended(entry)]),
  );
};

/** The same value when all strings are well-formed, otherwise a repaired copy. */
export const wellFormed = (value: unknown): unknown => isWellFormed(value) ? value : mended(value);
