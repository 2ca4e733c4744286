/** Whole drains over a cluster in memory: budgets hold, nothing is asked for twice, nodes empty. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { evictionRig } from '../../support/eviction-rig.ts';

const range = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at);

/** `nodes` nodes with `pods` pods each, of apps that have a budget each. */
const spread = async (
  rig: ReturnType<typeof evictionRig>,
  { nodes, pods, apps, unavailable }: {
    readonly nodes: number;
    readonly pods: number;
    readonly apps: number;
    readonly unavailable: number;
  },
): Promise<readonly string[]> => {
  const names = range(nodes).map((at) => `node-${`${at}`.padStart(3, '0')}`);
  let made = 0;
  for (const at of range(pods)) {
    for (const node of names) {
      rig.cluster.addPod({ name: `pod-${made}`, node, app: `app-${(made + at) % apps}` });
      made += 1;
    }
  }
  for (const at of range(apps)) {
    rig.cluster.settle(`app-${at}`);
    rig.cluster.addBudget({ name: `budget-${at}`, app: `app-${at}`, maxUnavailable: unavailable });
  }
  await rig.ready();
  return names;
};

describe('a drain without budgets', () => {
  test('DR-50: a hundred pods leave by a hundred calls, each with its UID', async () => {
    const rig = evictionRig();
    for (const at of range(100)) rig.cluster.addPod({ name: `p${at}`, node: 'n1', app: 'a' });
    await rig.ready();
    const uids = rig.cluster.onNode('n1').map(({ uid }) => uid).toSorted();
    rig.drain('n1');
    const tookMs = await rig.untilEmpty(['n1'], 60_000);
    expect(rig.cluster.calls.map(({ uid }) => uid).toSorted()).toEqual(uids);
    expect(rig.cluster.violations).toEqual([]);
    expect(tookMs).toBeLessThan(2000);
    await rig.stop();
  });
});

describe('drains under budgets', () => {
  test('DR-33: twenty pods behind a budget of one leave by exactly twenty calls', async () => {
    const rig = evictionRig();
    const nodes = await spread(rig, { nodes: 1, pods: 20, apps: 1, unavailable: 1 });
    nodes.forEach(rig.drain);
    const tookMs = await rig.untilEmpty(nodes, 600_000);
    expect(rig.cluster.left('node-000')).toBe(0);
    expect(rig.cluster.calls.length).toBe(20);
    expect(rig.cluster.violations).toEqual([]);
    expect(rig.cluster.mostAtOnce()).toBe(1);
    // A replacement takes three seconds; nothing is waited for besides.
    expect(tookMs).toBeLessThan(20 * 3100);
    await rig.stop();
  });

  test.each([
    { nodes: 20, pods: 30, apps: 30, unavailable: 2, half: 0.6 },
    { nodes: 50, pods: 30, apps: 75, unavailable: 5, half: 0.6 },
  ])(
    'DR-34: of $nodes nodes with $pods pods each half are empty by $half of the time',
    async ({ half, ...shape }) => {
      const rig = evictionRig();
      const nodes = await spread(rig, shape);
      nodes.forEach(rig.drain);
      const tookMs = await rig.untilEmpty(nodes, 3_600_000);
      const times = [...rig.emptiedAt.values()].toSorted((left, right) => left - right);
      expect(times.length).toBe(shape.nodes);
      expect((times[shape.nodes / 2 - 1] ?? Infinity) / tookMs).toBeLessThan(half);
      expect(rig.cluster.calls.length).toBe(shape.nodes * shape.pods);
      expect(rig.cluster.refused()).toBe(0);
      expect(rig.cluster.violations).toEqual([]);
      await rig.stop();
    },
  );

  test('DR-34: nodes empty one after another when writes are scarce and budgets are not', async () => {
    const rig = evictionRig({ pace: { qps: 50 } });
    for (const at of range(400)) {
      rig.cluster.addPod({ name: `p${at}`, node: `n${at % 20}`, app: 'a' });
    }
    await rig.ready();
    const nodes = range(20).map((at) => `n${at}`);
    nodes.forEach(rig.drain);
    const tookMs = await rig.untilEmpty(nodes, 600_000);
    const times = [...rig.emptiedAt.values()].toSorted((left, right) => left - right);
    expect((times[9] ?? Infinity) / tookMs).toBeLessThan(0.6);
    expect(rig.cluster.calls.length).toBe(400);
    expect(rig.cluster.violations).toEqual([]);
    await rig.stop();
  });

  test('DR-51: no call is refused while budgets change only by our doing', async () => {
    const rig = evictionRig({ pace: { watchMs: 20, controllerMs: 5 } });
    const nodes = await spread(rig, { nodes: 10, pods: 20, apps: 12, unavailable: 4 });
    nodes.forEach(rig.drain);
    await rig.untilEmpty(nodes, 3_600_000);
    expect(rig.cluster.calls.length).toBe(200);
    expect(rig.cluster.refused()).toBe(0);
    expect(rig.cluster.violations).toEqual([]);
    await rig.stop();
  });

  test('DR-32: whatever the pace, no more leave than a budget has slots, and all leave', async () => {
    const paces = fc.record({
      watchMs: fc.integer({ min: 0, max: 120 }),
      chargeMs: fc.integer({ min: 0, max: 40 }),
      deleteMs: fc.integer({ min: 0, max: 40 }),
      answerMs: fc.integer({ min: 0, max: 200 }),
      terminationMs: fc.integer({ min: 0, max: 3000 }),
      replacementMs: fc.integer({ min: 1, max: 4000 }),
      controllerMs: fc.integer({ min: 1, max: 300 }),
    });
    const shapes = fc.record({
      nodes: fc.integer({ min: 1, max: 4 }),
      pods: fc.integer({ min: 1, max: 6 }),
      apps: fc.integer({ min: 1, max: 4 }),
      unavailable: fc.integer({ min: 1, max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(paces, shapes, async (pace, shape) => {
        const rig = evictionRig({ pace });
        const nodes = await spread(rig, shape);
        await rig.time.advance(1000);
        nodes.forEach(rig.drain);
        await rig.untilEmpty(nodes, 3_600_000);
        expect(nodes.map(rig.cluster.left)).toEqual(nodes.map(() => 0));
        expect(rig.cluster.violations).toEqual([]);
        expect(rig.cluster.calls.length).toBe(shape.nodes * shape.pods);
        expect(rig.cluster.mostAtOnce()).toBe(1);
        expect(rig.defects).toEqual([]);
        await rig.stop();
      }),
      { numRuns: 40, seed: 20261121 },
    );
  });
});
