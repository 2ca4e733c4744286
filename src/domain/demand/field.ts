/**
 * A field of an external object: its value, its path, and a list that collects its problems.
 *
 * Promises: total. A reader always returns a value of the right type; for an invalid field that is
 * a placeholder, and the findings record it. So a reading is valid exactly when there are no
 * findings.
 */
import { asList, asRecord, asText, valueAt } from '../json.ts';
import { parseQuantity, type Quantity, wholeQuantity } from '../quantity.ts';
import { quoted } from '../text.ts';

/** A problem of an object. */
export interface Problem {
  /** The path: `spec.requirements[2].operator`. */
  readonly field: string;
  /** The problem; continues a sentence that starts with the field. */
  readonly problem: string;
  /** The remedy, in the imperative. */
  readonly remedy: string;
}

/** A value and its path. */
export interface Field {
  readonly path: string;
  readonly value: unknown;
  readonly findings: Problem[];
}

/** The maximum number of problems kept per object; further ones are usually repeats. */
export const PROBLEMS_MAX = 8;

const QUANTITY_REMEDY = 'Give a quantity such as "1500m" or "2Gi"';
const INT32_MAX = 2 ** 31 - 1;

/** Records a problem of a field. */
export const find = (field: Field, problem: string, remedy: string): void => {
  if (field.findings.length >= PROBLEMS_MAX) return;
  field.findings.push({ field: field.path, problem, remedy });
};

/** True when the field is missing. JSON null counts as missing, as for the API server. */
export const isAbsent = (field: Field): boolean =>
  field.value === undefined || field.value === null;

/** The field `name` of an object. */
export const child = (field: Field, name: string): Field => ({
  path: `${field.path}.${name}`,
  value: valueAt(field.value, name),
  findings: field.findings,
});

/**
 * One more than a request may have of anything (`request-limits.ts`): what is larger is refused for
 * its size, and costs no more.
 */
const ENTRIES_MAX = 101;
/** The same for the values of a requirement. */
export const VALUES_MAX = 1001;

/** The entries of a map with arbitrary keys, as many as count; empty when missing. */
export const entries = (field: Field): readonly (readonly [string, Field])[] => {
  if (isAbsent(field)) return [];
  const record = asRecord(field.value);
  if (record === undefined) find(field, 'is not a map', 'Give a map of names to values');
  return Object.keys(record ?? {}).slice(0, ENTRIES_MAX).map((key) => [
    key,
    { path: `${field.path}[${quoted(key)}]`, value: record?.[key], findings: field.findings },
  ]);
};

/** The items of a list, at most `max`; empty when missing. */
export const items = (field: Field, max: number = ENTRIES_MAX): readonly Field[] => {
  if (isAbsent(field)) return [];
  const list = asList(field.value);
  if (list === undefined) find(field, 'is not a list', 'Give a list');
  return (list ?? []).slice(0, max).map((value, index) => ({
    path: `${field.path}[${index}]`,
    value,
    findings: field.findings,
  }));
};

/** A non-empty text. */
export const requiredText = (field: Field): string => {
  const text = asText(field.value);
  if (text === undefined || text === '') find(field, 'is not a text or is empty', 'Give a text');
  return text ?? '';
};

/** A text that may be empty. */
export const anyText = (field: Field): string => {
  const text = asText(field.value);
  if (text === undefined) find(field, 'is not a text', 'Give a text');
  return text ?? '';
};

/** One of a few words. */
export const oneOf = <Word extends string>(
  field: Field,
  words: readonly [Word, ...Word[]],
): Word => {
  const word = words.find((known) => known === field.value);
  if (word !== undefined) return word;
  const text = asText(field.value);
  const problem = text === undefined ? 'is missing or not a text' : `is ${quoted(text)}`;
  find(field, problem, `Use ${words.slice(0, -1).join(', ')} or ${words.at(-1)}`);
  return words[0];
};

/** A whole number from `least` to the largest int32. */
export const int32 = (field: Field, least: number): number => {
  const { value } = field;
  const isGood = typeof value === 'number' && Number.isInteger(value) && value >= least &&
    value <= INT32_MAX;
  if (isGood) return value | 0;
  find(field, 'is missing or out of range', `Give a whole number from ${least} to ${INT32_MAX}`);
  return 0;
};

const quantityText = ({ value }: Field): string | undefined => {
  if (typeof value === 'string') return value;
  return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : undefined;
};

/** A non-negative quantity: a text, or a whole number that JSON represents exactly. */
export const quantityOfZeroOrMore = (field: Field): Quantity => {
  const text = quantityText(field);
  if (text === undefined) {
    find(field, 'is neither a text nor a whole number', QUANTITY_REMEDY);
    return wholeQuantity(0n);
  }
  const reading = parseQuantity(text);
  if (reading._tag === 'Malformed') {
    find(field, `is ${quoted(text)}, which ${reading.problem}`, QUANTITY_REMEDY);
    return wholeQuantity(0n);
  }
  if (reading.quantity.nanos < 0n) {
    find(field, `is ${quoted(text)}, which is negative`, 'Give zero or more');
  }
  return reading.quantity;
};
