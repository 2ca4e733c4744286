/** The bytes of a roll-up, decoded with the generated code. */
import { fromBinary } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import type { Need } from '../../../src/domain/demand/need.ts';
import { clusterId } from '../../../src/domain/ids.ts';
import { rollupFrames } from '../../../src/effects/rollup-frame.ts';
import { OperatorMessageSchema } from '../../../src/gen/bigfleet/v1alpha1/shard_pb.ts';

const plain: Need = {
  key: 'plain',
  requirements: [{ key: 'zone', operator: 'In', values: ['a', 'b'] }],
  aggregateResources: { cpu: '10', memory: '1536Mi' },
  minUnit: { cpu: '2', memory: '512Mi' },
  priority: -5,
  spread: [{ topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }],
  interruptionBucket: 0,
  reclamationBucket: 27,
  group: '',
  requests: 5,
};
const together: Need = {
  ...plain,
  key: 'together',
  requirements: [{ key: 'rack', operator: 'Same', values: [] }],
  spread: [],
  group: 'ns/rack',
};

const frames = (limit?: number) => rollupFrames(clusterId('prod-1'), limit);
const rollupOf = (needs: readonly Need[], number = 1) => ({
  number,
  builtAtMs: 1_700_000_000_123,
  needs,
  unacknowledged: [],
});
const decoded = (frame: ReturnType<ReturnType<typeof rollupFrames>>) => {
  if (frame._tag !== 'Encoded') throw new Error(frame._tag);
  const { payload } = fromBinary(OperatorMessageSchema, frame.bytes);
  if (payload.case !== 'rollup') throw new Error(String(payload.case));
  return payload.value;
};

describe('rollupFrames', () => {
  test('wire 2: a roll-up carries the complete demand, field by field', () => {
    const rollup = decoded(frames()(rollupOf([plain, together])));
    expect([rollup.clusterId, rollup.timestampUnixNanos])
      .toEqual(['prod-1', 1_700_000_000_123_000_000n]);
    expect(rollup.needs).toMatchObject([
      {
        requirements: [{ key: 'zone', operator: 1, values: ['a', 'b'] }],
        aggregateResources: { cpu: '10', memory: '1536Mi' },
        minUnit: { cpu: '2', memory: '512Mi' },
        priority: -5,
        spread: [{ topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 1 }],
        interruptionPenaltyBucket: 0,
        reclamationPenaltyBucket: 27,
        group: '',
      },
      { requirements: [{ key: 'rack', operator: 5, values: [] }], spread: [], group: 'ns/rack' },
    ]);
  });

  test('an empty demand is an empty roll-up', () => {
    expect(decoded(frames()(rollupOf([]))).needs).toEqual([]);
  });

  test('a need of any length has its length prefix', () => {
    for (const length of [1, 100, 127, 128, 200, 16_383, 16_384, 70_000]) {
      const group = 'g'.repeat(length);
      const rollup = decoded(frames()(rollupOf([{ ...plain, group }, together])));
      expect(rollup.needs.map((need) => need.group.length)).toEqual([length, 7]);
    }
  });

  test('an unchanged need is not encoded again', () => {
    const encode = frames();
    let readings = 0;
    const counted: Need = {
      ...plain,
      get aggregateResources() {
        readings += 1;
        return plain.aggregateResources;
      },
    };
    const first = encode(rollupOf([counted, together]));
    const readOnce = readings;
    expect(decoded(encode(rollupOf([counted, together], 2)))).toEqual(decoded(first));
    expect(readings).toBe(readOnce);
  });

  test('a roll-up over the frame limit is reported with its size and its largest needs', () => {
    const large: Need = { ...plain, key: 'large', group: 'g'.repeat(5000), requests: 900 };
    const frame = frames(4096)(rollupOf([plain, large, together]));
    expect(frame).toMatchObject({ _tag: 'TooLarge', limit: 4096 });
    if (frame._tag !== 'TooLarge') return;
    expect(frame.bytes).toBeGreaterThan(5000);
    expect(frame.largest.map(({ need, requests }) => [need, requests])).toEqual([
      ['large', 900],
      ['plain', 5],
      ['together', 5],
    ]);
    const whole = frames()(rollupOf([plain, large, together]));
    expect(whole._tag === 'Encoded' && whole.bytes.length).toBe(frame.bytes);
  });
});
