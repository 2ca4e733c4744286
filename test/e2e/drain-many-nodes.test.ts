/**
 * Many nodes are reclaimed at once, under the budgets of several workloads.
 *
 * Asserts order and counts, never times: "half of the nodes are empty" is measured in pods that had
 * left by then.
 */
import { expect, it } from 'vitest';
import type { AuditEntry } from '../../tools/testbed/audit.ts';
import { writesBy } from '../support/api/audited-writes.ts';
import { COLLECTIONS, nameOf } from '../support/api/cluster-client.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import {
  auditCounts,
  budgetExcess,
  cordonTimes,
  endTimes,
  evictionsIn,
  requestsBy,
  total,
} from '../support/drains/audited-drains.ts';
import type { DrainSite } from '../support/drains/drain-site.ts';
import { drainSite } from '../support/drains/drain-test-site.ts';
import {
  brokenBudgets,
  emptiedNodes,
  nodesOfPods,
  podSteps,
} from '../support/drains/pod-history.ts';
import {
  acksAt,
  annotationSeen,
  reclaimEach,
  reclaimTogether,
  untilEnded,
} from '../support/drains/reclaims.ts';
import { budget, deployment, DRAIN_COLLECTIONS } from '../support/drains/workloads.ts';
import { atScale } from '../support/scale.ts';

const BED = { controllers: true, scheduler: true, kwok: true, podDeleteMs: 1000 };
const NODES = atScale({ commit: 12, release: 100 });
const PODS_OF_NODE = atScale({ commit: 10, release: 30 });
const WORKLOADS = atScale({ commit: 10, release: 150 });
const REPLICAS = NODES * PODS_OF_NODE / WORKLOADS;
/** A quarter of the replicas, as in the budgets. */
const UNAVAILABLE = REPLICAS / 4;
const GRACE_SECONDS = 3600;
const REFUSED_SHARE_MAX = 0.003;
/** By how many requests a burst may arrive closer together than it was sent. */
const SEEN_TOGETHER = 20;
const WRITE_BUDGET = { perSecond: 200, burst: 400 };
const PATIENT_MS = 800_000;
const TIMEOUT_MS = 1_000_000;
/**
 * A stream without an ack for three intervals is redialled, and its frames are lost: on a busy
 * machine the fleet was away for 15 s, and with it the acks of most instructions.
 */
const OPTIONS = { flags: { 'rollup-interval': '1m' } };
/**
 * The maximum share of pods that have left when half of the nodes are empty. A workload's pods are
 * spread randomly over the nodes, so budgets allow about 0.6; placement and load make it 0.62 to
 * 0.88, and a drain of all nodes side by side exceeds 0.9.
 */
const HALF_EMPTY_BY = 0.9;

const apps = Array.from({ length: WORKLOADS }, (_, at) => `app-${at}`);

const hundredNodes = (prefix: string) => ({
  machines: { count: NODES, prefix, pods: PODS_OF_NODE },
  objects: () =>
    [
      [DRAIN_COLLECTIONS.budgets, apps.map((app) => budget(app, { maxUnavailable: '25%' }))],
      [DRAIN_COLLECTIONS.deployments, apps.map((app) => deployment(app, REPLICAS))],
    ] as const,
  pods: NODES * PODS_OF_NODE,
  spares: { count: 10, pods: 1000 },
});

/** The part of the time after which half of the drains had ended: reported, not asserted. */
const timeShare = (requests: readonly AuditEntry[]): number => {
  const begin = Math.min(...cordonTimes(requests).values());
  const ends = [...endTimes(requests).values()].toSorted((one, other) => one - other);
  return ((ends[NODES / 2 - 1] ?? 0) - begin) / ((ends.at(-1) ?? 0) - begin);
};

/** Invariants of every drain of many nodes, however it was requested. */
const expectRightDrain = async (site: DrainSite): Promise<void> => {
  const { bed, cluster, machines } = site;
  expect(await untilEnded(cluster, machines, PATIENT_MS))
    .toEqual(Object.fromEntries(machines.map((name) => [name, 'Drained'])));
  await site.pods.upTo(await cluster.list(DRAIN_COLLECTIONS.pods));
  const steps = podSteps(site.pods.changes());
  const nodeOf = nodesOfPods(steps);
  const requests = await requestsBy(bed, 'tidegate', site.readyMs);
  const evictions = evictionsIn(requests);
  const cordons = cordonTimes(requests);

  expect(cordons.size).toBe(NODES);
  const beforeCordon = evictions.filter(({ uid, receivedMs }) =>
    receivedMs < (cordons.get(nodeOf.get(uid) ?? '') ?? Number.POSITIVE_INFINITY)
  );
  expect(beforeCordon).toEqual([]);

  const accepted = evictions.filter(({ code }) => code === 201);
  expect(new Set(accepted.map(({ uid }) => uid)).size).toBe(NODES * PODS_OF_NODE);
  const refused = evictions.filter(({ code }) => code !== 201);
  expect(refused.length).toBeLessThanOrEqual(Math.max(1, REFUSED_SHARE_MAX * evictions.length));

  const writes = (await writesBy(bed, 'tidegate')).map(({ receivedMs }) => receivedMs);
  expect(budgetExcess(writes, WRITE_BUDGET)).toBeLessThanOrEqual(SEEN_TOGETHER);

  const demands = apps.map((app) => ({ app, healthy: REPLICAS - UNAVAILABLE }));
  expect(brokenBudgets(steps, demands)).toEqual([]);

  const emptied = emptiedNodes(steps, machines);
  expect(emptied.length).toBe(NODES);
  const half = emptied[NODES / 2 - 1];
  const share = (half?.gone ?? 0) / (half?.of ?? 1);
  const percent = (part: number): string => `${(part * 100).toFixed(0)} %`;
  process.stderr.write(
    `half of ${NODES} nodes were empty when ${percent(share)} of the pods had gone, after ` +
      `${percent(timeShare(requests))} of the time; ${total(auditCounts(requests))} requests, ` +
      `${evictions.length} of them evictions, ${refused.length} refused\n`,
  );
  expect(share).toBeLessThanOrEqual(HALF_EMPTY_BY);
};

describeWithTestbed('drains of many nodes', BED, (bed) => {
  it(
    'DR-34: one instruction empties one node after another and breaks no budget',
    async () => {
      const site = await drainSite(bed(), hundredNodes('once-'), OPTIONS);
      const order = { instructionId: 'all-at-once', graceSeconds: GRACE_SECONDS };
      await reclaimTogether(site.fleet, site.machines, order);
      await expectRightDrain(site);
      const acks = await acksAt(site.fleet);
      expect(acks.map(({ instructionId }) => instructionId)).toEqual(['all-at-once']);
      // All but on a busy machine: a cordon that takes longer than 2 s is not counted (DR-11). The
      // scenario "drain-hundred-nodes" counts them all.
      const [{ nodesStarted } = { nodesStarted: 0 }] = acks;
      expect(nodesStarted).toBeGreaterThan(0);
      expect(nodesStarted).toBeLessThanOrEqual(NODES);
    },
    TIMEOUT_MS,
  );

  it(
    'DR-34: one instruction for each node empties one node after another and breaks no budget',
    async () => {
      const site = await drainSite(bed(), hundredNodes('each-'), OPTIONS);
      const instructions = await reclaimEach(site.fleet, site.machines, GRACE_SECONDS);
      await expectRightDrain(site);
      const acks = await acksAt(site.fleet);
      expect(acks.map(({ instructionId }) => instructionId).sort())
        .toEqual(instructions.toSorted());
      expect(acks.filter(({ nodesStarted }) => nodesStarted > 1)).toEqual([]);
      expect(acks.map(({ nodesStarted }) => nodesStarted)).toContain(1);
      const nodes = await site.cluster.list(COLLECTIONS.nodes);
      const annotations = nodes.filter((node) => site.machines.includes(nameOf(node))).map(
        annotationSeen,
      );
      expect(annotations.flatMap((annotation) => annotation?.ids ?? []).sort()).toEqual(
        instructions.toSorted(),
      );
    },
    TIMEOUT_MS,
  );
});
