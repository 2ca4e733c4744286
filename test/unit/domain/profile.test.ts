/** Requirements and profiles in canonical order. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  canonicalSpread,
  type Profile,
  profileFingerprint,
  type TopologySpread,
} from '../../../src/domain/profile.ts';
import { canonicalRequirements, withSame } from '../../../src/domain/requirements.ts';
import type { Requirement } from '../../../src/domain/resources.ts';

const plain: Profile = {
  requirements: [],
  priority: 0,
  spread: [],
  interruptionBucket: 0,
  reclamationBucket: 0,
};

const requirements: fc.Arbitrary<Requirement> = fc.record({
  key: fc.constantFrom('a', 'b'),
  operator: fc.constantFrom('In', 'NotIn', 'Exists', 'DoesNotExist'),
  values: fc.array(fc.constantFrom('x', 'y', 'z'), { maxLength: 3 }),
});

describe('canonicalRequirements', () => {
  it('fingerprint: orders by key, then by operator number, and sorts values', () => {
    expect(canonicalRequirements([
      { key: 'b', operator: 'In', values: ['2', '10'] },
      { key: 'a', operator: 'Same', values: [] },
      { key: 'a', operator: 'DoesNotExist', values: [] },
      { key: 'a', operator: 'NotIn', values: ['x'] },
    ])).toEqual([
      { key: 'a', operator: 'NotIn', values: ['x'] },
      { key: 'a', operator: 'DoesNotExist', values: [] },
      { key: 'a', operator: 'Same', values: [] },
      { key: 'b', operator: 'In', values: ['10', '2'] },
    ]);
  });

  it('gives the same list for every order and repetition, and is idempotent', () => {
    fc.assert(
      fc.property(fc.array(requirements, { maxLength: 5 }), (list) => {
        const canonical = canonicalRequirements(list);
        expect(canonicalRequirements([...list, ...list].reverse())).toEqual(canonical);
        expect(canonicalRequirements(canonical)).toEqual(canonical);
      }),
    );
  });
});

describe('withSame', () => {
  it('adds Same on the topology key, and is idempotent', () => {
    const once = withSame([{ key: 'z', operator: 'Exists', values: [] }], 'rack');
    expect(once).toEqual([
      { key: 'rack', operator: 'Same', values: [] },
      { key: 'z', operator: 'Exists', values: [] },
    ]);
    expect(withSame(once, 'rack')).toEqual(once);
  });
});

describe('profileFingerprint', () => {
  it('fingerprint: spells priority, buckets, requirements and spread', () => {
    const spread: readonly TopologySpread[] = [
      { topologyKey: 'zone', maxSkew: 2, whenUnsatisfiable: 'ScheduleAnyway' },
      { topologyKey: 'rack', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' },
    ];
    const requirements = canonicalRequirements([
      { key: 'zone', operator: 'In', values: ['b', 'a'] },
      { key: 'gpu', operator: 'Exists', values: [] },
    ]);
    expect(profileFingerprint({
      requirements,
      priority: -5,
      spread: canonicalSpread(spread),
      interruptionBucket: 27,
      reclamationBucket: 1,
    })).toBe('p=-5|ipb=27|rpb=1|reqs=gpu:3:;zone:1:a,b;|spr=rack:1:1;zone:2:2;');
  });

  it('distinguishes texts that contain separators', () => {
    const of = (values: readonly string[]): string =>
      profileFingerprint({ ...plain, requirements: [{ key: 'k', operator: 'In', values }] });
    expect(of(['a,b'])).not.toBe(of(['a', 'b']));
    expect(of(['a;k:1:b'])).not.toBe(of(['a%3Bk%3A1%3Ab']));
  });
});
