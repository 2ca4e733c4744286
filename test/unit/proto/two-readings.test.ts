/**
 * The operator and the stand-in fleet implement one contract without shared code, and agree on
 * every CapacityRequest.
 */
import { fromBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { makeDemand } from '../../../src/domain/demand/demand.ts';
import {
  type CapacityRequestProjection,
  capacityRequestProjector,
} from '../../../src/domain/demand/request.ts';
import { clusterId } from '../../../src/domain/ids.ts';
import type { JsonRecord } from '../../../src/domain/json.ts';
import { profileFingerprint } from '../../../src/domain/profile.ts';
import { parseQuantity } from '../../../src/domain/quantity.ts';
import { rollupFrames } from '../../../src/effects/rollup-frame.ts';
import { type AcceptedNeed, readRollup } from '../../../packages/stand-in-fleet/src/needs.ts';
import { readQuantity } from '../../../packages/stand-in-fleet/src/quantity.ts';
import { OperatorMessageSchema } from '../../../src/gen/bigfleet/v1alpha1/shard_pb.ts';
import { goodSpecs, rawRequest } from '../../support/demand/capacity-requests.ts';
import { anyQuantityTexts } from '../../support/demand/quantity-texts.ts';

/** Exponents that the operator refuses to send and a shard would have to accept. */
const BEYOND_OUR_LIMIT = /[eE][+-]?0*[1-9]\d{3,}$/;
const CASES = 10_000;
const SEQUENCES = 1000;

const project = (specs: readonly JsonRecord[]): readonly CapacityRequestProjection[] => {
  const projection = capacityRequestProjector();
  return specs.flatMap((spec, index) => projection(rawRequest({ name: `r-${index}`, spec })) ?? []);
};

/** The fleet's reading of the operator's roll-up of these requests. */
const throughTheWire = (requests: readonly CapacityRequestProjection[]) => {
  const demand = makeDemand();
  demand.observeAll(requests);
  const needs = demand.needs();
  const frame = rollupFrames(clusterId('prod'))({
    number: 1,
    builtAtMs: 0,
    needs,
    unacknowledged: [],
  });
  if (frame._tag !== 'Encoded') throw new Error('The roll-up is too large');
  const { payload } = fromBinary(OperatorMessageSchema, frame.bytes);
  if (payload.case !== 'rollup') throw new Error(`A ${payload.case} is no roll-up`);
  const reading = readRollup(payload.value, 'prod', 0);
  if (reading._tag === 'Rejected') throw new Error(`The fleet rejects it: ${reading.why}`);
  return { needs, understood: reading.needs };
};

const total = (amounts: Iterable<readonly [string, bigint]>): ReadonlyMap<string, bigint> => {
  const sum = new Map<string, bigint>();
  for (const [resource, amount] of amounts) sum.set(resource, (sum.get(resource) ?? 0n) + amount);
  return sum;
};

const wanted = (requests: readonly CapacityRequestProjection[]): ReadonlyMap<string, bigint> =>
  total(
    requests.flatMap(({ reading }) =>
      reading._tag === 'Readable'
        ? reading.amounts.list.map(({ resource, quantity }) => [resource, quantity.nanos] as const)
        : []
    ),
  );

const accepted = (needs: readonly AcceptedNeed[]): ReadonlyMap<string, bigint> =>
  total(needs.flatMap(({ aggregate }) => [...aggregate]));

describe('the two implementations of the contract', () => {
  test('agree on what a valid quantity is, and on its value', () => {
    fc.assert(
      fc.property(anyQuantityTexts, (text) => {
        fc.pre(!BEYOND_OUR_LIMIT.test(text));
        const ours = parseQuantity(text);
        expect(readQuantity(text)).toBe(ours._tag === 'Quantity' ? ours.quantity.nanos : undefined);
      }),
      { numRuns: CASES },
    );
  });

  test('agree on the sum of all demand, and no valid request causes a rejection', () => {
    fc.assert(
      fc.property(fc.array(goodSpecs, { maxLength: 12 }), (specs) => {
        const requests = project(specs);
        const { understood } = throughTheWire(requests);
        expect(accepted(understood)).toEqual(wanted(requests));
      }),
      { numRuns: SEQUENCES },
    );
  });

  test('agree on which demand is one need, and on the fingerprint of its profile', () => {
    fc.assert(
      fc.property(fc.array(goodSpecs, { maxLength: 12 }), (specs) => {
        const { needs, understood } = throughTheWire(project(specs));
        expect(new Set(understood.map(({ key }) => key)).size).toBe(needs.length);
        expect(understood.map(({ fingerprint }) => fingerprint))
          .toEqual(needs.map((need) => profileFingerprint(need)));
      }),
      { numRuns: SEQUENCES },
    );
  });
});
