/** The order in which nodes with shared budgets are emptied. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  cachedNodePriority,
  nodePriorities,
  type PendingNode,
} from '../../../../src/domain/drain/node-priority.ts';

const node = (
  name: string,
  waiters: Readonly<Record<string, number>>,
  more: Partial<PendingNode> = {},
): PendingNode => ({
  name,
  drainSinceMs: 0,
  waiters: new Map(Object.entries(waiters)),
  others: 0,
  ...more,
});

const names = (nodes: readonly PendingNode[], slots = 1): readonly string[] => [
  ...nodePriorities(nodes, () => slots).keys(),
];

describe('nodePriorities', () => {
  it('DR-34: orders nodes by remaining pods when they share no budget', () => {
    const nodes = [node('a', { x: 3 }), node('b', { y: 1 }), node('c', {}, { others: 2 })];
    expect(names(nodes)).toEqual(['b', 'c', 'a']);
  });

  it('DR-34: places a node next whose pods need not queue behind earlier ones', () => {
    const nodes = [node('a', { x: 2 }), node('b', { x: 2 }), node('c', { y: 2, z: 1 })];
    expect(names(nodes)).toEqual(['a', 'c', 'b']);
  });

  it('DR-34: a budget with many slots shortens the queue', () => {
    const nodes = [node('a', { x: 1, y: 1 }), node('b', { x: 2 }), node('c', { z: 4 })];
    expect(names(nodes, 1)).toEqual(['a', 'c', 'b']);
    expect(names(nodes, 10)).toEqual(['a', 'b', 'c']);
  });

  it('puts the older drain first, then the first by name', () => {
    const nodes = [
      node('c', { x: 1 }),
      node('b', { y: 1 }),
      node('a', { z: 1 }, { drainSinceMs: 1 }),
    ];
    expect(names(nodes)).toEqual(['b', 'c', 'a']);
  });

  it('gives every node a unique position, whatever the input order', () => {
    const some = fc.uniqueArray(
      fc.record({
        name: fc.string(),
        waiters: fc.dictionary(fc.constantFrom('x', 'y', 'z'), fc.integer({ min: 1, max: 9 })),
        others: fc.integer({ min: 0, max: 9 }),
      }),
      { selector: ({ name }) => name, maxLength: 20 },
    );
    fc.assert(fc.property(some, fc.integer({ min: 1, max: 5 }), (drawn, slots) => {
      const nodes = drawn.map(({ name, waiters, others }) => node(name, waiters, { others }));
      const line = names(nodes, slots);
      expect(line.toSorted()).toEqual(nodes.map(({ name }) => name).toSorted());
      expect(names(nodes.toReversed(), slots)).toEqual(line);
    }));
  });

  it('orders a bounded number of nodes, with the emptiest among them', () => {
    const nodes = Array.from({ length: 1000 }, (_, at) => node(`n${at}`, { x: 1000 - at }));
    const line = names(nodes, 1);
    expect(line.length).toBe(250);
    expect(line[0]).toBe('n999');
  });
});

describe('cachedNodePriority', () => {
  it('DR-34: looks once for all nodes, and after a pause for a new one', () => {
    let nowMs = 0;
    let looks = 0;
    const nodes = [node('a', { x: 3 }), node('b', { y: 1 })];
    const look = () => {
      looks += 1;
      return { nodes: [...nodes], slotsOf: () => 1 };
    };
    const priorityOf = cachedNodePriority(look, () => nowMs);
    expect([priorityOf('b'), priorityOf('a'), looks]).toEqual([0, 1, 1]);
    nodes.push(node('c', { z: 2 }));
    expect(priorityOf('c')).toBeGreaterThan(1);
    expect(looks).toBe(1);
    nowMs = 1000;
    expect([priorityOf('c'), looks]).toEqual([1, 2]);
    expect([priorityOf('b'), priorityOf('a'), looks]).toEqual([0, 2, 2]);
  });
});
