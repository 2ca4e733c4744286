/** Tiers by priority, and drains that fail because of a blocked pod beside others that do not. */
import { expect, it } from 'vitest';
import { textAt } from '../../src/domain/json.ts';
import { COLLECTIONS, nameOf, phaseOf } from '../support/api/cluster-client.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { evictionsIn, requestsBy } from '../support/drains/audited-drains.ts';
import { drainSite } from '../support/drains/drain-test-site.ts';
import { nodesOfPods, podsLeaving, podSteps, seenPod } from '../support/drains/pod-history.ts';
import { reclaimEach, untilEnded } from '../support/drains/reclaims.ts';
import {
  barePod,
  budget,
  deployment,
  DRAIN_COLLECTIONS,
  priority,
} from '../support/drains/workloads.ts';
import { atScale } from '../support/scale.ts';

const BED = { controllers: true, scheduler: true, kwok: true, podDeleteMs: 1000 };
const TIER_GRACE_SECONDS = atScale({ commit: 20, release: 40 });
const TIERS = ['low', 'middle', 'high'] as const;
const PODS_OF_TIER = 4;

const NODES = atScale({ commit: 8, release: 20 });
const PODS_OF_NODE = 3;
const BLOCKED_GRACE_SECONDS = atScale({ commit: 20, release: 40 });

describeWithTestbed('drains of nodes with pods that cannot leave', BED, (bed) => {
  it('DR-21: higher tiers leave after the tier wait when the lowest is blocked', async () => {
    const { cluster, fleet, machines, ...site } = await drainSite(bed(), {
      machines: { count: 1, prefix: 'tiers-' },
      objects: () => [
        [DRAIN_COLLECTIONS.priorities, TIERS.map((name, at) => priority(name, (at + 1) * 100))],
        [
          DRAIN_COLLECTIONS.deployments,
          TIERS.map((name) => deployment(name, PODS_OF_TIER, { priorityClassName: name })),
        ],
        [DRAIN_COLLECTIONS.budgets, [budget('low', { maxUnavailable: 0 })]],
      ],
      pods: TIERS.length * PODS_OF_TIER,
      spares: { count: 1 },
    }, { flags: { 'tier-wait': '4s' } });

    await reclaimEach(fleet, machines, TIER_GRACE_SECONDS);

    const [node = ''] = machines;
    expect(await untilEnded(cluster, machines)).toEqual({ [node]: 'Failed' });
    // A tier is gone before the next one is evicted; the lowest was never evicted.
    const leaving = podsLeaving(podSteps(site.pods.changes()), node, TIERS);
    const times = (text: string): readonly string[] =>
      Array.from({ length: PODS_OF_TIER }, () => text);
    expect(leaving.slice(0, 2 * PODS_OF_TIER).toSorted())
      .toEqual([...times('middle gone'), ...times('middle leaves')]);
    expect(leaving.slice(2 * PODS_OF_TIER).toSorted())
      .toEqual([...times('high gone'), ...times('high leaves')]);
    const calls = evictionsIn(await requestsBy(bed(), 'tidegate', site.readyMs));
    expect(calls.map(({ code }) => code)).toEqual([
      ...times('').map(() => 201),
      ...times('').map(() => 201),
    ]);
    const [current] = await cluster.list(COLLECTIONS.upcomingNodes);
    expect(phaseOf(current)).toBe('Failed');
    expect(textAt(current, 'status', 'lastError')).toMatch(
      /4 pods[\s\S]*default\/low-[\s\S]*budget "?default\/low/,
    );
  });

  it('DR-41: only the node with a pod blocked until the deadline fails', async () => {
    const { cluster, fleet, machines, ...site } = await drainSite(bed(), {
      machines: { count: NODES, prefix: 'many-', pods: PODS_OF_NODE + 1 },
      objects: ([first = '']) => [
        [DRAIN_COLLECTIONS.deployments, [deployment('web', NODES * PODS_OF_NODE)]],
        [DRAIN_COLLECTIONS.pods, [barePod('guarded', first)]],
        [DRAIN_COLLECTIONS.budgets, [
          budget('web', { maxUnavailable: '25%' }),
          budget('guarded', { minAvailable: 1 }),
        ]],
      ],
      pods: NODES * PODS_OF_NODE + 1,
      spares: { count: 2 },
    });
    const [first = '', ...others] = machines;

    await reclaimEach(fleet, machines, BLOCKED_GRACE_SECONDS);

    const ends = await untilEnded(cluster, machines);
    expect(ends).toEqual({
      ...Object.fromEntries(others.map((name) => [name, 'Drained'])),
      [first]: 'Failed',
    });
    const current = await cluster.list(COLLECTIONS.upcomingNodes);
    expect(
      Object.fromEntries(current.map((one) => [nameOf(one).slice('un-'.length), phaseOf(one)])),
    )
      .toEqual(ends);
    const failed = current.find((one) => nameOf(one) === `un-${first}`);
    expect(textAt(failed, 'status', 'lastError')).toMatch(/1 pod[\s\S]*default\/guarded/);
    const left = (await cluster.list(DRAIN_COLLECTIONS.pods)).map(seenPod)
      .filter(({ node }) => machines.includes(node));
    expect(left.map(({ name }) => name)).toEqual(['guarded']);

    const nodeOf = nodesOfPods(podSteps(site.pods.changes()));
    const calls = evictionsIn(await requestsBy(bed(), 'tidegate', site.readyMs));
    expect(calls.filter(({ uid }) => !machines.includes(nodeOf.get(uid) ?? ''))).toEqual([]);
    expect(calls.filter(({ code }) => code !== 201)).toEqual([]);
  });
});
