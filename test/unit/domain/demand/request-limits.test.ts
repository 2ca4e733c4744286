/**
 * Regression: one CapacityRequest with 40,000 resource names stalled the process for 36 s, because
 * totals kept their columns in a list that was searched and sorted for each name; the lease was
 * lost, and the standby and every restart stalled in turn.
 */
import { describe, expect, test } from 'vitest';
import { capacityRequest } from '../../../../src/api/capacity-request.ts';
import { structuralSchema } from '../../../../src/api/crd.ts';
import { REQUEST_LIMITS, sizeProblems } from '../../../../src/domain/demand/request-limits.ts';
import { readCapacityRequest } from '../../../../src/domain/demand/reading.ts';
import { capacityRequestProjector } from '../../../../src/domain/demand/request.ts';
import { makeResourceTotals } from '../../../../src/domain/demand/resource-totals.ts';
import { amountsOf } from '../../../../src/domain/demand/terms.ts';
import type { JsonRecord } from '../../../../src/domain/json.ts';
import { requestText } from '../../../../src/domain/pod-demand/request-text.ts';
import { wholeQuantity } from '../../../../src/domain/quantity.ts';
import { rawRequest } from '../../../support/demand/capacity-requests.ts';
import { countedInput, countedSearches } from '../../../support/reads.ts';

const texts = (count: number, text = 'a'): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${text}${index}`);

const resources = (count: number): JsonRecord =>
  Object.fromEntries(texts(count, 'example.com/r').map((name) => [name, '1']));

const requirements = (count: number, values = 1): readonly JsonRecord[] =>
  texts(count, 'k').map((key) => ({ key, operator: 'In', values: texts(values) }));

const { textCharacters, quantityCharacters } = REQUEST_LIMITS;
const long = (length: number): string => 'x'.repeat(length);

/** Per bound: its field, and a spec with `size` of what it counts. */
const BOUNDS: readonly (readonly [string, number, (size: number) => JsonRecord])[] = [
  ['spec.resources', REQUEST_LIMITS.resources, (size) => ({ resources: resources(size) })],
  [
    'spec.resources',
    textCharacters,
    (size) => ({ resources: { [long(size)]: '1' } }),
  ],
  [
    'spec.resources',
    quantityCharacters,
    (size) => ({ resources: { cpu: '1'.padStart(size, '0') } }),
  ],
  [
    'spec.requirements',
    REQUEST_LIMITS.requirements,
    (size) => ({ requirements: requirements(size) }),
  ],
  [
    'spec.requirements[0].values',
    REQUEST_LIMITS.values,
    (size) => ({ requirements: requirements(1, size) }),
  ],
  [
    'spec.requirements[0].values[0]',
    textCharacters,
    (size) => ({ requirements: [{ key: 'a', operator: 'In', values: [long(size)] }] }),
  ],
  [
    'spec.requirements[0].key',
    textCharacters,
    (size) => ({ requirements: [{ key: long(size), operator: 'Exists' }] }),
  ],
  [
    'spec.topologySpread',
    REQUEST_LIMITS.spreads,
    (size) => ({
      topologySpread: texts(size).map((topologyKey) => ({
        topologyKey,
        maxSkew: 1,
        whenUnsatisfiable: 'DoNotSchedule',
      })),
    }),
  ],
  [
    'spec.coLocation.labelSelector.matchLabels',
    REQUEST_LIMITS.labels,
    (size) => ({
      coLocation: {
        topologyKey: 'rack',
        labelSelector: { matchLabels: Object.fromEntries(texts(size).map((key) => [key, 'v'])) },
      },
    }),
  ],
];

describe('a CapacityRequest', () => {
  test.each(BOUNDS)('may reach the bound of %s (%i), and no more', (field, bound, specWith) => {
    const readAt = (size: number) =>
      readCapacityRequest(rawRequest({ spec: { resources: {}, priority: 0, ...specWith(size) } }));
    expect(readAt(bound)).toMatchObject({ _tag: 'Readable' });
    expect(readAt(bound + 1)).toMatchObject({
      _tag: 'Unreadable',
      tooLarge: true,
      problems: [{ field: expect.stringContaining(field) }],
    });
  });

  test('with too many characters in all is too large, though each field is not', () => {
    const spec = { requirements: requirements(50, 1000), resources: {}, priority: 0 };
    expect(sizeProblems(spec)).toEqual([
      expect.objectContaining({ field: 'spec', problem: expect.stringContaining('characters') }),
    ]);
  });

  test('that is invalid and small is not too large', () => {
    const reading = readCapacityRequest(rawRequest({ spec: { resources: { cpu: 'lots' } } }));
    expect(reading).toMatchObject({ _tag: 'Unreadable', tooLarge: false });
  });

  test('with 40,000 resource names is read once, and printed in one pass', () => {
    const spec = { resources: resources(40_000), priority: 0 };
    const project = capacityRequestProjector();
    const read = countedInput(rawRequest({ spec }));
    project(read.input);
    expect(read.reads()).toBeLessThan(41_000);
    const printed = countedInput(spec);
    requestText(printed.input);
    expect(printed.reads()).toBeLessThan(41_000);
  });

  test('has its bounds in the CRD', () => {
    const schema = JSON.stringify(structuralSchema(capacityRequest.spec));
    const { values, spreads, labels } = REQUEST_LIMITS;
    for (
      const bound of [
        `"maxProperties":${REQUEST_LIMITS.resources}`,
        `"maxProperties":${labels}`,
        `"maxItems":${REQUEST_LIMITS.requirements}`,
        `"maxItems":${values}`,
        `"maxItems":${spreads}`,
        `"maxLength":${textCharacters}`,
        `"maxLength":${quantityCharacters}`,
      ]
    ) {
      expect(schema).toContain(bound);
    }
  });
});

test('totals of 40,000 resources search no list of all for each', () => {
  const one = { quantity: wholeQuantity(1n) };
  const amounts = amountsOf(texts(40_000).map((resource) => ({ resource, ...one })));
  const totals = makeResourceTotals();
  const searches = countedSearches();
  totals.add(amounts);
  totals.sums();
  totals.maxima();
  totals.remove(amounts);
  expect(searches()).toBeLessThan(10 * 40_000);
  expect(totals.sums()).toEqual({});
});
