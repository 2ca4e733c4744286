/** The demand of a CapacityRequest, and the problems of invalid ones. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Problem, PROBLEMS_MAX } from '../../../../src/domain/demand/field.ts';
import {
  problemsText,
  readCapacityRequest,
  type Reading,
} from '../../../../src/domain/demand/reading.ts';
import type { JsonRecord } from '../../../../src/domain/json.ts';
import { goodSpecs, rawRequest } from '../../../support/demand/capacity-requests.ts';

type Readable = Extract<Reading, { readonly _tag: 'Readable' }>;

const readSpec = (spec: JsonRecord, namespace = 'default'): Reading =>
  readCapacityRequest(rawRequest({ spec, namespace }));

const good = (spec: JsonRecord, namespace?: string): Readable => {
  const reading = readSpec(spec, namespace);
  if (reading._tag === 'Unreadable') throw new Error(problemsText(reading.problems));
  return reading;
};

const problems = (raw: unknown): readonly Problem[] => {
  const reading = readCapacityRequest(raw);
  return reading._tag === 'Unreadable' ? reading.problems : [];
};

const fields = (spec: JsonRecord): readonly string[] =>
  problems(rawRequest({ spec })).map(({ field }) => field);

describe('readCapacityRequest', () => {
  it('reads the terms in canonical order', () => {
    const { terms } = good({
      requirements: [
        { key: 'zone', operator: 'In', values: ['b', 'a', 'b'] },
        { key: 'arch', operator: 'Exists' },
        { key: 'zone', operator: 'In', values: ['a', 'b'] },
      ],
      priority: -7,
      interruptionPenalty: '16',
      reclamationPenalty: '0.5',
    });
    expect(terms.profile).toEqual({
      requirements: [
        { key: 'arch', operator: 'Exists', values: [] },
        { key: 'zone', operator: 'In', values: ['a', 'b'] },
      ],
      priority: -7,
      spread: [],
      interruptionBucket: 7,
      reclamationBucket: 2,
    });
    expect(terms.group).toBe('');
  });

  it('reads amounts exactly, whole numbers included', () => {
    const { amounts } = good({ resources: { memory: '1.5Gi', cpu: 2, gpu: '0' } });
    expect(amounts.list.map(({ resource, quantity }) => [resource, quantity.nanos])).toEqual([
      ['cpu', 2_000_000_000n],
      ['gpu', 0n],
      ['memory', 1_610_612_736_000_000_000n],
    ]);
  });

  it('penalty: an absent penalty is not $0', () => {
    expect(good({}).terms.profile.interruptionBucket).toBe(0);
    expect(good({ interruptionPenalty: null }).terms.profile.interruptionBucket).toBe(0);
    expect(good({ interruptionPenalty: 0 }).terms.profile.interruptionBucket).toBe(1);
    expect(good({ interruptionPenalty: '-0' }).terms.profile.interruptionBucket).toBe(1);
    expect(good({}).terms.key).not.toBe(good({ interruptionPenalty: '0' }).terms.key);
  });

  it('spread: ScheduleAnyway is a preference and is dropped', () => {
    const spread = (whenUnsatisfiable: string) => ({
      topologySpread: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable }],
    });
    expect(good(spread('ScheduleAnyway')).terms.profile.spread).toEqual([]);
    expect(good(spread('ScheduleAnyway')).terms.key).toBe(good({}).terms.key);
    expect(good(spread('DoNotSchedule')).terms.profile.spread).toHaveLength(1);
  });

  it('reading: takes what the shard takes: In without values, Exists with values', () => {
    const requirements = [
      { key: 'a', operator: 'In', values: [] },
      { key: 'b', operator: 'Exists', values: ['x'] },
    ];
    expect(
      good({ requirements: [{ key: 'a', operator: 'In' }, requirements[1]] })
        .terms.profile.requirements,
    ).toEqual(requirements);
    expect(
      good({
        coLocation: { topologyKey: 'rack', labelSelector: { matchExpressions: requirements } },
      }).terms.group,
    ).toContain('a In ;b Exists x;');
  });

  it('spread: the skew of ScheduleAnyway may be 0, that of DoNotSchedule not', () => {
    const spread = (whenUnsatisfiable: string, maxSkew: number) => ({
      topologySpread: [{ maxSkew, topologyKey: 'zone', whenUnsatisfiable }],
    });
    expect(good(spread('ScheduleAnyway', 0)).terms.key).toBe(good({}).terms.key);
    expect(fields(spread('DoNotSchedule', 0))).toEqual(['spec.topologySpread[0].maxSkew']);
    expect(fields(spread('ScheduleAnyway', 0.5))).toEqual(['spec.topologySpread[0].maxSkew']);
  });

  it('group: a co-located request gets Same, once, and belongs to a group', () => {
    const { terms } = good({
      requirements: [{ key: 'zone', operator: 'Exists' }],
      coLocation: {
        topologyKey: 'rack',
        labelSelector: {
          matchLabels: { b: '2', a: '1' },
          matchExpressions: [{ key: 'tier', operator: 'In', values: ['web', 'db'] }],
        },
      },
    }, 'shop');
    expect(terms.profile.requirements).toEqual([
      { key: 'rack', operator: 'Same', values: [] },
      { key: 'zone', operator: 'Exists', values: [] },
    ]);
    expect(terms.group).toBe('shop\0rack\0a=1,b=2,;tier In db,web;');
  });

  it('group: equal selectors of two namespaces are two groups', () => {
    const coLocation = { topologyKey: 'rack', labelSelector: { matchLabels: { a: '1' } } };
    expect(good({ coLocation }, 'one').terms.group).not.toBe(
      good({ coLocation }, 'two').terms.group,
    );
  });

  it('gives one key to every notation of the same terms', () => {
    fc.assert(
      fc.property(goodSpecs, (spec) => {
        const reversed = Object.fromEntries(
          Object.entries(spec).reverse().map(([key, value]) => [
            key,
            Array.isArray(value) ? value.toReversed() : value,
          ]),
        );
        expect(good(reversed).terms).toEqual(good(spec).terms);
        expect(good(reversed).amounts.key).toBe(good(spec).amounts.key);
      }),
      { numRuns: 500 },
    );
  });

  it('group: selectors with ambiguous separators are two groups', () => {
    const group = (matchLabels: Readonly<Record<string, string>>): string =>
      good({ coLocation: { topologyKey: 'k', labelSelector: { matchLabels } } }).terms.group;
    const pairs: readonly (readonly Readonly<Record<string, string>>[])[] = [
      [{ 'a=b': 'c' }, { a: 'b=c' }],
      [{ a: '1,b=2' }, { a: '1', b: '2' }],
      [{ a: '%2C' }, { a: ',' }],
      [{ a: ',;b Exists ;' }, { a: '' }],
      [{ a: '%253D' }, { a: '%3D' }],
    ];
    for (const [one = {}, other = {}] of pairs) expect(group(one)).not.toBe(group(other));
  });

  it('group: two selectors are two groups, whatever their texts contain', () => {
    const texts = fc.string({ unit: fc.constantFrom(...'ab,;= %|:\0'), maxLength: 4 });
    const selectors = fc.dictionary(texts, texts, { maxKeys: 3 });
    fc.assert(
      fc.property(selectors, selectors, (one, other) => {
        const group = (matchLabels: Readonly<Record<string, string>>) =>
          good({ coLocation: { topologyKey: 'k', labelSelector: { matchLabels } } }).terms.group;
        const sorted = (labels: Readonly<Record<string, string>>) =>
          JSON.stringify(Object.entries(labels).sort());
        expect(group(one) === group(other)).toBe(sorted(one) === sorted(other));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('readCapacityRequest of invalid input', () => {
  it('wire 2: names the field with a malformed quantity, and the remedy', () => {
    expect(problems(rawRequest({ spec: { resources: { cpu: '1', memory: '1e1.5' } } }))).toEqual([{
      field: 'spec.resources["memory"]',
      problem: 'is "1e1.5", which is not a number with a suffix',
      remedy: 'Give a quantity such as "1500m" or "2Gi"',
    }]);
  });

  it('wire 2: names the field with an unknown operator', () => {
    expect(problems(rawRequest({ spec: { requirements: [{ key: 'a', operator: 'Same' }] } })))
      .toEqual([{
        field: 'spec.requirements[0].operator',
        problem: 'is "Same"',
        remedy: 'Use In, NotIn, Exists or DoesNotExist',
      }]);
  });

  it('wire 2: names the field with a negative penalty', () => {
    expect(problems(rawRequest({ spec: { reclamationPenalty: '-1' } }))).toEqual([{
      field: 'spec.reclamationPenalty',
      problem: 'is "-1", which is negative',
      remedy: 'Give zero or more',
    }]);
  });

  it('reading: every invalid field is named', () => {
    expect(fields({ resources: { cpu: '-1' } })).toEqual(['spec.resources["cpu"]']);
    expect(fields({ resources: { cpu: 0.5 } })).toEqual(['spec.resources["cpu"]']);
    expect(fields({ resources: { cpu: 2 ** 53 } })).toEqual(['spec.resources["cpu"]']);
    expect(fields({ resources: { '': '1' } })).toEqual(['spec.resources[""]']);
    expect(fields({ resources: null })).toEqual(['spec.resources']);
    expect(fields({ resources: [] })).toEqual(['spec.resources']);
    expect(fields({ priority: 2 ** 31 })).toEqual(['spec.priority']);
    expect(fields({ priority: '1' })).toEqual(['spec.priority']);
    expect(fields({ requirements: {} })).toEqual(['spec.requirements']);
    expect(fields({ requirements: [{ key: '', operator: 'Exists' }] }))
      .toEqual(['spec.requirements[0].key']);
    expect(fields({ requirements: [{ key: 'a', operator: 'In', values: [1] }] }))
      .toEqual(['spec.requirements[0].values[0]']);
    expect(fields({ topologySpread: [{ maxSkew: 0, topologyKey: 'z', whenUnsatisfiable: 'x' }] }))
      .toEqual(['spec.topologySpread[0].whenUnsatisfiable', 'spec.topologySpread[0].maxSkew']);
    expect(fields({ coLocation: { labelSelector: { matchLabels: { a: 1 } } } })).toEqual([
      'spec.coLocation.labelSelector.matchLabels["a"]',
      'spec.coLocation.topologyKey',
    ]);
    expect(problems({ metadata: {} }).map(({ field }) => field))
      .toEqual(['spec.priority', 'spec.resources']);
  });

  it('limits the report about a request with many problems', () => {
    const requirements = Array.from({ length: 1000 }, () => ({ operator: 'x'.repeat(10_000) }));
    const found = problems(rawRequest({ spec: { requirements } }));
    expect(found).toHaveLength(PROBLEMS_MAX);
    expect(problemsText(found).length).toBeLessThan(1000);
  });

  it('names every problem that fits an Event note, and counts the others', () => {
    const found = problems(rawRequest({ spec: { priority: 0.5, interruptionPenalty: '-1' } }));
    expect(problemsText(found)).toBe(
      'spec.priority is missing or out of range. ' +
        'Give a whole number from -2147483648 to 2147483647; ' +
        'spec.interruptionPenalty is "-1", which is negative. Give zero or more',
    );
    const long = Array.from({ length: 8 }, (_, index) => [`${index}`.repeat(99), 'x'.repeat(64)]);
    expect(problemsText(problems(rawRequest({ spec: { resources: Object.fromEntries(long) } }))))
      .toMatch(/^spec\.resources\["0{80}…".*; and 7 more$/);
  });

  it('reading: 10,000 objects of any shape are read or refused, and none throws', () => {
    const names = fc.constantFrom(
      'spec',
      'metadata',
      'requirements',
      'resources',
      'priority',
      'topologySpread',
      'coLocation',
      'labelSelector',
      'matchLabels',
      'key',
      'operator',
      'values',
      'interruptionPenalty',
      '__proto__',
      'constructor',
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 6, withCrossShrink: true },
        fc.oneof(fc.string(), fc.double(), fc.integer(), fc.boolean(), fc.constant(null)),
        fc.dictionary(fc.oneof(names, fc.string()), tie('tree'), { maxKeys: 6 }),
        fc.array(tie('tree'), { maxLength: 4 }),
      ),
    }));
    const twisted = fc.tuple(goodSpecs, names, tree)
      .map(([spec, name, value]) => rawRequest({ spec: { ...spec, [name]: value } }));
    fc.assert(
      fc.property(fc.oneof(tree, twisted, fc.anything()), (raw) => {
        const reading = readCapacityRequest(raw);
        expect(reading._tag === 'Readable' || reading.problems.length > 0).toBe(true);
      }),
      { numRuns: 10_000 },
    );
  });
});
