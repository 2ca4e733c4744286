/** CEL rules of custom resources: valid objects, violations, and rules that do not compile. */
import { describe, expect, test } from 'vitest';
import type { JsonRecord } from '../src/values/json.ts';
import { ruleValidator } from '../src/schema/schema-rules.ts';

const number = { type: 'integer' };
const text = { type: 'string' };

const withRules = (rules: readonly JsonRecord[], more: JsonRecord = {}): JsonRecord => ({
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        least: number,
        most: number,
        name: text,
        tags: { type: 'array', items: { type: 'object', properties: { key: text } } },
      },
      'x-kubernetes-validations': rules,
      ...more,
    },
  },
});

const problemsOf = (rule: JsonRecord, spec: JsonRecord, before?: JsonRecord) =>
  ruleValidator(withRules([rule]))({ spec }, before === undefined ? undefined : { spec: before });

describe('CEL rules of a schema', () => {
  test.each([
    { rule: 'self.least <= self.most', good: { least: 1, most: 2 }, bad: { least: 3, most: 2 } },
    { rule: '!has(self.name) || size(self.name) < 3', good: {}, bad: { name: 'long' } },
    {
      rule: 'self.least + 1 == self.most',
      good: { least: 1, most: 2 },
      bad: { least: 1, most: 1 },
    },
    { rule: "self.name.startsWith('a')", good: { name: 'ab' }, bad: { name: 'b' } },
    {
      rule: 'self.tags.all(tag, size(tag.key) > 0)',
      good: { tags: [{ key: 'a' }] },
      bad: { tags: [{ key: '' }] },
    },
    {
      rule: 'self.tags.map(tag, size(tag.key) * 2).isSorted()',
      good: { tags: [{ key: 'a' }, { key: 'bb' }] },
      bad: { tags: [{ key: 'bb' }, { key: 'a' }] },
    },
  ])('$rule', ({ rule, good, bad }) => {
    expect(problemsOf({ rule, message: 'no' }, good)).toEqual([]);
    expect(problemsOf({ rule, message: 'no' }, bad)).toEqual([
      { reason: 'FieldValueInvalid', field: 'spec', message: 'Invalid value: "object": no' },
    ]);
  });

  test('a rule without a message reports its expression', () => {
    expect(problemsOf({ rule: 'self.least > 0' }, { least: 0 })[0]?.message).toContain(
      'failed rule: self.least > 0',
    );
  });

  test('a rule may name its reason and its field', () => {
    const rule = {
      rule: 'false',
      message: 'no',
      reason: 'FieldValueForbidden',
      fieldPath: '.name',
    };
    expect(problemsOf(rule, {})).toEqual([
      { reason: 'FieldValueForbidden', field: 'spec.name', message: 'Forbidden: no' },
    ]);
  });

  test('a transition rule runs on updates only', () => {
    const rule = { rule: 'self.name == oldSelf.name', message: 'stays' };
    expect(problemsOf(rule, { name: 'b' })).toEqual([]);
    expect(problemsOf(rule, { name: 'b' }, { name: 'b' })).toEqual([]);
    expect(problemsOf(rule, { name: 'b' }, { name: 'a' })).toHaveLength(1);
  });

  test('a rule that fails to evaluate is reported', () => {
    expect(problemsOf({ rule: 'self.none > 0' }, {})[0]?.message).toContain(
      'rule evaluation error',
    );
  });

  test.each(['self.least <', 'isURL(self.name)', 'self.least + 1'])(
    'a rule that does not compile is reported at once: %s',
    (rule) => {
      expect(() => ruleValidator(withRules([{ rule }]))).toThrow();
    },
  );

  test('rules of list items report the index', () => {
    const entry = { ...text, 'x-kubernetes-validations': [{ rule: "self != ''", message: 'no' }] };
    const validate = ruleValidator(withRules([], {
      properties: { tags: { type: 'array', items: entry } },
    }));
    expect(validate({ spec: { tags: ['a', ''] } }, undefined).map(({ field }) => field)).toEqual([
      'spec.tags[1]',
    ]);
  });
});
