/** Incremental demand compared with demand computed from scratch. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Demand, makeDemand } from '../../../../src/domain/demand/demand.ts';
import type { Need } from '../../../../src/domain/demand/need.ts';
import { readCapacityRequest, type Reading } from '../../../../src/domain/demand/reading.ts';
import {
  type CapacityRequestProjection,
  capacityRequestProjector,
} from '../../../../src/domain/demand/request.ts';
import { objectKey } from '../../../../src/domain/ids.ts';
import { parseQuantity } from '../../../../src/domain/quantity.ts';
import type { ResourceMap } from '../../../../src/domain/resources.ts';
import {
  badSpecs,
  goodSpecs,
  plainDemand,
  type PlainNeed,
  rawRequest,
  type RequestTraits,
  similarSpecs,
} from '../../../support/demand/capacity-requests.ts';

const project = capacityRequestProjector();

const request = (parts: RequestTraits = {}): CapacityRequestProjection => {
  const projection = project(rawRequest(parts));
  if (projection === undefined) throw new Error('A request without an identity');
  return projection;
};

const demandOf = (...parts: readonly RequestTraits[]): Demand => {
  const demand = makeDemand();
  for (const one of parts) demand.observe(request(one));
  return demand;
};

const cpu = (amount: string | number, more: RequestTraits = {}): RequestTraits => ({
  ...more,
  spec: { resources: { cpu: amount } },
});

const nanosOf = (resources: ResourceMap): Readonly<Record<string, bigint>> =>
  Object.fromEntries(
    Object.entries(resources).map(([resource, text]) => {
      const reading = parseQuantity(text);
      return [resource, reading._tag === 'Quantity' ? reading.quantity.nanos : -1n];
    }),
  );

const plain = (need: Need): PlainNeed => ({
  key: need.key,
  sums: nanosOf(need.aggregateResources),
  maxima: nanosOf(need.minUnit),
  requests: need.requests,
});

describe('demand', () => {
  it('demand: requests on equal terms are summed, with the largest of each resource', () => {
    const demand = demandOf(
      { name: 'a', spec: { resources: { cpu: '500m', memory: '2Gi' } } },
      { name: 'b', spec: { resources: { cpu: '500m', memory: '1Gi', gpu: 1 } } },
      { name: 'c', spec: { resources: { cpu: '250m' } } },
    );
    expect(demand.needs()).toMatchObject([{
      aggregateResources: { cpu: '1250m', gpu: '1', memory: '3Gi' },
      minUnit: { cpu: '500m', gpu: '1', memory: '2Gi' },
      requests: 3,
    }]);
  });

  it('demand: requirements, priority, spread, buckets and group separate needs', () => {
    const coLocation = { topologyKey: 'rack' };
    const topologySpread = [
      { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' },
    ];
    const specs = [
      {},
      { requirements: [{ key: 'zone', operator: 'Exists' }] },
      { priority: 1 },
      { topologySpread },
      { interruptionPenalty: '0' },
      { reclamationPenalty: '0' },
      { coLocation },
    ];
    const demand = demandOf(...specs.map((spec, index) => ({ name: `r${index}`, spec })));
    expect(demand.needs()).toHaveLength(specs.length);
    demand.observe(request({ name: 'r6', namespace: 'other', spec: { coLocation } }));
    expect(demand.needs()).toHaveLength(specs.length + 1);
  });

  it('finds the next largest when the largest is removed', () => {
    const demand = demandOf(
      cpu('3', { name: 'a' }),
      cpu('2', { name: 'b' }),
      cpu(1, { name: 'c' }),
    );
    demand.forget(objectKey('a', 'default'));
    expect(demand.needs()).toMatchObject([{ minUnit: { cpu: '2' } }]);
    demand.observe(request(cpu('500m', { name: 'b' })));
    expect(demand.needs()).toMatchObject([{ minUnit: { cpu: '1' } }]);
  });

  it('keeps the largest while another request has as much', () => {
    const demand = demandOf(cpu('3', { name: 'a' }), cpu('3', { name: 'b' }));
    demand.forget(objectKey('a', 'default'));
    expect(demand.needs()).toMatchObject([{
      minUnit: { cpu: '3' },
      aggregateResources: { cpu: '3' },
    }]);
  });

  it('is empty when all requests are removed', () => {
    const demand = demandOf({ name: 'a' }, { name: 'b' });
    demand.forget(objectKey('a', 'default'));
    demand.forget(objectKey('b', 'default'));
    demand.forget(objectKey('never', 'default'));
    expect(demand.needs()).toEqual([]);
    expect(demand.size).toBe(0);
    expect(demand.unacknowledged()).toEqual([]);
  });

  it('gives a sum the format of its binary operands, whatever their order', () => {
    const bothOrders = [['1Gi', '1G'], ['1G', '1Gi']].map(([first = '', second = '']) =>
      demandOf(cpu(first, { name: 'a' }), cpu(second, { name: 'b' })).needs()
    );
    expect(bothOrders[0]).toEqual(bothOrders[1]);
  });

  it('gives a sum no format of a zero', () => {
    const zero = demandOf(cpu('0Ki', { name: 'a' }), cpu('1048576', { name: 'b' }));
    expect(zero.needs()).toMatchObject([{ aggregateResources: { cpu: '1048576' } }]);
  });

  it('reports one of two equal maxima, whatever their order', () => {
    const bothOrders = [['1Gi', '1073741824'], ['1073741824', '1Gi']].map((
      [first = '', second = ''],
    ) => demandOf(cpu(first, { name: 'a' }), cpu(second, { name: 'b' })).needs());
    expect(bothOrders[0]).toMatchObject([{ minUnit: { cpu: '1Gi' } }]);
    expect(bothOrders[0]).toEqual(bothOrders[1]);
  });

  it('omits a resource that no request has any more', () => {
    const demand = demandOf(cpu('1', { name: 'a' }), {
      name: 'b',
      spec: { resources: { gpu: 1 } },
    });
    demand.forget(objectKey('b', 'default'));
    expect(demand.needs()).toMatchObject([{
      aggregateResources: { cpu: '1' },
      minUnit: { cpu: '1' },
    }]);
    expect(Object.keys(demand.needs()[0]?.aggregateResources ?? {})).toEqual(['cpu']);
  });

  it('reuses an unchanged need, and the whole list without a change', () => {
    const demand = demandOf({ name: 'a' }, { name: 'b', spec: { priority: 1 } });
    const before = demand.needs();
    expect(demand.needs()).toBe(before);
    demand.observe(request({ name: 'a', resourceVersion: '2', phase: 'Acknowledged' }));
    expect(demand.needs()).toBe(before);
    demand.observe(request({ name: 'a', spec: { resources: { cpu: '7' } } }));
    const [changed, kept] = demand.needs();
    expect(changed).not.toBe(before[0]);
    expect(kept).toBe(before[1]);
  });
});

describe('demand with invalid requests', () => {
  const bad = { resources: { cpu: 'many' } };

  it('wire 2: excludes an invalid request, and reports the others', () => {
    const demand = demandOf({ name: 'a' });
    const observed = demand.observe(request({ name: 'b', spec: bad }));
    expect(observed).toMatchObject({ _tag: 'LeftOut', isNew: true });
    expect(demand.needs()).toMatchObject([{ requests: 1 }]);
    expect(demand.unreadable().map(({ key }) => key)).toEqual(['default/b']);
    demand.forget(objectKey('b', 'default'));
    expect(demand.unreadable()).toEqual([]);
  });

  it('wire 5: keeps nothing of a deleted request with the same name', () => {
    const demand = demandOf(cpu('4', { uid: 'first' }));
    const observed = demand.observe(request({ uid: 'second', spec: bad }));
    expect(observed).toMatchObject({ _tag: 'LeftOut' });
    expect(demand.needs()).toEqual([]);
  });

  it('unreadable: is reported once, again when it changes, and again after it was valid', () => {
    const demand = demandOf();
    const isNew = (parts: RequestTraits): boolean => {
      const observed = demand.observe(request(parts));
      return observed._tag !== 'Counted' && observed.isNew;
    };
    expect(isNew({ spec: bad })).toBe(true);
    expect(isNew({ spec: bad, resourceVersion: '2' })).toBe(false);
    expect(isNew({ spec: { priority: 0.5 } })).toBe(true);
    expect(isNew({})).toBe(false);
    expect(isNew({ spec: { priority: 0.5 } })).toBe(true);
    expect(isNew({ spec: { priority: 0.5 }, uid: 'another' })).toBe(true);
  });

  it('offers for acknowledgement requests that count with their current spec', () => {
    const demand = demandOf(
      { name: 'new' },
      { name: 'pending', phase: 'Pending' },
      { name: 'done', phase: 'Acknowledged' },
      { name: 'turned' },
    );
    demand.observe(request({ name: 'turned', spec: bad }));
    demand.observe(request({ name: 'bad', spec: bad }));
    expect(demand.unacknowledged().map(({ key }) => key)).toEqual([
      'default/new',
      'default/pending',
    ]);
    demand.observe(request({ name: 'new', phase: 'Acknowledged' }));
    expect(demand.unacknowledged().map(({ key }) => key)).toEqual(['default/pending']);
  });

  it('removes what a complete list does not have, and reports invalid requests', () => {
    const demand = demandOf({ name: 'a' }, { name: 'b' }, { name: 'gone', spec: bad });
    const reports = demand.observeAll([request({ name: 'b' }), request({ name: 'c', spec: bad })]);
    expect(reports.map((report) => [report.request.key, report.observed._tag]))
      .toEqual([['default/c', 'LeftOut']]);
    expect(demand.size).toBe(1);
    expect(demand.unreadable().map(({ key }) => key)).toEqual(['default/c']);
  });
});

describe('capacityRequestProjector', () => {
  const readable = (parts: RequestTraits) => {
    const { reading } = request(parts);
    if (reading._tag === 'Unreadable') throw new Error('A request that cannot be read');
    return reading;
  };

  /** Equal outlines, equal contributions to the demand. */
  const outline = (reading: Reading) =>
    reading._tag === 'Unreadable' ? reading.problems : [reading.terms, reading.amounts.key];

  it('keeps one copy of equal terms and of equal amounts', () => {
    const [one, other] = [readable(cpu('2', { name: 'a' })), readable(cpu('2', { name: 'b' }))];
    expect(one.terms).toBe(other.terms);
    expect(one.amounts).toBe(other.amounts);
  });

  it('reads every request like the first, whatever it has read before', () => {
    const namespace = fc.constantFrom('default', 'team-a');
    const spec = fc.oneof(similarSpecs, goodSpecs, badSpecs);
    fc.assert(fc.property(fc.array(fc.record({ namespace, spec }), { maxLength: 20 }), (all) => {
      for (const parts of [...all, ...all]) {
        const alone = readCapacityRequest(rawRequest(parts));
        expect(outline(request(parts).reading)).toEqual(outline(alone));
      }
    }));
  });

  it('keeps apart equal values in different formats', () => {
    const formats = ['512', '0.5Ki'].map((amount) => readable(cpu(amount)).amounts.list[0])
      .map((amount) => amount?.quantity.format);
    expect(formats).toEqual(['DecimalSI', 'BinarySI']);
  });

  it('is undefined without a name, UID or version', () => {
    for (const raw of [undefined, null, 7, {}, { metadata: { name: 'a' } }]) {
      expect(project(raw)).toBeUndefined();
    }
  });
});

describe('demand after any sequence', () => {
  type Step =
    | { readonly _tag: 'Observe'; readonly parts: RequestTraits }
    | { readonly _tag: 'Forget'; readonly name: string }
    | { readonly _tag: 'Look' };

  const names = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
  const specs = fc.oneof(
    { weight: 6, arbitrary: similarSpecs },
    { weight: 2, arbitrary: goodSpecs },
    { weight: 1, arbitrary: badSpecs },
  );
  const steps: fc.Arbitrary<Step> = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ name: names, spec: specs })
        .map((parts): Step => ({ _tag: 'Observe', parts })),
    },
    { weight: 2, arbitrary: names.map((name): Step => ({ _tag: 'Forget', name })) },
    { weight: 2, arbitrary: fc.constant<Step>({ _tag: 'Look' }) },
  );

  /** The last valid projection of each existing name. */
  const lastGood = (sequence: readonly Step[]): readonly CapacityRequestProjection[] => {
    const kept = new Map<string, CapacityRequestProjection>();
    for (const step of sequence) {
      if (step._tag === 'Forget') kept.delete(step.name);
      if (step._tag !== 'Observe') continue;
      const projection = request(step.parts);
      if (projection.reading._tag === 'Readable') kept.set(step.parts.name ?? '', projection);
    }
    return [...kept.values()];
  };

  const play = (demand: Demand, sequence: readonly Step[]): void => {
    for (const step of sequence) {
      if (step._tag === 'Observe') demand.observe(request(step.parts));
      else if (step._tag === 'Forget') demand.forget(objectKey(step.name, 'default'));
      else demand.needs();
    }
  };

  it('demand: after any sequence it equals demand computed from scratch', () => {
    fc.assert(
      fc.property(fc.array(steps, { maxLength: 40 }), (sequence) => {
        const demand = makeDemand();
        play(demand, sequence);
        const present = lastGood(sequence);
        expect(demand.needs().map(plain)).toEqual(plainDemand(present));
        expect(demand.size).toBe(present.length);
      }),
      { numRuns: 2000 },
    );
  });

  it('prints the same texts as a demand of only the current requests', () => {
    fc.assert(
      fc.property(fc.array(steps, { maxLength: 40 }), (sequence) => {
        const [long, short] = [makeDemand(), makeDemand()];
        play(long, sequence);
        for (const projection of lastGood(sequence).toReversed()) short.observe(projection);
        expect(long.needs()).toEqual(short.needs());
      }),
      { numRuns: 1000 },
    );
  });
});
