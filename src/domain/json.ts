/**
 * Reads JSON of external origin. Every function is total: a value of another shape reads as
 * `undefined` (or as empty, where the name says `OrEmpty`), and nothing throws. `unknown` is
 * narrowed only here, so that no other code needs a cast.
 */

/** A JSON object whose fields are not known yet. */
export type JsonRecord = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

/** The value as an object; `undefined` for lists, null and scalars. */
export const asRecord = (value: unknown): JsonRecord | undefined =>
  isRecord(value) ? value : undefined;

/** The value as a list. */
export const asList = (value: unknown): readonly unknown[] | undefined =>
  isList(value) ? value : undefined;

/** The value as text. */
export const asText = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** The value as a finite number. */
export const asNumber = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

/** The value as a boolean. */
const asBoolean = (value: unknown): boolean | undefined =>
  typeof value === 'boolean' ? value : undefined;

/** The value at `path`; follows only own fields of objects. */
export const valueAt = (value: unknown, ...path: readonly string[]): unknown => {
  let at = value;
  for (const key of path) {
    if (!isRecord(at) || !Object.hasOwn(at, key)) return undefined;
    at = at[key];
  }
  return at;
};

/** `textAt(pod, 'metadata', 'name')`: the text at the path. */
export const textAt = (value: unknown, ...path: readonly string[]): string | undefined =>
  asText(valueAt(value, ...path));

/** The finite number at the path. */
export const numberAt = (value: unknown, ...path: readonly string[]): number | undefined =>
  asNumber(valueAt(value, ...path));

/** The RFC 3339 time at the path, in milliseconds; null when absent or invalid. */
export const timeAt = (value: unknown, ...path: readonly string[]): number | null => {
  const time = Date.parse(textAt(value, ...path) ?? '');
  return Number.isNaN(time) ? null : time;
};

/** The boolean at the path. */
export const booleanAt = (value: unknown, ...path: readonly string[]): boolean | undefined =>
  asBoolean(valueAt(value, ...path));

/** The object at the path. */
export const recordAt = (value: unknown, ...path: readonly string[]): JsonRecord | undefined =>
  asRecord(valueAt(value, ...path));

/** The list at the path; empty without one. */
export const listOrEmptyAt = (value: unknown, ...path: readonly string[]): readonly unknown[] =>
  asList(valueAt(value, ...path)) ?? [];

const isTextRecord = (record: JsonRecord): record is Readonly<Record<string, string>> =>
  Object.values(record).every((entry) => typeof entry === 'string');

/**
 * The entries of an object whose values are text; others are dropped. `{}` for other types. Returns
 * the object itself when nothing is dropped.
 */
export const textRecordOrEmptyAt = (
  value: unknown,
  ...path: readonly string[]
): Readonly<Record<string, string>> => {
  const record = recordAt(value, ...path) ?? {};
  if (isTextRecord(record)) return record;
  const texts: [string, string][] = [];
  for (const [key, entry] of Object.entries(record)) {
    if (typeof entry === 'string') texts.push([key, entry]);
  }
  return Object.fromEntries(texts);
};

/** Parses JSON; `undefined` when malformed. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
