/**
 * Regression: each step of a budget had the drains of all Nodes under it plan and sort their pods
 * again, for a change that only their blockers show: for each eviction as many plans as Nodes.
 */
import { describe, expect, onTestFinished, test } from 'vitest';
import { drainRig } from '../../support/drains/drain-rig.ts';
import { budgetedApp, evictionsOfTest } from '../../support/drains/eviction-test-rig.ts';

const NODES = 20;

describe('a step of a budget', () => {
  test('reviews only the Node whose pod leaves, and the blockers of all Nodes under it', async () => {
    const made = evictionsOfTest();
    const nodes = [...Array(NODES).keys()].map((at) => `m${at}`);
    for (const node of nodes) made.cluster.addPod({ name: `p-${node}`, node, app: 'a' });
    await budgetedApp(made, { size: 1, unavailable: 1 });
    nodes.forEach(made.drain);
    await made.time.settle();
    const reviewed: string[] = [];
    const statuses: string[] = [];
    made.registry.progressed.subscribe((node) => reviewed.push(node));
    made.registry.changes.subscribe((node) => statuses.push(node));
    await made.untilEmpty(nodes, 600_000);
    expect(reviewed.length).toBeGreaterThanOrEqual(NODES);
    // Its pod is called, leaves, and is gone.
    expect(reviewed.length).toBeLessThanOrEqual(NODES * 4);
    expect(statuses.length).toBeGreaterThan(NODES * NODES / 2);
  });

  test('DR-42: has a drain look for what blocks its pods, and plan nothing', async () => {
    const { order, node, pods, time, notes, stop } = drainRig();
    onTestFinished(stop);
    node('n1');
    pods.add({ node: 'n1', name: 'a' });
    const closed = { reason: 'BlockedByBudget', text: 'budget ns/x', subject: 'ns/x' } as const;
    pods.block('a', { ...closed, noSlotMs: 0 });
    order('i1', ['n1'], 600);
    await time.advance(5000);
    const before = pods.progressReads();
    pods.block('a', { reason: 'SlotHeldByInterruptedEviction', text: 'held', subject: 'ns/x' });
    pods.statusChanged('n1');
    await time.advance(12_000);
    expect(pods.progressReads()).toBe(before);
    expect(notes.map(({ reason }) => reason)).toContain('SlotHeldByInterruptedEviction');
  });
});
