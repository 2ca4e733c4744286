/** Label selectors: their conditions, their key, and the notation of the API. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type LabelConditions,
  labelSelectorOf,
  selectorKey,
  selectsLabels,
} from '../../../src/domain/label-selector.ts';

const KEYS = ['app', 'tier', 'zone'];
const VALUES = ['a', 'b', 'c'];

const conditions: fc.Arbitrary<LabelConditions> = fc.array(
  fc.oneof(
    fc.record({
      key: fc.constantFrom(...KEYS),
      operator: fc.constantFrom('In' as const, 'NotIn' as const),
      values: fc.array(fc.constantFrom(...VALUES), { minLength: 1, maxLength: 3 }),
    }),
    fc.record({
      key: fc.constantFrom(...KEYS),
      operator: fc.constantFrom('Exists' as const, 'DoesNotExist' as const),
      values: fc.constant([]),
    }),
  ),
  { maxLength: 5 },
);

const labels = fc.dictionary(fc.constantFrom(...KEYS), fc.constantFrom(...VALUES));

describe('a label selector', () => {
  test('without conditions selects everything, and none selects nothing', () => {
    expect(selectsLabels(labelSelectorOf({}), {})).toBe(true);
    expect(selectsLabels(labelSelectorOf(undefined), {})).toBe(false);
  });

  test('has one key in every order of its conditions', () => {
    fc.assert(fc.property(conditions, (written) => {
      expect(selectorKey(written.toReversed())).toBe(selectorKey(written));
    }));
  });

  test('never throws', () => {
    fc.assert(fc.property(fc.anything(), labels, (raw, given) => {
      const matchExpressions = [raw];
      selectsLabels(labelSelectorOf({ matchLabels: raw, matchExpressions }), given);
    }));
  });
});
