/** Built-in objects as Go reads them: unknown fields, wrong types, quantities. */
import { describe, expect, test } from 'vitest';
import type { JsonRecord } from '../src/values/json.ts';
import { makeKinds } from '../src/kinds.ts';
import type { Kind } from '../src/kinds/kind.ts';
import { builtInShaped } from '../src/schema/built-in-fields.ts';
import { KIND_FIELDS } from '../src/gen/kubernetes/fields.ts';

const kindOf = (plural: string, group = ''): Kind => {
  const kind = makeKinds().find(group, 'v1', plural);
  if (kind === undefined) throw new Error(`There is no kind "${plural}"`);
  return kind;
};

const shaped = (object: JsonRecord, kind = kindOf('pods')) => {
  const dropped: string[] = [];
  return { object: builtInShaped(object, kind, (path) => dropped.push(path)), dropped };
};

const container = (more: JsonRecord): JsonRecord => ({
  spec: { containers: [{ name: 'main', ...more }] },
});

describe('fields of built-in kinds', () => {
  test('every built-in kind has its fields', () => {
    const known = Object.keys(KIND_FIELDS);
    for (const { group, version, kind } of makeKinds().all()) {
      expect(known).toContain(`${group === '' ? '' : `${group}/`}${version}/${kind}`);
    }
  });

  test('unknown fields are dropped at every depth, each with its path', () => {
    const { object, dropped } = shaped({
      ...container({ imagee: 'x', ports: [{ containerPort: 1, wrong: 2 }] }),
      specc: {},
    });
    expect(object).toEqual({
      spec: { containers: [{ name: 'main', ports: [{ containerPort: 1 }] }] },
    });
    expect(dropped).toEqual([
      'spec.containers[0].imagee',
      'spec.containers[0].ports[0].wrong',
      'specc',
    ]);
  });

  test('null counts as absent, not as an unknown field', () => {
    const { object, dropped } = shaped({ metadata: { creationTimestamp: null, labels: null } });
    expect([object, dropped]).toEqual([{ metadata: {} }, []]);
  });

  test.each([
    { given: { spec: 'x' }, why: 'cannot unmarshal string into Go struct field Pod.spec' },
    { given: container({ image: 1 }), why: 'Pod.spec.containers[0].image of type string' },
    { given: { spec: { containers: {} } }, why: 'cannot unmarshal object' },
    { given: { spec: { priority: 1.5 } }, why: 'of type int32' },
    { given: { spec: { hostNetwork: 'yes' } }, why: 'of type bool' },
    { given: { metadata: { labels: { a: 1 } } }, why: 'cannot unmarshal number' },
    {
      given: container({ resources: { requests: { cpu: 'much' } } }),
      why: 'quantities must match',
    },
    { given: container({ resources: { requests: { cpu: true } } }), why: 'resource.Quantity' },
  ])('what Go cannot read is refused: $why', ({ given, why }) => {
    expect(() => shaped(given)).toThrow(why);
  });

  test.each([
    { given: 4, kept: '4' },
    { given: 0.5, kept: '500m' },
    { given: '1000m', kept: '1' },
    { given: '2048Mi', kept: '2Gi' },
    { given: '100m', kept: '100m' },
  ])('the quantity $given is kept as $kept', ({ given, kept }) => {
    const { object } = shaped(container({ resources: { limits: { cpu: given } } }));
    expect(object).toEqual(container({ resources: { limits: { cpu: kept } } }));
  });

  test('maps keep their keys, and untyped fields stay unchanged', () => {
    const budget = kindOf('poddisruptionbudgets', 'policy');
    const given = {
      metadata: { annotations: { 'a.b/c': 'd' } },
      spec: { minAvailable: '50%', selector: { matchLabels: { app: 'web' } } },
    };
    expect(shaped(given, budget)).toEqual({ object: given, dropped: [] });
  });
});
