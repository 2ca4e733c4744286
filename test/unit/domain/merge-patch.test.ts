/** Merge patches: the smallest from one object to the other. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mergePatchOf } from '../../../src/domain/merge-patch.ts';
import { mergePatched } from '../../../packages/embedded-kubernetes/src/patches/merge-patch.ts';

const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.array(fc.string()));
const key = fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor');
const object = fc.letrec((tie) => ({
  object: fc.dictionary(key, fc.oneof({ maxDepth: 3 }, leaf, tie('object'))),
})).object;

describe('merge patch', () => {
  test('applied to the current object gives the wanted one', () => {
    fc.assert(fc.property(object, object, (current, wanted) => {
      const patch = mergePatchOf(current, wanted);
      expect(patch === undefined ? current : mergePatched(current, patch)).toEqual(wanted);
    }));
  });

  test('of equal objects is none', () => {
    fc.assert(fc.property(object, (current) => {
      expect(mergePatchOf(current, structuredClone(current))).toBeUndefined();
    }));
  });
});
