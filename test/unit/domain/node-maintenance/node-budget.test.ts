/** How many nodes of a NodeMaintenance are under way at once. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type BudgetedNode,
  isReleased,
  nextWave,
  nodesAtOnce,
  nodesToAdmit,
} from '../../../../src/domain/node-maintenance/node-budget.ts';
import {
  NODE_STATES,
  type NodeCount,
  type NodeState,
} from '../../../../src/domain/node-maintenance/observed-maintenance.ts';

const node = (name: string, state: NodeState = 'Waiting', topology = ''): BudgetedNode => ({
  name,
  topology,
  state,
});
const exactly = (nodes: number): NodeCount => ({ _tag: 'Number', nodes });
const share = (percent: number): NodeCount => ({ _tag: 'Percent', percent });

describe('maxNodesAtOnce', () => {
  test.each([
    [null, 12, 12],
    [null, 1200, 1000],
    [exactly(3), 12, 3],
    [exactly(3), 2, 3],
    [exactly(5000), 5000, 1000],
    [share(25), 12, 3],
    [share(25), 11, 2],
    [share(1), 12, 1],
    [share(100), 12, 12],
    [share(50), 0, 1],
  ])('%j of %d nodes is %d', (count, matching, expected) => {
    expect(nodesAtOnce(count, matching)).toBe(expected);
  });

  test('admits by name, and counts the nodes that are under way', () => {
    const nodes = [node('c'), node('b'), node('a', 'Admitted'), node('d'), node('e', 'Released')];
    expect(nodesToAdmit(nodes, exactly(3))).toEqual(['b', 'c']);
    expect(nodesToAdmit(nodes, null)).toEqual(['b', 'c', 'd']);
    expect(nodesToAdmit(nodes, exactly(1))).toEqual([]);
  });

  test('counts a node that yields, because it comes back', () => {
    expect(nodesToAdmit([node('a', 'Yielding'), node('b')], exactly(1))).toEqual([]);
  });

  test('holds for each value of the topology key', () => {
    const nodes = [
      ...[node('a1', 'Admitted', 'a'), node('a2', 'Waiting', 'a')],
      ...[node('b1', 'Waiting', 'b'), node('b2', 'Waiting', 'b')],
      node('c1'),
    ];
    expect(nodesToAdmit(nodes, exactly(1))).toEqual(['c1', 'b1']);
    expect(nodesToAdmit(nodes, share(100))).toEqual(['c1', 'a2', 'b1', 'b2']);
  });

  test('nodes that joined after the work began come last', () => {
    const nodes = [{ ...node('a'), joinedSince: true }, node('b', 'Admitted'), node('c')];
    expect(nodesToAdmit(nodes, exactly(2))).toEqual(['c']);
    expect(nodesToAdmit(nodes, exactly(3))).toEqual(['c', 'a']);
  });

  test('a wave has the number after the last', () => {
    expect(nextWave([])).toBe(1);
    expect(nextWave([{ wave: 2 }, { wave: 0 }])).toBe(3);
  });
});

describe('releaseWhen', () => {
  const drained = { drained: true, drainedBootId: 'b1', bootId: 'b1', doneFor: '' };

  test('Drained releases a node when its pods have left', () => {
    expect(isReleased(drained, 'Drained', 'm')).toBe(true);
    expect(isReleased({ ...drained, drained: false }, 'Drained', 'm')).toBe(false);
  });

  test('Done releases a node that booted again after its drain', () => {
    expect(isReleased(drained, 'Done', 'm')).toBe(false);
    expect(isReleased({ ...drained, bootId: 'b2' }, 'Done', 'm')).toBe(true);
    expect(isReleased({ ...drained, bootId: '' }, 'Done', 'm')).toBe(false);
    expect(isReleased({ ...drained, drainedBootId: '' }, 'Done', 'm')).toBe(false);
    expect(isReleased({ ...drained, drained: false, bootId: 'b2' }, 'Done', 'm')).toBe(false);
  });

  test('Done releases a node that is annotated with this maintenance', () => {
    expect(isReleased({ ...drained, doneFor: 'm' }, 'Done', 'm')).toBe(true);
    expect(isReleased({ ...drained, doneFor: 'other' }, 'Done', 'm')).toBe(false);
    expect(isReleased({ ...drained, doneFor: 'other, m' }, 'Done', 'm')).toBe(true);
    expect(isReleased({ ...drained, doneFor: 'm,other' }, 'Done', 'm')).toBe(true);
    expect(isReleased({ ...drained, doneFor: 'm.2,other-m' }, 'Done', 'm')).toBe(false);
  });
});

const counts = fc.oneof(
  fc.constant(null),
  fc.integer({ min: 1, max: 8 }).map(exactly),
  fc.integer({ min: 1, max: 100 }).map(share),
);
const nodeLists = fc.uniqueArray(
  fc.record({
    name: fc.integer({ min: 0, max: 40 }).map((number) => `n${number}`),
    topology: fc.constantFrom('', 'a', 'b'),
    state: fc.constantFrom(...NODE_STATES),
  }),
  { selector: ({ name }) => name },
);

const underWay = (nodes: readonly BudgetedNode[]): number =>
  nodes.filter(({ state }) => state === 'Admitted' || state === 'Yielding').length;

describe('random budgets', () => {
  test('are never exceeded in any topology, and leave no free slot while nodes wait', () => {
    fc.assert(fc.property(nodeLists, counts, (nodes, count) => {
      const admitted = new Set(nodesToAdmit(nodes, count));
      for (const group of Map.groupBy(nodes, ({ topology }) => topology).values()) {
        const most = nodesAtOnce(count, group.length);
        const before = underWay(group);
        const added = group.filter(({ name }) => admitted.has(name));
        const waiting = group.filter(({ state }) => state === 'Waiting').length;
        expect(added.every(({ state }) => state === 'Waiting')).toBe(true);
        expect(added.length).toBe(Math.min(waiting, Math.max(0, most - before)));
      }
    }));
  });

  test('admit every node once when nodes are released in any order', () => {
    fc.assert(fc.property(nodeLists, counts, fc.infiniteStream(fc.nat()), (drawn, count, draws) => {
      let nodes: readonly BudgetedNode[] = drawn.map((one) => ({ ...one, state: 'Waiting' }));
      const admitted: string[] = [];
      const setState = (names: readonly string[], state: NodeState): void => {
        nodes = nodes.map((one) => names.includes(one.name) ? { ...one, state } : one);
      };
      for (;;) {
        const wave = nodesToAdmit(nodes, count);
        admitted.push(...wave);
        setState(wave, 'Admitted');
        const active = nodes.filter(({ state }) => state === 'Admitted');
        if (active.length === 0) break;
        const released = active[draws.next().value % active.length];
        setState(released === undefined ? [] : [released.name], 'Released');
      }
      expect(admitted.toSorted()).toEqual(drawn.map(({ name }) => name).toSorted());
    }));
  });
});
