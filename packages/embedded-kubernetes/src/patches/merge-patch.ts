/** JSON merge patches (RFC 7396). */
import { asRecord } from '../values/json.ts';

/** Applies a merge patch: null removes, lists are replaced whole. */
export const mergePatched = (target: unknown, patch: unknown): unknown => {
  const changes = asRecord(patch);
  if (changes === undefined) return patch;
  // A map, because a key may be "__proto__".
  const merged = new Map(Object.entries(asRecord(target) ?? {}));
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) merged.delete(key);
    else merged.set(key, mergePatched(merged.get(key), value));
  }
  return Object.fromEntries(merged);
};
