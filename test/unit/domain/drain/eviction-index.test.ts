/** The index of pods that must leave. */
import { expect, test } from 'vitest';
import { EvictionIndex } from '../../../../src/domain/drain/eviction-index.ts';
import { podOf } from '../../../support/drains/drain-facts.ts';

const newIndex = () =>
  new EvictionIndex({
    isKubeletSilent: () => false,
    now: () => 0,
    monotonic: () => 0,
    cached: () => undefined,
    interceptionOf: () => undefined,
    isServing: () => false,
    isGateHeld: () => false,
    isOutdated: () => false,
  });

const requestOf = (owner: 'reclaim' | 'disabled', deadlineMonotonicMs: number | null) => ({
  node: 'n1',
  owner,
  deadlineMonotonicMs,
  drainSinceMs: 0,
  podsLeft: () => 2,
});

test('eviction index: a pod that was removed is on no node any more', () => {
  const index = newIndex();
  const [stays, leaves] = ['a', 'b'].map((name) =>
    index.add(podOf({ name }), requestOf('reclaim', null))
  );
  expect(index.ofNode('n1')).toEqual([stays, leaves]);
  if (leaves !== undefined) index.remove(leaves);
  expect(index.ofNode('n1')).toEqual([stays]);
});

test('eviction index: the terms of an owner that withdraws go with it', () => {
  const index = newIndex();
  const entry = index.add(podOf(), requestOf('disabled', null));
  index.request(entry, requestOf('reclaim', 5000));
  expect(entry.terms.deadlineMs).toBe(5000);
  expect(index.withdraw(entry, 'reclaim')).toBe(false);
  expect(entry.terms.deadlineMs).toBe(Infinity);
});
