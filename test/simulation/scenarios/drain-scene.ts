/**
 * The fixtures of drain scenarios: machines with pods, Nodes for their replacements, an operator,
 * and reclaim instructions.
 *
 * Promises: uses the fixtures of the tests on a real control plane; all pods run on the machines
 * before any other Node exists.
 */
import { isConditionTrue } from '../../../src/domain/condition.ts';
import { type JsonRecord, listOrEmptyAt, numberAt, textAt } from '../../../src/domain/json.ts';
import {
  DEFAULT_TIMING,
  type Span,
} from '../../../packages/embedded-kubernetes/src/controllers/controller-environment.ts';
import { machineKind } from '../../../packages/stand-in-fleet/src/machine-kind.ts';
import { COLLECTIONS, isJoined } from '../../support/api/cluster-connection.ts';
import { cordonTimes, deadlinesWritten, evictionsIn } from '../../support/drains/audited-drains.ts';
import type { DrainFixture } from '../../support/drains/drain-site.ts';
import { type PodStep, podSteps, seenPod } from '../../support/drains/pod-history.ts';
import { DRAIN_COLLECTIONS } from '../../support/drains/workloads.ts';
import type { SiteOptions } from '../embedded-site.ts';
import { nameOf } from '../invariant.ts';
import { reclaimAnnotation } from '../node-annotations.ts';
import { CLUSTER } from '../simulated-process.ts';
import type { Harness } from './harness.ts';

const MANY_PODS = 500;
/** Scanning thousands of objects takes a while. */
const SELDOM = { everyMs: 500 };
const NEVER_MS = 24 * 3_600_000;

/** An environment in which only the scenario acts for the fleet. */
export const drainSiteOptions = (
  seed: number,
  { readyMs = [200, 800], stopMs = [1000, 1000] }: {
    readonly readyMs?: Span;
    readonly stopMs?: Span;
  } = {},
): SiteOptions => ({
  seed,
  providerDrainMs: NEVER_MS,
  machines: 0,
  timing: { ...DEFAULT_TIMING, startMs: readyMs, stopMs },
  fleetTiming: { cycleMs: NEVER_MS },
});

/** The state before machines are reclaimed. */
export interface DrainScene {
  readonly machines: readonly string[];
  /** The wall clock when the operator was ready: earlier requests do not belong to the drain. */
  readonly readyMs: number;
}

const resources = (pods: number) => ({ cpu: '64', memory: '256Gi', pods: String(pods) });

const isGood = (node: JsonRecord): boolean =>
  listOrEmptyAt(node, 'spec', 'taints').length === 0 &&
  isConditionTrue(node, 'Ready');

const untilNodesReady = async (harness: Harness, names: readonly string[]): Promise<void> => {
  const wanted = new Set(names);
  await harness.until(
    `${names.length} Nodes are ready`,
    () =>
      harness.list(COLLECTIONS.nodes).filter((node) => wanted.has(nameOf(node)) && isGood(node))
        .length === wanted.size,
  );
};

/** Machines that serve the cluster, with Nodes named like them. Returns their ids. */
const joinMachines = async (
  harness: Harness,
  { count, prefix, pods = MANY_PODS }: DrainFixture['machines'],
): Promise<readonly string[]> => {
  const { script } = harness.site;
  const kind = machineKind({ resources: resources(pods), labels: {}, costPerHour: 1 });
  const ids = script.addMachines({ count, prefix, kind, state: 'SPECULATIVE' });
  for (const id of ids) script.place(id, { state: 'CONFIGURED', cluster: CLUSTER });
  await untilNodesReady(harness, ids);
  return ids;
};

const spareNodes = async (
  harness: Harness,
  { count, pods = MANY_PODS }: NonNullable<DrainFixture['spares']>,
): Promise<void> => {
  const names = Array.from({ length: count }, (_, at) => `spare-${at}`);
  const amounts = resources(pods);
  harness.create(
    COLLECTIONS.nodes,
    names.map((name) => ({
      metadata: { name, labels: { 'kubernetes.io/hostname': name } },
      status: { capacity: amounts, allocatable: amounts },
    })),
  );
  await untilNodesReady(harness, names);
};

const isCurrent = (budget: JsonRecord, unready: number): boolean =>
  (numberAt(budget, 'status', 'observedGeneration') ?? 0) >=
    (numberAt(budget, 'metadata', 'generation') ?? 0) &&
  (numberAt(budget, 'status', 'expectedPods') ?? 0) - unready <=
    (numberAt(budget, 'status', 'currentHealthy') ?? 0);

/** Waits until every budget status is current, with all but `unready` pods healthy. */
export const untilBudgetsCurrent = async (harness: Harness, unready = 0): Promise<void> => {
  await harness.until(
    'every budget status is current',
    () => harness.list(COLLECTIONS.budgets).every((budget) => isCurrent(budget, unready)),
  );
};

/** Waits until the operator reports each of these machines as Ready. */
const untilReadyInCluster = async (harness: Harness, ids: readonly string[]): Promise<void> => {
  await harness.until(`${ids.length} machines are Ready`, () => {
    const ready = new Set(
      harness.list(COLLECTIONS.upcomingNodes).filter(isJoined).map(nameOf),
    );
    return ids.every((id) => ready.has(`un-${id}`));
  }, SELDOM);
};

/** Sets the scene up to the moment before machines are reclaimed. */
export const setDrainScene = async (
  harness: Harness,
  fixture: DrainFixture,
): Promise<DrainScene> => {
  const machines = await joinMachines(harness, fixture.machines);
  for (const [collection, objects] of fixture.objects(machines)) {
    harness.create(collection, objects);
  }
  const { pods: count, otherPods = 0, spares } = fixture;
  await harness.until(`${count} pods are ready`, () => {
    const pods = podsOf(harness);
    return pods.length === count + otherPods && pods.filter(({ ready }) => ready).length >= count;
  }, SELDOM);
  await untilBudgetsCurrent(harness, otherPods);
  if (spares !== undefined) await spareNodes(harness, spares);
  harness.processes.start();
  await untilReadyInCluster(harness, machines);
  return { machines, readyMs: harness.time.now() };
};

/** The current pods of the scenario. */
export const podsOf = (harness: Harness) => harness.list(DRAIN_COLLECTIONS.pods).map(seenPod);

/** The history of the pods. */
export const stepsOf = (harness: Harness): readonly PodStep[] =>
  podSteps(harness.changesOf('pods'));

const showDraining = ({ site }: Harness, ids: readonly string[]): void => {
  for (const id of ids) site.script.place(id, { state: 'DRAINING', cluster: CLUSTER });
};

/** Reclaims each machine by an instruction of its own, as the shard does. Returns their ids. */
export const reclaimEach = (
  harness: Harness,
  ids: readonly string[],
  graceSeconds: number,
): readonly string[] => {
  harness.note(`${ids.length} machines are reclaimed within ${graceSeconds} s`);
  const sent = ids.map((id) => harness.site.script.reclaim(id, { graceSeconds }, false));
  showDraining(harness, ids);
  return sent.map(({ instructionId }) => instructionId);
};

/** Reclaims all machines by one instruction. */
export const reclaimTogether = (
  harness: Harness,
  nodes: readonly string[],
  { instructionId, graceSeconds }: {
    readonly instructionId: string;
    readonly graceSeconds: number;
  },
): void => {
  harness.note(`${nodes.length} machines are reclaimed at once, within ${graceSeconds} s`);
  harness.site.script.sendJson(CLUSTER, {
    reclaimInstruction: {
      instructionId,
      nodes: [...nodes],
      gracePeriodSeconds: String(graceSeconds),
    },
  });
  showDraining(harness, nodes);
};

/** Every acknowledgement of a reclaim so far. */
export const acksOf = ({ site }: Harness) =>
  site.script.shard.reclaimAcks.entries()
    .map(({ instructionId, nodesStarted }) => ({ instructionId, nodesStarted }));

/** A Node as it is. */
export const nodeAt = ({ site }: Harness, name: string): JsonRecord | undefined =>
  site.cluster.store.collection('nodes').get({ namespace: '', name });

/** Waits until the drains of all these Nodes have ended, and returns how. */
export const untilEnded = async (
  harness: Harness,
  names: readonly string[],
): Promise<Readonly<Record<string, string>>> => {
  const endOf = (name: string): string => reclaimAnnotation(nodeAt(harness, name))?.ended ?? '';
  await harness.until(
    `${names.length} drains have ended`,
    () => names.every((name) => endOf(name) !== ''),
    { mostMs: 7_200_000, everyMs: 250 },
  );
  return Object.fromEntries(names.map((name) => [name, endOf(name)]));
};

/** The same word of each of these. */
export const each = (names: readonly string[], word: string): Readonly<Record<string, string>> =>
  Object.fromEntries(names.map((name) => [name, word]));

/** The requests since the operator was ready. */
export const requestsOf = (harness: Harness, { readyMs }: DrainScene) => harness.audit(readyMs);

/** Eviction calls since the operator was ready. */
export const evictionsOf = (harness: Harness, scene: DrainScene) =>
  evictionsIn(requestsOf(harness, scene));

/** The codes of answers, with how often each came. */
export const codesOf = (
  calls: readonly { readonly code: number }[],
): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const { code } of calls) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
};

/** The number of deadlines written to each Node: one, unless a drain started again. */
export const deadlineCounts = (
  harness: Harness,
  { machines, readyMs }: DrainScene,
): Readonly<Record<string, number>> => {
  const requests = harness.audit(readyMs);
  return Object.fromEntries(
    machines.map((node) => [node, new Set(deadlinesWritten(requests, node)).size]),
  );
};

/** Reasons of the Events about a Node. */
export const reasonsOf = (harness: Harness, node: string): readonly string[] =>
  // Served, because Events are stored in another shape.
  listOrEmptyAt(harness.get(COLLECTIONS.events), 'items')
    .filter((event) => textAt(event, 'regarding', 'name') === node)
    .map((event) => textAt(event, 'reason') ?? '');

/** Nodes whose evictions came before their cordon. */
export const evictedBeforeCordon = (
  harness: Harness,
  scene: DrainScene,
  nodeOf: ReadonlyMap<string, string>,
): readonly string[] => {
  const cordons = cordonTimes(requestsOf(harness, scene));
  return evictionsOf(harness, scene).filter(({ uid, receivedMs }) =>
    receivedMs < (cordons.get(nodeOf.get(uid) ?? '') ?? Infinity)
  ).map(({ pod }) => pod);
};
