/** Reads JSON of the API server. Every function is total: another shape reads as `undefined`. */

/** A JSON object whose fields are not known yet. */
export type JsonRecord = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value at `path`; follows only own fields of objects. */
export const valueAt = (value: unknown, ...path: readonly string[]): unknown => {
  let at = value;
  for (const key of path) {
    if (!isRecord(at) || !Object.hasOwn(at, key)) return undefined;
    at = at[key];
  }
  return at;
};

/** The text at the path. */
export const textAt = (value: unknown, ...path: readonly string[]): string | undefined => {
  const found = valueAt(value, ...path);
  return typeof found === 'string' ? found : undefined;
};

/** The finite number at the path. */
export const numberAt = (value: unknown, ...path: readonly string[]): number | undefined => {
  const found = valueAt(value, ...path);
  return typeof found === 'number' && Number.isFinite(found) ? found : undefined;
};

/** The object at the path; empty without one. */
export const recordAt = (value: unknown, ...path: readonly string[]): JsonRecord => {
  const found = valueAt(value, ...path);
  return isRecord(found) ? found : {};
};

/** The list at the path; empty without one. */
export const listAt = (value: unknown, ...path: readonly string[]): readonly unknown[] => {
  const found = valueAt(value, ...path);
  return Array.isArray(found) ? found : [];
};

/** The texts of the list at the path. */
export const textsAt = (value: unknown, ...path: readonly string[]): readonly string[] =>
  listAt(value, ...path).filter((item) => typeof item === 'string');

/** The time at the path in milliseconds since 1970; null without one. */
export const timeAt = (value: unknown, ...path: readonly string[]): number | null => {
  const time = Date.parse(textAt(value, ...path) ?? '');
  return Number.isNaN(time) ? null : time;
};

/** Parsed JSON; `undefined` for other text. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
