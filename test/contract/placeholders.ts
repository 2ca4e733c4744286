/** `{name}` placeholders: values that a case kept under that name. */
import { asRecord } from '../../src/domain/json.ts';

/** The kept values of a case. */
export type Kept = Map<string, string>;

const PLACE = /\{([a-z]\w*)\}/g;

const inText = (text: string, kept: Kept): string =>
  text.replaceAll(PLACE, (whole, name: string) => kept.get(name) ?? whole);

/** Objects with their own prototype (vitest's matchers) stay unchanged. */
const isPlain = (value: object): boolean => Object.getPrototypeOf(value) === Object.prototype;

const inValue = (value: unknown, kept: Kept): unknown => {
  if (typeof value === 'string') return inText(value, kept);
  if (Array.isArray(value)) return value.map((entry) => inValue(entry, kept));
  const record = asRecord(value);
  if (record === undefined || !isPlain(record)) return value;
  return Object.fromEntries(
    Object.entries(record).map(([key, entry]) => [inText(key, kept), inValue(entry, kept)]),
  );
};

/** The same value with the texts in it filled in. */
export function filled<Value>(value: Value, kept: Kept): Value;
export function filled(value: unknown, kept: Kept): unknown {
  return inValue(value, kept);
}
