/** The index of pods that must leave. */
import { expect, test } from 'vitest';
import { EvictionIndex } from '../../../../src/domain/drain/eviction-index.ts';
import { podOf } from '../../../support/drains/drain-facts.ts';

test('eviction index: a pod that was removed is on no node any more', () => {
  const index = new EvictionIndex({
    isKubeletSilent: () => false,
    now: () => 0,
    monotonic: () => 0,
    cached: () => undefined,
    interceptionOf: () => undefined,
    isServing: () => false,
    isOutdated: () => false,
  });
  const [stays, leaves] = ['a', 'b'].map((name) =>
    index.add(podOf({ name }), {
      node: 'n1',
      owner: 'reclaim',
      deadlineMonotonicMs: null,
      drainSinceMs: 0,
      podsLeft: () => 2,
    })
  );
  expect(index.ofNode('n1')).toEqual([stays, leaves]);
  if (leaves !== undefined) index.remove(leaves);
  expect(index.ofNode('n1')).toEqual([stays]);
});
