/** The stand-in fleet names profiles as the shard does. */
import { createHash } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { availableKey, profileFingerprint } from '../src/fingerprint.ts';
import { CapacityNeedSchema } from '../src/gen/bigfleet/v1alpha1/capacity_pb.ts';

describe('fleet fingerprint', () => {
  test('of a GPU profile is the golden one, and so is its name', () => {
    const need = create(CapacityNeedSchema, {
      priority: 1_000_000,
      requirements: [
        { key: 'node.kubernetes.io/instance-type', operator: 1, values: ['a3-highgpu-8g'] },
      ],
    });
    const key = availableKey(profileFingerprint(need));
    expect(key).toBe(
      'available:p=1000000|ipb=0|rpb=0|reqs=node.kubernetes.io/instance-type:1:a3-highgpu-8g;|spr=',
    );
    expect(`ac-${createHash('sha256').update(key).digest('hex').slice(0, 32)}`)
      .toBe('ac-c1e0f71c92d76ecb4932359515c143ee');
  });

  test('does not depend on the order of requirements, values or spread', () => {
    const zone = { key: 'zone', operator: 1, values: ['b', 'a'] } as const;
    const gpu = { key: 'gpu', operator: 3, values: [] } as const;
    const notB = { key: 'zone', operator: 2, values: ['c'] } as const;
    const spread = [
      { topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 1 },
      { topologyKey: 'host', maxSkew: 2, whenUnsatisfiable: 2 },
    ] as const;
    const one = create(CapacityNeedSchema, {
      requirements: [
        { ...notB, values: ['c'] },
        { ...zone, values: ['b', 'a'] },
        { ...gpu, values: [] },
      ],
      spread: [...spread],
      interruptionPenaltyBucket: 4,
      reclamationPenaltyBucket: 27,
    });
    expect(profileFingerprint(one)).toBe(
      'p=0|ipb=4|rpb=27|reqs=gpu:3:;zone:1:a,b;zone:2:c;|spr=host:2:2;zone:1:1;',
    );
    expect(profileFingerprint({ ...one, requirements: one.requirements.toReversed() })).toBe(
      profileFingerprint(one),
    );
  });
});
