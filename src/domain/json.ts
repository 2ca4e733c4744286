/**
 * Reads JSON that came from outside. Every function is total: whatever is not of the wanted shape
 * reads as `undefined` (or as empty, where the name says `OrEmpty`), and nothing throws. The
 * narrowing of `unknown` stands here once, so that nobody else needs a cast.
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

/** The field that `path` leads to; only own fields of objects are followed. */
export const valueAt = (value: unknown, ...path: readonly string[]): unknown => {
  let at = value;
  for (const key of path) {
    if (!isRecord(at) || !Object.hasOwn(at, key)) return undefined;
    at = at[key];
  }
  return at;
};

/** `textAt(pod, 'metadata', 'name')`: the text that the path leads to. */
export const textAt = (value: unknown, ...path: readonly string[]): string | undefined =>
  asText(valueAt(value, ...path));

/** The finite number that the path leads to. */
export const numberAt = (value: unknown, ...path: readonly string[]): number | undefined =>
  asNumber(valueAt(value, ...path));

/** The boolean that the path leads to. */
export const booleanAt = (value: unknown, ...path: readonly string[]): boolean | undefined =>
  asBoolean(valueAt(value, ...path));

/** The object that the path leads to. */
export const recordAt = (value: unknown, ...path: readonly string[]): JsonRecord | undefined =>
  asRecord(valueAt(value, ...path));

/** The list that the path leads to; empty when there is none. */
export const listOrEmptyAt = (value: unknown, ...path: readonly string[]): readonly unknown[] =>
  asList(valueAt(value, ...path)) ?? [];

const isTextRecord = (record: JsonRecord): record is Readonly<Record<string, string>> =>
  Object.values(record).every((entry) => typeof entry === 'string');

/**
 * The entries of an object whose values are text; others are left out. `{}` when it is none. When
 * nothing is left out it is the object itself.
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

/** The text parsed as JSON; `undefined` when it is none. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
