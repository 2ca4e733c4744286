/** Tiers by priority, and drains that fail because of a blocked pod beside others that do not. */
import { textAt } from '../../../src/domain/json.ts';
import { COLLECTIONS, phaseOf } from '../../support/api/cluster-connection.ts';
import { nodesOfPods, podsLeaving } from '../../support/drains/pod-history.ts';
import {
  barePod,
  budget,
  deployment,
  DRAIN_COLLECTIONS,
  priority,
} from '../../support/drains/workloads.ts';
import { nameOf } from '../invariant.ts';
import {
  codesOf,
  drainSiteOptions,
  each,
  evictionsOf,
  podsOf,
  reclaimEach,
  setDrainScene,
  stepsOf,
  untilEnded,
} from './drain-scene.ts';
import type { Scenario } from './scenario.ts';

const GRACE_SECONDS = 40;
const TIERS = ['low', 'middle', 'high'] as const;
const PODS_OF_TIER = 4;
const NODES = 20;
const PODS_OF_NODE = 3;

const times = (text: string): readonly string[] => Array.from({ length: PODS_OF_TIER }, () => text);

export const drainTiers: Scenario = {
  name: 'drain-tiers',
  shows: 'DR-21: higher tiers leave after the tier wait when the lowest is blocked',
  siteOptions: drainSiteOptions(5),
  flags: { tierWaitMs: 4000 },
  play: async (harness) => {
    const scene = await setDrainScene(harness, {
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
    });
    const [node = ''] = scene.machines;
    reclaimEach(harness, scene.machines, GRACE_SECONDS);

    harness.is('the drain fails', await untilEnded(harness, scene.machines), { [node]: 'Failed' });
    const leaving = podsLeaving(stepsOf(harness), node, TIERS);
    const [middle, high] = [leaving.slice(0, 2 * PODS_OF_TIER), leaving.slice(2 * PODS_OF_TIER)];
    harness.is('the middle tier goes first', middle.toSorted(), [
      ...times('middle gone'),
      ...times('middle leaves'),
    ]);
    harness.is('then the high one', high.toSorted(), [
      ...times('high gone'),
      ...times('high leaves'),
    ]);
    const calls = evictionsOf(harness, scene);
    harness.is('the low one is never evicted', codesOf(calls), { 201: 2 * PODS_OF_TIER });
    const [current] = harness.list(COLLECTIONS.upcomingNodes);
    harness.is('its phase', phaseOf(current), 'Failed');
    const error = textAt(current, 'status', 'lastError') ?? '';
    const named = /4 pods[\s\S]*default\/low-[\s\S]*budget "?default\/low/.test(error);
    harness.is('pods and budget are named', named, true);
  },
};

export const drainTwentyNodes: Scenario = {
  name: 'drain-twenty-nodes',
  shows: 'DR-41: of 20 nodes the one whose pod is blocked to the deadline fails, the others do not',
  siteOptions: drainSiteOptions(6),
  play: async (harness) => {
    const scene = await setDrainScene(harness, {
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
    const { machines } = scene;
    const [first = ''] = machines;
    reclaimEach(harness, machines, GRACE_SECONDS);

    const ends = await untilEnded(harness, machines);
    harness.is('nineteen are Drained', ends, { ...each(machines, 'Drained'), [first]: 'Failed' });
    await harness.wait(1000);
    const current = harness.list(COLLECTIONS.upcomingNodes);
    const phases = current.map((one) => [nameOf(one).slice('un-'.length), phaseOf(one)]);
    harness.is('their phases match', Object.fromEntries(phases), ends);
    const failed = current.find((one) => nameOf(one) === `un-${first}`);
    const error = textAt(failed, 'status', 'lastError') ?? '';
    harness.is('the pod is named', /1 pod[\s\S]*default\/guarded/.test(error), true);
    const left = podsOf(harness).filter(({ node }) => machines.includes(node));
    harness.is('one pod is left', left.map(({ name }) => name), ['guarded']);
    const nodeOf = nodesOfPods(stepsOf(harness));
    const calls = evictionsOf(harness, scene);
    const strangers = calls.filter(({ uid }) => !machines.includes(nodeOf.get(uid) ?? ''));
    harness.is('no other pod is evicted', strangers, []);
    harness.is('no call is refused', Object.keys(codesOf(calls)), ['201']);
  },
};
