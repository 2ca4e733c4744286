/**
 * A field of an object that came from outside: its value, where it stands, and a list that takes
 * what is wrong with it.
 *
 * Promises: total. A reader of a field always returns something of the right type; when the field
 * was wrong that is a stand-in, and the findings say so. So a reading is good exactly when nothing
 * was found.
 */
import { asList, asRecord, asText, valueAt } from '../json.ts';
import { parseQuantity, type Quantity, wholeQuantity } from '../quantity.ts';
import { quoted } from '../text.ts';

/** One thing that is wrong with an object. */
export interface Problem {
  /** Where: `spec.requirements[2].operator`. */
  readonly field: string;
  /** What; continues a sentence that starts with the field. */
  readonly problem: string;
  /** What would be right, as an order. */
  readonly remedy: string;
}

/** A value and where it stands. */
export interface Field {
  readonly path: string;
  readonly value: unknown;
  readonly findings: Problem[];
}

/** Problems that are kept of one object; those that follow are usually the same again. */
export const PROBLEMS_MAX = 8;

const QUANTITY_REMEDY = 'Give a quantity such as "1500m" or "2Gi"';
const INT32_MAX = 2 ** 31 - 1;

/** Puts what is wrong with a field on the list. */
export const find = (field: Field, problem: string, remedy: string): void => {
  if (field.findings.length >= PROBLEMS_MAX) return;
  field.findings.push({ field: field.path, problem, remedy });
};

/** True when the field is not there. JSON's null is absent, as it is for the API server. */
export const isAbsent = (field: Field): boolean =>
  field.value === undefined || field.value === null;

/** The field `name` of an object. */
export const child = (field: Field, name: string): Field => ({
  path: `${field.path}.${name}`,
  value: valueAt(field.value, name),
  findings: field.findings,
});

/** The entries of a map of any keys; none when it is absent. */
export const entries = (field: Field): readonly (readonly [string, Field])[] => {
  if (isAbsent(field)) return [];
  const record = asRecord(field.value);
  if (record === undefined) find(field, 'is no map', 'Give a map of names to values');
  return Object.entries(record ?? {}).map(([key, value]) => [
    key,
    { path: `${field.path}[${quoted(key)}]`, value, findings: field.findings },
  ]);
};

/** The items of a list; none when it is absent. */
export const items = (field: Field): readonly Field[] => {
  if (isAbsent(field)) return [];
  const list = asList(field.value);
  if (list === undefined) find(field, 'is no list', 'Give a list');
  return (list ?? []).map((value, index) => ({
    path: `${field.path}[${index}]`,
    value,
    findings: field.findings,
  }));
};

/** A text that must not be empty. */
export const requiredText = (field: Field): string => {
  const text = asText(field.value);
  if (text === undefined || text === '') find(field, 'is no text or is empty', 'Give a text');
  return text ?? '';
};

/** A text that may be empty. */
export const anyText = (field: Field): string => {
  const text = asText(field.value);
  if (text === undefined) find(field, 'is no text', 'Give a text');
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
  const problem = text === undefined ? 'is missing or no text' : `is ${quoted(text)}`;
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

/** A quantity of zero or more: a text, or a whole number that JSON carries exactly. */
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
