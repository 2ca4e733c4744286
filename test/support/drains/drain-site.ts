/**
 * The set-up of a drain: machines with pods, Nodes for their replacements, a fleet that takes
 * machines back, and an operator.
 *
 * Promises: works on a bed with controllers, scheduler and kwok; all pods run on the machines
 * before other Nodes exist; the histories start before any object exists.
 */
import { rawConditionOf } from '../../../src/domain/condition.ts';
import { type JsonRecord, numberAt, textAt } from '../../../src/domain/json.ts';
import { realTime } from '../../../src/effects/real-time.ts';
import type { Testbed } from '../../../tools/testbed/testbed.ts';
import {
  type ClusterClient,
  COLLECTIONS,
  type History,
  nameOf,
} from '../api/cluster-connection.ts';
import { eventually } from '../eventually.ts';
import type { FleetProcess } from '../processes/fleet-child.ts';
import type { OperatorOptions, OperatorProcess } from '../processes/operator-child.ts';
import { seenPod } from './pod-history.ts';
import { joinMachines, type NewMachines, spareNodes, untilReadyInCluster } from './reclaims.ts';
import { DRAIN_COLLECTIONS } from './workloads.ts';

const PATIENT_MS = 300_000;
/** Pods that the failure of a wait names. */
const NAMED_MAX = 5;
const NO_FINALIZERS = { metadata: { finalizers: null } };
/** A fleet that is slow on a busy machine is waited for three times as long as the interval. */
const OPERATOR_TEST_FLAGS = { 'log-level': 'info', 'rollup-interval': '5s' };

/** The objects before the drain. */
export interface DrainFixture {
  readonly machines: NewMachines;
  /** Made in this order, by collection. */
  readonly objects: (
    machines: readonly string[],
  ) => readonly (readonly [collection: string, objects: readonly object[]])[];
  /** How many pods must be Running and ready before the drain. */
  readonly pods: number;
  /** Further pods that need not be. */
  readonly otherPods?: number;
  readonly spares?: { readonly count: number; readonly pods?: number };
}

/** Everything that a test of a drain works with. */
export interface DrainSite {
  readonly bed: Testbed;
  readonly cluster: ClusterClient;
  readonly fleet: FleetProcess;
  readonly operator: OperatorProcess;
  readonly machines: readonly string[];
  readonly pods: History;
  /** The wall clock when the operator was ready: earlier requests do not belong to the drain. */
  readonly readyMs: number;
}

/** How the parts of a site are started. */
export interface SiteOptions {
  readonly bed: Testbed;
  readonly cluster: ClusterClient;
  readonly fleet: FleetProcess;
  readonly operator: (options: OperatorOptions) => Promise<OperatorProcess>;
  readonly options?: Partial<OperatorOptions>;
}

/** Takes away all workloads, at once. */
export const clearWorkloads = async (cluster: ClusterClient): Promise<void> => {
  const { deployments, daemonSets, budgets, pods } = DRAIN_COLLECTIONS;
  for (const collection of [budgets, deployments, daemonSets]) await cluster.clear(collection);
  for (const policy of [DRAIN_COLLECTIONS.policyBindings, DRAIN_COLLECTIONS.policies]) {
    await cluster.clear(policy);
  }
  await eventually(async () => {
    const left = await cluster.list(pods);
    if (left.length === 0) return true;
    for (const pod of left) {
      const held = seenPod(pod).terminating;
      if (held) await cluster.call('PATCH', `${pods}/${nameOf(pod)}`, NO_FINALIZERS);
    }
    await cluster.call('DELETE', pods, { gracePeriodSeconds: 0 });
    return false;
  }, { what: 'every pod to go', timeoutMs: PATIENT_MS });
};

const isUp = (pod: JsonRecord): boolean => seenPod(pod).ready;

/** Where a pod that is not ready is, and what the scheduler says of it. */
const whereabouts = (pod: JsonRecord): string => {
  const scheduled = rawConditionOf(pod, 'PodScheduled');
  const node = textAt(pod, 'spec', 'nodeName') ?? textAt(scheduled, 'message') ?? 'no node';
  return `${nameOf(pod)} ${textAt(pod, 'status', 'phase') ?? ''} on ${node}`;
};

/** Changes objects, so that whoever watches them looks again. */
const touch = async (
  cluster: ClusterClient,
  collection: string,
  objects: readonly JsonRecord[],
): Promise<void> => {
  const annotations = { 'example.com/touched': `${realTime.monotonic()}` };
  for (const object of objects) {
    await cluster.call('PATCH', `${collection}/${nameOf(object)}`, { metadata: { annotations } });
  }
};

/** Waits until so many pods are ready, and no other is there but `others`. */
export const untilPodsReady = async (
  cluster: ClusterClient,
  count: number,
  others = 0,
): Promise<void> => {
  await eventually(async () => {
    const pods = await cluster.list(DRAIN_COLLECTIONS.pods);
    const unready = pods.filter((pod) => !isUp(pod));
    const up = pods.length - unready.length;
    if (up >= count && pods.length === count + others) return true;
    const missing = unready.slice(0, NAMED_MAX).map(whereabouts);
    throw new Error([`${up} of ${pods.length} are`, ...missing].join('; '));
  }, { what: `${count} pods to be ready`, everyMs: 500, timeoutMs: PATIENT_MS });
};

/** The counts of the status are about the spec as it is, and all but `unready` pods. */
const isCurrent = (budget: JsonRecord, unready: number): boolean => {
  const seen = numberAt(budget, 'status', 'observedGeneration') ?? 0;
  const expected = numberAt(budget, 'status', 'expectedPods') ?? 0;
  return seen >= (numberAt(budget, 'metadata', 'generation') ?? 0) &&
    expected - unready <= (numberAt(budget, 'status', 'currentHealthy') ?? 0);
};

/**
 * Waits until the disruption controller has worked out every budget that is there. Of several
 * budgets of one pod it works out only the first when the pod changes: a change of the others makes
 * it look at them again.
 */
export const untilBudgetsCurrent = async (
  cluster: ClusterClient,
  unready = 0,
): Promise<void> => {
  await eventually(async () => {
    const budgets = await cluster.list(COLLECTIONS.budgets);
    const old = budgets.filter((budget) => !isCurrent(budget, unready));
    if (old.length === 0) return true;
    await touch(cluster, COLLECTIONS.budgets, old);
    throw new Error(`not yet: ${old.map(nameOf).join(', ')}`);
  }, { what: 'every budget to be worked out', everyMs: 250, timeoutMs: PATIENT_MS });
};

/** Creates the objects before the operator starts; returns the machines. */
export const createFixture = async (
  { cluster, fleet }: Pick<SiteOptions, 'cluster' | 'fleet'>,
  fixture: DrainFixture,
): Promise<readonly string[]> => {
  const machines = await joinMachines({ fleet, cluster }, fixture.machines);
  for (const [collection, objects] of fixture.objects(machines)) {
    await cluster.create(collection, objects);
  }
  await untilPodsReady(cluster, fixture.pods, fixture.otherPods);
  await untilBudgetsCurrent(cluster, fixture.otherPods);
  if (fixture.spares !== undefined) await spareNodes(cluster, fixture.spares);
  return machines;
};

/** Sets the stage up to the moment before machines are taken back. */
export const createSite = async (parts: SiteOptions, fixture: DrainFixture): Promise<DrainSite> => {
  const { bed, cluster, fleet, options } = parts;
  const pods = await cluster.history(COLLECTIONS.pods);
  const machines = await createFixture(parts, fixture);
  const operator = await parts.operator({
    bed,
    shardAddress: fleet.address,
    ...options,
    flags: { ...OPERATOR_TEST_FLAGS, ...options?.flags },
  });
  await operator.untilReady();
  await untilReadyInCluster(cluster, machines);
  return { bed, cluster, fleet, operator, machines, pods, readyMs: realTime.now() };
};
