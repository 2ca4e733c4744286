/** Which pod gets a free slot. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compareCandidates,
  type EvictionCandidate,
  firstCandidate,
  interruptedEvictions,
} from '../../../../src/domain/drain/eviction-rank.ts';
import { uid } from '../../../../src/domain/ids.ts';
import { budgetOf, podOf } from '../../../support/drains/drain-facts.ts';

const candidate = (
  podName: string,
  traits: Partial<EvictionCandidate> = {},
): EvictionCandidate => ({
  pod: uid(`uid-${podName}`),
  podName,
  priority: 0,
  node: 'n1',
  drainClass: 'reclaim',
  deadlineMs: 600_000,
  drainSinceMs: 0,
  nodePriority: 3,
  podsLeft: 5,
  isOutdated: false,
  ...traits,
});

const charged = budgetOf({ status: { disruptedPods: { z: '2026-01-01T00:00:00Z' } } });
const view = { budget: charged, nowMs: 0 };

const some = fc.record({
  podName: fc.constantFrom('a', 'b', 'z'),
  node: fc.constantFrom('n1', 'n2'),
  deadlineMs: fc.constantFrom(1, 70_000),
  podsLeft: fc.constantFrom(1, 2),
}).map(({ podName, ...traits }) => candidate(podName, traits));

const orderAt = (nowMs: number, left: EvictionCandidate, right: EvictionCandidate): number =>
  Math.sign(compareCandidates(left, right, { ...view, nowMs }));

describe('firstCandidate', () => {
  it.each<[string, EvictionCandidate, EvictionCandidate]>([
    [
      'a pod whose eviction was cut short before any class',
      candidate('z'),
      candidate('a', { drainClass: 'emergency' }),
    ],
    [
      'RS-15: an old revision before a new one of the same node',
      candidate('b', { isOutdated: true }),
      candidate('a'),
    ],
    [
      'RS-15: the node that empties first before an old revision elsewhere',
      candidate('a', { nodePriority: 2 }),
      candidate('b', { isOutdated: true, node: 'n0' }),
    ],
    [
      'an emergency before a near deadline',
      candidate('b', { drainClass: 'emergency' }),
      candidate('a', { deadlineMs: 1000 }),
    ],
    [
      'a reclaim before a maintenance',
      candidate('b'),
      candidate('a', { drainClass: 'maintenance' }),
    ],
    [
      'a deadline less than 60 s away before the emptier node',
      candidate('b', { deadlineMs: 59_999 }),
      candidate('a', { podsLeft: 1, deadlineMs: 60_000 }),
    ],
    [
      'a node that is further ahead in line before the emptier one',
      candidate('b', { nodePriority: 2 }),
      candidate('a', { podsLeft: 1 }),
    ],
    ['the node with the fewest pods left', candidate('b', { podsLeft: 4 }), candidate('a')],
    ['the older drain', candidate('b'), candidate('a', { drainSinceMs: 1 })],
    ['the first node by name', candidate('b'), candidate('a', { node: 'n2' })],
    ['the lower priority', candidate('b', { priority: -1 }), candidate('a')],
    ['the first pod by name', candidate('a'), candidate('b')],
  ])('DR-34: a free slot goes to %s', (_, first, second) => {
    expect(firstCandidate([second, first], view)).toBe(first);
    expect(firstCandidate([first, second], view)).toBe(first);
  });

  it('is undefined without candidates', () => {
    expect(firstCandidate([], view)).toBeUndefined();
  });

  it('DR-34: empties nodes one after another', () => {
    const left = new Map([['n1', 3], ['n2', 3], ['n3', 3]]);
    const waiting = [...left.keys()].flatMap((node) =>
      [1, 2, 3].map((at) => ({ name: `${node}-${at}`, node }))
    );
    const order: string[] = [];
    while (waiting.length > 0) {
      const next = firstCandidate(
        waiting.map(({ name, node }) => candidate(name, { node, podsLeft: left.get(node) ?? 0 })),
        view,
      );
      if (next === undefined) break;
      waiting.splice(waiting.findIndex(({ name }) => name === next.podName), 1);
      left.set(next.node, (left.get(next.node) ?? 0) - 1);
      order.push(next.node);
    }
    expect(order.join(' ')).toBe('n1 n1 n1 n2 n2 n2 n3 n3 n3');
  });

  it('is a total order', () => {
    fc.assert(fc.property(some, some, some, (a, b, c) => {
      expect(orderAt(0, a, b) + orderAt(0, b, a)).toBe(0);
      if (orderAt(0, a, b) < 0 && orderAt(0, b, c) < 0) expect(orderAt(0, a, c)).toBe(-1);
    }));
  });

  it('DR-34: depends on the time that is left, not on the time of day', () => {
    const at = (nowMs: number, { deadlineMs, drainSinceMs, ...more }: EvictionCandidate) => ({
      ...more,
      deadlineMs: deadlineMs + nowMs,
      drainSinceMs: drainSinceMs + nowMs,
    });
    fc.assert(fc.property(some, some, fc.nat({ max: 2e12 }), (a, b, nowMs) => {
      expect(orderAt(nowMs, at(nowMs, a), at(nowMs, b))).toBe(orderAt(0, a, b));
    }));
  });
});

describe('interruptedEvictions', () => {
  const at = Date.UTC(2026, 0, 1);

  it('DR-34: a listed pod that is not terminating holds a slot for two minutes', () => {
    const pods = [podOf({ name: 'z' }), podOf({ name: 'a' })];
    const until = [{ podName: 'z', untilMs: at + 120_000 }];
    expect(interruptedEvictions(charged, pods, at + 119_999)).toEqual(until);
    expect(interruptedEvictions(charged, pods, at + 120_000)).toEqual([]);
  });

  it('a listed pod that is terminating was not interrupted', () => {
    const leaving = podOf({ name: 'z', deletion: '2026-01-01T00:00:00Z' });
    expect(interruptedEvictions(charged, [leaving], at)).toEqual([]);
  });

  it('sorts by the slot that is freed first', () => {
    const budget = budgetOf({
      status: { disruptedPods: { a: '2026-01-01T00:00:05Z', z: '2026-01-01T00:00:00Z' } },
    });
    const pods = [podOf({ name: 'z' }), podOf({ name: 'a' })];
    const names = (counted: typeof budget) =>
      interruptedEvictions(counted, pods, at).map(({ podName }) => podName);
    expect(names(budget)).toEqual(['z', 'a']);
    const sameTime = { a: '2026-01-01T00:00:00Z', z: '2026-01-01T00:00:00Z' };
    expect(names(budgetOf({ status: { disruptedPods: sameTime } }))).toEqual(['a', 'z']);
  });
});
