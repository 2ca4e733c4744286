/**
 * A hundred nodes are reclaimed at once, under the budgets of a hundred and fifty workloads.
 * Results are orders and counts: "half of the nodes by so much" is measured in deleted pods.
 */
import {
  auditCounts,
  budgetExcess,
  cordonTimes,
  total,
} from '../../support/drains/audited-drains.ts';
import { brokenBudgets, emptiedNodes, nodesOfPods } from '../../support/drains/pod-history.ts';
import { budget, deployment, DRAIN_COLLECTIONS } from '../../support/drains/workloads.ts';
import { reclaimAnnotation } from '../node-annotations.ts';
import { ORDINARY_FLAGS } from '../simulated-process.ts';
import {
  acksOf,
  codesOf,
  drainSiteOptions,
  each,
  evictedBeforeCordon,
  evictionsOf,
  nodeAt,
  reclaimEach,
  reclaimTogether,
  requestsOf,
  setDrainScene,
  stepsOf,
  untilEnded,
} from './drain-scene.ts';
import type { DrainScene } from './drain-scene.ts';
import type { Scenario } from './scenario.ts';
import type { Harness } from './harness.ts';

const NODES = 100;
const PODS_OF_NODE = 30;
const PODS = NODES * PODS_OF_NODE;
const WORKLOADS = 150;
const REPLICAS = PODS / WORKLOADS;
/** A quarter of the replicas, as in the budgets. */
const UNAVAILABLE = REPLICAS / 4;
const GRACE_SECONDS = 3600;
/** By how many requests a burst may arrive closer together than it was sent. */
const SEEN_TOGETHER = 20;
/** The maximum share of deleted pods when half of the nodes are empty. */
const HALF_EMPTY_BY = 0.8;
/** Large images and caches: as long as services of this size take. */
const TIMING = { readyMs: [20_000, 60_000], stopMs: [5000, 30_000] } as const;
const FLAGS = { rollupIntervalMs: 60_000 };

const apps = Array.from({ length: WORKLOADS }, (_, at) => `app-${at}`);

const hundredNodes = (prefix: string) => ({
  machines: { count: NODES, prefix, pods: PODS_OF_NODE },
  objects: () =>
    [
      [DRAIN_COLLECTIONS.budgets, apps.map((app) => budget(app, { maxUnavailable: '25%' }))],
      [DRAIN_COLLECTIONS.deployments, apps.map((app) => deployment(app, REPLICAS))],
    ] as const,
  pods: PODS,
  spares: { count: 10, pods: 1000 },
});

const isWrite = ({ verb, resource }: { readonly verb: string; readonly resource: string }) =>
  verb !== 'get' && verb !== 'list' && resource !== 'leases';

/** Expectations of every drain of a hundred nodes. */
const checkDrain = async (harness: Harness, scene: DrainScene): Promise<void> => {
  const { machines } = scene;
  harness.is('all are Drained', await untilEnded(harness, machines), each(machines, 'Drained'));
  const steps = stepsOf(harness);
  const nodeOf = nodesOfPods(steps);
  const requests = requestsOf(harness, scene);
  const calls = evictionsOf(harness, scene);
  harness.is('every node is cordoned', cordonTimes(requests).size, NODES);
  harness.is('no eviction before its cordon', evictedBeforeCordon(harness, scene, nodeOf), []);
  harness.is('no call is refused', codesOf(calls), { 201: PODS });
  harness.is('each pod is evicted once', new Set(calls.map(({ uid }) => uid)).size, PODS);
  harness.is('the cost', total(auditCounts(requests)), PODS + 4 * NODES);
  const { qps: perSecond, burst } = ORDINARY_FLAGS;
  const writes = harness.audit().filter(isWrite).map(({ receivedMs }) => receivedMs);
  const excess = budgetExcess(writes, { perSecond, burst });
  harness.is('the write budget is kept', excess <= SEEN_TOGETHER, true);
  const demands = apps.map((app) => ({ app, healthy: REPLICAS - UNAVAILABLE }));
  harness.is('every budget is kept at every change', brokenBudgets(steps, demands), []);
  const emptied = emptiedNodes(steps, machines);
  const half = emptied[NODES / 2 - 1];
  const share = (half?.gone ?? 0) / (half?.of ?? 1);
  harness.note(
    `half of the nodes are empty when ${Math.round(share * 100)} % of the pods are gone`,
  );
  harness.is('one node after another', [emptied.length, share <= HALF_EMPTY_BY], [NODES, true]);
};

export const drainHundredNodes: Scenario = {
  name: 'drain-hundred-nodes',
  shows: 'DR-34: one instruction empties one node after another and breaks no budget',
  siteOptions: drainSiteOptions(18, TIMING),
  crowd: true,
  flags: FLAGS,
  play: async (harness) => {
    const scene = await setDrainScene(harness, hundredNodes('once-'));
    const instructionId = 'all-at-once';
    reclaimTogether(harness, scene.machines, { instructionId, graceSeconds: GRACE_SECONDS });
    await checkDrain(harness, scene);
    harness.is('one ack of all', acksOf(harness), [{ instructionId, nodesStarted: NODES }]);
  },
};

export const drainHundredInstructions: Scenario = {
  name: 'drain-hundred-instructions',
  shows: 'DR-34: a hundred instructions empty one node after another and break no budget',
  siteOptions: drainSiteOptions(19, TIMING),
  crowd: true,
  flags: FLAGS,
  play: async (harness) => {
    const scene = await setDrainScene(harness, hundredNodes('each-'));
    const instructions = reclaimEach(harness, scene.machines, GRACE_SECONDS);
    await checkDrain(harness, scene);
    const acks = acksOf(harness).toSorted((one, other) =>
      one.instructionId < other.instructionId ? -1 : 1
    );
    const wanted = instructions.toSorted().map((instructionId) => ({
      instructionId,
      nodesStarted: 1,
    }));
    harness.is('an ack of each', acks, wanted);
    const annotations = scene.machines.flatMap((node) =>
      reclaimAnnotation(nodeAt(harness, node))?.ids ?? []
    );
    harness.is('each is written on its Node', annotations.toSorted(), instructions.toSorted());
  },
};
