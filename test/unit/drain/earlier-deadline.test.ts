/**
 * Regression: evictions kept the deadline of the moment in which they were requested, so that an
 * instruction that joined with an earlier one did not change which node is first at a budget.
 */
import { describe, expect, onTestFinished, test } from 'vitest';
import { drainRig } from '../../support/drains/drain-rig.ts';
import { evictionsOfTest, podsAsked } from '../../support/drains/eviction-test-rig.ts';

describe('an earlier deadline that joins', () => {
  test('DR-34: reaches the evictions of its node', async () => {
    const { node, pods, order, time, phases, stop } = drainRig();
    onTestFinished(stop);
    node('n1');
    pods.add({ node: 'n1', name: 'a' });
    pods.block('a', { reason: 'BlockedByBudget', text: 'budget ns/db', subject: 'ns/db' });
    order('i1', ['n1'], 600);
    await time.advance(1000);
    const before = pods.deadline('n1') ?? 0;
    order('i2', ['n1'], 50);
    await time.advance(1000);
    const earliest = before - 550_000 + 1000;
    expect(pods.deadline('n1')).toBe(earliest);
    order('i3', ['n1'], 300);
    await time.advance(1000);
    expect(pods.deadline('n1')).toBe(earliest);
    await time.advance(60_000);
    expect(phases('n1').at(-1)).toBe('Failed');
  });

  test('DR-34: makes its node the first at a budget', async () => {
    const made = evictionsOfTest();
    // Without deadlines that press, the node with fewer pods is first.
    for (const name of ['a1', 'b1', 'b2', 'b3']) {
      made.cluster.addPod({ name, node: name.startsWith('a') ? 'n1' : 'n2', app: 'a' });
    }
    made.cluster.settle('a');
    made.cluster.addBudget({ name: 'db', app: 'a', maxUnavailable: 0 });
    await made.ready();
    made.drain('n1');
    made.drain('n2');
    await made.time.advance(1000);
    expect(podsAsked(made)).toEqual([]);
    made.registry.bringForward('n2', 'reclaim', made.time.monotonic() + 50_000);
    made.cluster.changeBudget('db', { maxUnavailable: 1 });
    await made.time.advance(1000);
    expect(podsAsked(made)[0]).toBe('b1');
  });
});
