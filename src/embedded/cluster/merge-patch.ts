/** JSON merge patches (RFC 7396). */
import { asRecord } from '../../domain/json.ts';

/** The target with the patch laid over it: null removes, lists are replaced whole. */
export const mergePatched = (target: unknown, patch: unknown): unknown => {
  const changes = asRecord(patch);
  if (changes === undefined) return patch;
  const merged: Record<string, unknown> = { ...asRecord(target) };
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) delete merged[key];
    else merged[key] = mergePatched(merged[key], value);
  }
  return merged;
};
