/**
 * Queries on a pod watch for drain tests: where each pod ran, when Nodes became empty, and whether
 * a budget was violated.
 *
 * Promises: uses only the order of events, never times; recounts healthy pods at every event
 * independently.
 */
import { isConditionTrue } from '../../../src/domain/condition.ts';
import { booleanAt, type JsonRecord, listOrEmptyAt, textAt } from '../../../src/domain/json.ts';
import { type Change, nameOf, uidOf } from '../api/cluster-connection.ts';

/** A pod at one moment. */
export interface SeenPod {
  readonly uid: string;
  readonly name: string;
  readonly app: string;
  readonly node: string;
  readonly phase: string;
  readonly ready: boolean;
  readonly terminating: boolean;
  /** A DaemonSet or static pod: drains skip it. */
  readonly stays: boolean;
}

/** One event: the pod before and after it. */
export interface PodStep {
  readonly before: SeenPod | undefined;
  readonly after: SeenPod | undefined;
}

const isReady = (pod: JsonRecord): boolean => isConditionTrue(pod, 'Ready');

/** Reads a Pod. */
export const seenPod = (pod: JsonRecord): SeenPod => ({
  uid: uidOf(pod),
  name: nameOf(pod),
  app: textAt(pod, 'metadata', 'labels', 'app') ?? '',
  node: textAt(pod, 'spec', 'nodeName') ?? '',
  phase: textAt(pod, 'status', 'phase') ?? '',
  ready: isReady(pod),
  terminating: textAt(pod, 'metadata', 'deletionTimestamp') !== undefined,
  stays: textAt(pod, 'metadata', 'annotations', 'kubernetes.io/config.mirror') !== undefined ||
    listOrEmptyAt(pod, 'metadata', 'ownerReferences').some((owner) =>
      textAt(owner, 'kind') === 'DaemonSet' && booleanAt(owner, 'controller') === true
    ),
});

/** The events as steps of each pod, in their order. */
export const podSteps = (changes: readonly Change[]): readonly PodStep[] => {
  const pods = new Map<string, SeenPod>();
  return changes.map(({ type, object }) => {
    const pod = seenPod(object);
    const before = pods.get(pod.uid);
    const after = type === 'DELETED' ? undefined : pod;
    if (after === undefined) pods.delete(pod.uid);
    else pods.set(pod.uid, after);
    return { before, after };
  });
};

/** The Node of every bound pod, by UID. */
export const nodesOfPods = (steps: readonly PodStep[]): ReadonlyMap<string, string> =>
  new Map(
    steps.flatMap(({ after }) =>
      after === undefined || after.node === '' ? [] : [[after.uid, after.node] as const]
    ),
  );

/** Nodes in the order in which they became empty, each with how many pods had left. */
export interface EmptiedNode {
  readonly node: string;
  /** How many pods of these Nodes, out of `of`, had left by then. */
  readonly gone: number;
  readonly of: number;
}

const leavesOf = (pod: SeenPod | undefined, nodes: ReadonlySet<string>): boolean =>
  pod !== undefined && !pod.stays && nodes.has(pod.node);

/** When these Nodes became empty for the last time, as a share of all departures. */
export const emptiedNodes = (
  steps: readonly PodStep[],
  names: Iterable<string>,
): readonly EmptiedNode[] => {
  const nodes = new Set(names);
  const left = new Map<string, number>();
  const emptied = new Map<string, number>();
  let gone = 0;
  const change = (pod: SeenPod | undefined, by: number): void => {
    if (pod === undefined || !leavesOf(pod, nodes)) return;
    const count = (left.get(pod.node) ?? 0) + by;
    left.set(pod.node, count);
    if (by < 0) gone += 1;
    if (count === 0) emptied.set(pod.node, gone);
    else emptied.delete(pod.node);
  };
  for (const { before, after } of steps) {
    const was = leavesOf(before, nodes);
    const is = leavesOf(after, nodes);
    if (!was && is) change(after, 1);
    if (was && !is) change(before, -1);
  }
  return [...emptied].map(([node, by]) => ({ node, gone: by, of: gone }))
    .toSorted((one, other) => one.gone - other.gone);
};

/** The minimum of healthy pods that a budget requires for an app. */
export interface Demand {
  readonly app: string;
  readonly healthy: number;
}

const isHealthy = (pod: SeenPod | undefined): boolean =>
  pod !== undefined && pod.ready && !pod.terminating;

/**
 * Messages for every event after which an app had fewer healthy pods than required, starting when
 * it first has enough.
 */
export const brokenBudgets = (
  steps: readonly PodStep[],
  demands: readonly Demand[],
): readonly string[] => {
  const wanted = new Map(demands.map(({ app, healthy }) => [app, healthy]));
  const counts = new Map<string, number>();
  const held = new Set<string>();
  const broken: string[] = [];
  for (const [index, { before, after }] of steps.entries()) {
    const app = after?.app ?? before?.app ?? '';
    const least = wanted.get(app);
    if (least === undefined) continue;
    const count = (counts.get(app) ?? 0) + Number(isHealthy(after)) - Number(isHealthy(before));
    counts.set(app, count);
    if (count >= least) held.add(app);
    else if (held.has(app) && isHealthy(before)) {
      broken.push(`event ${index}: "${app}" has ${count} healthy pods and must have ${least}`);
    }
  }
  return broken;
};

/** Evictions and departures of these workloads' pods from a Node, in order. */
export const podsLeaving = (
  steps: readonly PodStep[],
  node: string,
  apps: readonly string[],
): readonly string[] =>
  steps.flatMap(({ before, after }) => {
    const pod = after ?? before;
    if (pod?.node !== node || !apps.includes(pod.app)) return [];
    if (after === undefined) return [`${pod.app} gone`];
    return after.terminating && before?.terminating === false ? [`${pod.app} leaves`] : [];
  });
