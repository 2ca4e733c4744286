/** Equality of JSON values. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { asRecord } from '../../../src/domain/json.ts';
import { sameJson } from '../../../src/domain/json-equality.ts';

const reversed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reversed);
  const record = asRecord(value);
  if (record === undefined) return value;
  return Object.fromEntries(
    Object.entries(record).toReversed().map(([key, entry]) => [key, reversed(entry)]),
  );
};

test('sameJson: ignores the order of keys, at any depth', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => {
    expect(sameJson(value, reversed(value))).toBe(true);
  }));
});

test('sameJson: a key whose value is undefined is absent', () => {
  expect(sameJson({ a: 1, b: undefined }, { a: 1 })).toBe(true);
  expect(sameJson({ a: undefined }, { b: undefined })).toBe(true);
});

test.each([
  [{ a: 1 }, { a: 2 }],
  [{ a: 1 }, { b: 1 }],
  [{ a: 1 }, { a: 1, b: 2 }],
  [{ a: null }, {}],
  [[1, 2], [2, 1]],
  [[1], [1, 2]],
  [[], {}],
  ['1', 1],
  [null, undefined],
])('sameJson: %j differs from %j', (left, right) => {
  expect(sameJson(left, right)).toBe(false);
  expect(sameJson(right, left)).toBe(false);
});
