/** Names of objects, and the hash behind them. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { machineId } from '../../../src/domain/ids.ts';
import { availableCapacityName, isSubdomain, upcomingNodeName } from '../../../src/domain/names.ts';
import { profileFingerprint } from '../../../src/domain/profile.ts';
import { sha256Hex } from '../../../src/domain/sha256.ts';

describe('sha256', () => {
  it('agrees with the platform on any text', () => {
    const platform = (text: string): string => createHash('sha256').update(text).digest('hex');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (text) => {
        expect(sha256Hex(text)).toBe(platform(text));
      }),
      { numRuns: 500 },
    );
  });

  it('agrees with the platform where the padding needs another block', () => {
    for (const length of [0, 54, 55, 56, 63, 64, 65, 119, 120, 128]) {
      const text = 'a'.repeat(length);
      expect(sha256Hex(text)).toBe(createHash('sha256').update(text).digest('hex'));
    }
  });
});

describe('upcomingNodeName', () => {
  it('names: is un- and the machine id where that is a DNS-1123 subdomain', () => {
    expect(upcomingNodeName(machineId('m-17.rack-3'))).toBe('un-m-17.rack-3');
  });

  it('names: is un- and a hash where the machine id is not a valid name', () => {
    for (const id of ['', 'Machine', 'a_b', 'a/b', 'ends-', '.a', 'a..b', 'x'.repeat(251), 'ü']) {
      expect(upcomingNodeName(machineId(id))).toMatch(/^un-[0-9a-f]{32}$/);
    }
  });

  it('is always a valid name, and different for different machines', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 260 }), fc.string({ maxLength: 260 }), (one, other) => {
        expect(isSubdomain(upcomingNodeName(machineId(one)))).toBe(true);
        const isEqual = upcomingNodeName(machineId(one)) === upcomingNodeName(machineId(other));
        expect(isEqual).toBe(one === other);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('availableCapacityName', () => {
  it('names: is ac- and 32 digits of the SHA-256 of the supersedes key', () => {
    const fingerprint = profileFingerprint({
      requirements: [{
        key: 'node.kubernetes.io/instance-type',
        operator: 'In',
        values: ['a3-highgpu-8g'],
      }],
      priority: 1_000_000,
      spread: [],
      interruptionBucket: 0,
      reclamationBucket: 0,
    });
    expect(`available:${fingerprint}`).toBe(
      'available:p=1000000|ipb=0|rpb=0|reqs=node.kubernetes.io/instance-type:1:a3-highgpu-8g;|spr=',
    );
    expect(availableCapacityName(`available:${fingerprint}`))
      .toBe('ac-c1e0f71c92d76ecb4932359515c143ee');
  });
});
