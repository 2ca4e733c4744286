/** JSON merge patches (RFC 7396): the smallest patch from one object to another. */
import { asRecord } from './json.ts';
import { sameJson } from './json-equality.ts';

/**
 * The patch from `current` to `wanted`; `undefined` when they are equal. A removed field becomes
 * null; lists are replaced as a whole, as merge patches do. Objects must contain no null.
 */
export const mergePatchOf = (
  current: unknown,
  wanted: unknown,
): Readonly<Record<string, unknown>> | undefined => {
  const before = asRecord(current) ?? {};
  const after = asRecord(wanted) ?? {};
  const changes: [string, unknown][] = [];
  for (const key of Object.keys(before)) {
    if (!Object.hasOwn(after, key)) changes.push([key, null]);
  }
  for (const [key, value] of Object.entries(after)) {
    const old = Object.hasOwn(before, key) ? before[key] : undefined;
    if (asRecord(value) !== undefined && asRecord(old) !== undefined) {
      const inner = mergePatchOf(old, value);
      if (inner !== undefined) changes.push([key, inner]);
    } else if (!sameJson(old, value)) changes.push([key, value]);
  }
  return changes.length === 0 ? undefined : Object.fromEntries(changes);
};
