/** CapacityRequests for tests, and their demand added up in the plainest way. */
import fc from 'fast-check';
import type { CapacityRequestProjection } from '../../../src/domain/demand/request.ts';
import type { JsonRecord } from '../../../src/domain/json.ts';
import { addQuantities, compareQuantities, type Quantity } from '../../../src/domain/quantity.ts';

/** What varies between requests of one test. */
export interface RequestTraits {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly phase?: string;
  readonly spec?: JsonRecord;
}

/** A CapacityRequest as the API server returns it; requests one CPU by default. */
export const rawRequest = (parts: RequestTraits = {}): JsonRecord => ({
  apiVersion: 'bigfleet.lucy.sh/v1alpha1',
  kind: 'CapacityRequest',
  metadata: {
    name: parts.name ?? 'a',
    namespace: parts.namespace ?? 'default',
    uid: parts.uid ?? `uid-of-${parts.name ?? 'a'}`,
    resourceVersion: parts.resourceVersion ?? '1',
  },
  spec: { resources: { cpu: '1' }, priority: 0, ...parts.spec },
  ...(parts.phase === undefined ? {} : { status: { phase: parts.phase } }),
});

const labelKeys = fc.constantFrom('zone', 'arch', 'example.com/type');
const labelValues = fc.constantFrom('a', 'b', 'c');

const requirements = fc.oneof(
  fc.record({
    key: labelKeys,
    operator: fc.constantFrom('In', 'NotIn'),
    values: fc.array(labelValues, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ key: labelKeys, operator: fc.constantFrom('Exists', 'DoesNotExist') }),
);

const spreads = fc.record({
  maxSkew: fc.integer({ min: 1, max: 2 }),
  topologyKey: labelKeys,
  whenUnsatisfiable: fc.constantFrom('DoNotSchedule', 'ScheduleAnyway'),
});

const coLocations = fc.record({
  topologyKey: labelKeys,
  labelSelector: fc.record({ matchLabels: fc.dictionary(labelKeys, labelValues, { maxKeys: 2 }) }),
}, { requiredKeys: ['topologyKey'] });

const amounts = fc.constantFrom(
  '0',
  '0Ki',
  '1',
  '500m',
  '1000m',
  '0.5Ki',
  '512',
  '1Gi',
  '1073741824',
  '512Mi',
  '1G',
  '1e3',
  3,
);
const resourceMaps = fc.dictionary(fc.constantFrom('cpu', 'memory', 'gpu'), amounts, {
  maxKeys: 3,
});
const penalties = fc.constantFrom('0', '0.5', '500m', '3', '20M');

/** Specs that can be read. */
export const goodSpecs: fc.Arbitrary<JsonRecord> = fc.record({
  requirements: fc.array(requirements, { maxLength: 2 }),
  resources: resourceMaps,
  priority: fc.constantFrom(0, 10),
  topologySpread: fc.array(spreads, { maxLength: 1 }),
  coLocation: coLocations,
  interruptionPenalty: penalties,
  reclamationPenalty: penalties,
}, { requiredKeys: ['resources', 'priority'] });

/** Valid specs from few distinct values, so that most requests aggregate into one need. */
export const similarSpecs: fc.Arbitrary<JsonRecord> = fc.record({
  resources: resourceMaps,
  priority: fc.constantFrom(0, 0, 0, 10),
});

/** Specs with one defect. */
export const badSpecs: fc.Arbitrary<JsonRecord> = fc.constantFrom<JsonRecord>(
  { resources: { cpu: 'many' } },
  { resources: { cpu: '-1' } },
  { interruptionPenalty: '-1' },
  { requirements: [{ key: 'a', operator: 'Near' }] },
  { priority: 0.5 },
);

/** A need as the plain sum below gives it: everything but the order in which formats met. */
export interface PlainNeed {
  readonly key: string;
  readonly sums: Readonly<Record<string, bigint>>;
  readonly maxima: Readonly<Record<string, bigint>>;
  readonly requests: number;
}

const larger = (one: Quantity, other: Quantity): Quantity =>
  compareQuantities(one, other) < 0 ? other : one;

const combined = (
  requests: readonly CapacityRequestProjection[],
  combine: (one: Quantity, other: Quantity) => Quantity,
): Readonly<Record<string, bigint>> => {
  const totals = new Map<string, Quantity>();
  for (const { reading } of requests) {
    if (reading._tag !== 'Readable') continue;
    for (const { resource, quantity } of reading.amounts.list) {
      const sofar = totals.get(resource);
      totals.set(resource, sofar === undefined ? quantity : combine(sofar, quantity));
    }
  }
  return Object.fromEntries([...totals].map(([resource, { nanos }]) => [resource, nanos]));
};

/** The demand of valid requests, computed from scratch. */
export const plainDemand = (
  requests: readonly CapacityRequestProjection[],
): readonly PlainNeed[] => {
  const groups = Map.groupBy(
    requests,
    ({ reading }) => reading._tag === 'Readable' ? reading.terms.key : '',
  );
  return [...groups].map(([key, members]) => ({
    key,
    sums: combined(members, addQuantities),
    maxima: combined(members, larger),
    requests: members.length,
  })).sort((left, right) => left.key < right.key ? -1 : 1);
};
