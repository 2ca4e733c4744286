/**
 * Reads untrusted JSON. Every function is total: a value of the wrong shape reads as `undefined`
 * (or as empty, where the name says `OrEmpty`), and nothing throws. All narrowing of `unknown`
 * happens here.
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

/** The field at `path`; only own fields of objects are followed. */
export const valueAt = (value: unknown, ...path: readonly string[]): unknown => {
  let at = value;
  for (const key of path) {
    if (!isRecord(at) || !Object.hasOwn(at, key)) return undefined;
    at = at[key];
  }
  return at;
};

/** The string at a path: `textAt(pod, 'metadata', 'name')`. */
export const textAt = (value: unknown, ...path: readonly string[]): string | undefined =>
  asText(valueAt(value, ...path));

/** The finite number at a path. */
export const numberAt = (value: unknown, ...path: readonly string[]): number | undefined =>
  asNumber(valueAt(value, ...path));

/** The boolean at a path. */
export const booleanAt = (value: unknown, ...path: readonly string[]): boolean | undefined =>
  asBoolean(valueAt(value, ...path));

/** The object at a path. */
export const recordAt = (value: unknown, ...path: readonly string[]): JsonRecord | undefined =>
  asRecord(valueAt(value, ...path));

/** The list at a path; empty when there is none. */
export const listOrEmptyAt = (value: unknown, ...path: readonly string[]): readonly unknown[] =>
  asList(valueAt(value, ...path)) ?? [];

const isTextRecord = (record: JsonRecord): record is Readonly<Record<string, string>> =>
  Object.values(record).every((entry) => typeof entry === 'string');

/**
 * The string entries of an object; other entries are dropped. `{}` when it is not an object.
 * Returns the object itself when nothing is dropped.
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
