/** Nodes that go offline together. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type OfflineNode,
  STORM_LIMITS,
  stormNodes,
} from '../../../../src/domain/node-availability/offline-storm.ts';

const MINUTE_MS = 60_000;

const offline = (count: number, traits: Partial<OfflineNode> = {}): readonly OfflineNode[] =>
  Array.from({ length: count }, (_, index) => ({
    name: `node-${index}`,
    sinceMs: MINUTE_MS,
    isProtected: false,
    ...traits,
  }));

const of = (nodes: number, limitPercent = 20) => ({ nodes, limitPercent });

test.each([
  ['RS-06: three nodes are no storm, however small the cluster', offline(3), of(4), 0],
  ['RS-06: four of ten nodes are a storm', offline(4), of(10), 4],
  ['RS-06: a fifth of all nodes is no storm', offline(4), of(20), 0],
  ['RS-06: more than a fifth is one', offline(5), of(20), 5],
  [
    'RS-06: nodes that went one after another are none',
    offline(9, { sinceMs: 301_000 }),
    of(10),
    0,
  ],
  ['RS-06: nodes that were handled before do not count', offline(9, { sinceMs: null }), of(10), 0],
  [
    'RS-06: protected nodes count for as long as they are away',
    offline(4, { sinceMs: 3_600_000, isProtected: true }),
    of(10),
    4,
  ],
  ['RS-06: a limit of 100 turns the guard off', offline(10), of(10, 100), 0],
])('%s', (_, nodes, terms, count) => {
  expect(stormNodes(nodes, terms)).toHaveLength(count);
});

test('RS-06: a storm has more than three nodes and more than the limit, and only those', () => {
  const nodes = fc.array(fc.record({
    name: fc.string(),
    sinceMs: fc.option(fc.nat(600_000)),
    isProtected: fc.boolean(),
  }));
  let storms = 0;
  fc.assert(
    fc.property(nodes, fc.nat(10), fc.integer({ min: 1, max: 100 }), (all, more, limit) => {
      const total = all.length + more;
      const storm = stormNodes(all, { nodes: total, limitPercent: limit });
      const counted = all.filter(({ sinceMs, isProtected }) =>
        isProtected || (sinceMs !== null && sinceMs <= STORM_LIMITS.windowMs)
      );
      const isStorm = counted.length > STORM_LIMITS.nodes &&
        counted.length * 100 > limit * total;
      if (isStorm) storms += 1;
      expect(storm).toEqual(isStorm ? counted.map(({ name }) => name).toSorted() : []);
    }),
  );
  expect(storms).toBeGreaterThan(0);
});
