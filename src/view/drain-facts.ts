/**
 * The facts about one node and its drain, read once or taken from caches that follow the cluster.
 */
import type { Blocker } from '../domain/drain/blocker.ts';
import { maintenanceOwner } from '../domain/drain/cordon.ts';
import type { Budget } from '../domain/drain/budget.ts';
import { budgetCovers } from '../domain/drain/budget.ts';
import type { DrainedNode } from '../domain/drain/drained-node.ts';
import type { DrainPod } from '../domain/drain/pod.ts';
import { type InterruptedEviction, interruptedEvictions } from '../domain/drain/eviction-rank.ts';
import { interceptorBlocker } from '../domain/eviction-requests/drain-requester.ts';
import { isFinal, type ObservedRequest } from '../domain/eviction-requests/observed-request.ts';
import { IMPERATIVE_EVICTION } from '../domain/eviction-requests/qualified-name.ts';
import type { Identity } from '../domain/facts.ts';
import { textAt } from '../domain/json.ts';
import { objectKey } from '../domain/ids.ts';
import type { VolumeLookup } from '../domain/node-availability/local-volumes.ts';
import type { ObservedMaintenance } from '../domain/node-maintenance/observed-maintenance.ts';
import { identityOf } from '../domain/object-meta.ts';
import { compareText } from '../domain/requirements.ts';
import type { UpcomingNodeProjection } from '../domain/upcoming-node.ts';
import { type TimelineEntry, timelineEntryOf } from './explanation.ts';

/** An Event about a Node. */
export interface NodeEvent extends Identity, TimelineEntry {
  readonly node: string;
}

/** Reads an Event (events.k8s.io/v1). Total; `undefined` when it regards another kind of object. */
export const projectNodeEvent = (raw: unknown): NodeEvent | undefined => {
  const identity = identityOf(raw);
  const node = textAt(raw, 'regarding', 'name');
  if (identity === undefined || node === undefined) return undefined;
  if (textAt(raw, 'regarding', 'kind') !== 'Node') return undefined;
  return { ...identity, ...timelineEntryOf(raw), node };
};

/** All pods that were read; may include pods of other nodes. */
export interface DrainScene {
  readonly nodes: readonly DrainedNode[];
  readonly pods: Iterable<DrainPod>;
  readonly budgets: Iterable<Budget>;
  readonly events: Iterable<NodeEvent>;
  readonly machines: Iterable<UpcomingNodeProjection>;
  /** Without them, interceptors are not among the reasons. */
  readonly evictionRequests?: Iterable<ObservedRequest>;
  /** Without its maintenance, a key on a Node counts as a drain of all pods. */
  readonly maintenances?: Iterable<ObservedMaintenance>;
  readonly terminatingNamespaces: Iterable<string>;
  /** Claims and volumes of the pods; without them, none is known. */
  readonly lookup?: VolumeLookup;
  /** The operator's own pod, if its Lease identifies one. */
  readonly own: { readonly namespace: string; readonly name: string } | null;
  readonly nowMs: number;
}

/** Interrupted evictions, by the key of the budget that counts them. */
export type InterruptedSlots = ReadonlyMap<string, readonly InterruptedEviction[]>;

/** NodeMaintenances by the owner of their keys on Nodes. */
export type MaintenancesByOwner = ReadonlyMap<string, ObservedMaintenance>;

/** The facts about one node. */
export interface NodeFacts {
  readonly node: DrainedNode;
  readonly pods: readonly DrainPod[];
  /** Budgets that cover one of the pods. */
  readonly budgets: readonly Budget[];
  /** Slots of these budgets that interrupted evictions hold, for pods on any node. */
  readonly interrupted: InterruptedSlots;
  /** Newest first. */
  readonly events: readonly NodeEvent[];
  readonly machine: UpcomingNodeProjection | undefined;
  /** What the EvictionRequests of pods wait for, by the UID of the pod. */
  readonly interceptions: ReadonlyMap<string, Blocker>;
  readonly terminatingNamespaces: ReadonlySet<string>;
  /** Of all nodes; empty when none is known. */
  readonly maintenances: MaintenancesByOwner;
  readonly lookup: VolumeLookup;
  readonly own: DrainScene['own'];
  readonly nowMs: number;
}

const groupedBy = <T>(items: Iterable<T>, keyOf: (item: T) => string): ReadonlyMap<string, T[]> => {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
};

/**
 * Finds the budgets that cover a pod. Pods of one workload share one labels object in a cache, so
 * each workload is matched against the budgets of its namespace only once.
 */
const coveringIn = (budgets: ReadonlyMap<string, readonly Budget[]>) => {
  const known = new Map<string, Map<DrainPod['labels'], readonly Budget[]>>();
  return (pod: DrainPod): readonly Budget[] => {
    const ofNamespace = known.get(pod.namespace) ??
      new Map<DrainPod['labels'], readonly Budget[]>();
    known.set(pod.namespace, ofNamespace);
    const before = ofNamespace.get(pod.labels);
    if (before !== undefined) return before;
    const found = (budgets.get(pod.namespace) ?? []).filter((budget) => budgetCovers(budget, pod));
    ofNamespace.set(pod.labels, found);
    return found;
  };
};

/** For a moment an eviction that goes well looks the same: its pod is not seen terminating yet. */
const INTERRUPTED_AFTER_MS = 5000;

const isOld = ({ disruptedPods }: Budget, podName: string, nowMs: number): boolean =>
  nowMs - (disruptedPods[podName] ?? nowMs) >= INTERRUPTED_AFTER_MS;

const interruptedIn = ({ pods, budgets, nowMs }: DrainScene): InterruptedSlots => {
  const charged = [...budgets].filter(({ disruptedPods }) => Object.keys(disruptedPods).length > 0);
  if (charged.length === 0) return new Map();
  const byKey = new Map([...pods].map((pod) => [pod.key, pod]));
  return new Map(charged.map((budget) => {
    const named = Object.keys(budget.disruptedPods)
      .flatMap((name) => byKey.get(objectKey(name, budget.namespace)) ?? []);
    const interrupted = interruptedEvictions(budget, named, nowMs);
    return [budget.key, interrupted.filter(({ podName }) => isOld(budget, podName, nowMs))];
  }));
};

/** Open requests; a pod whose imperative eviction is active waits for what any eviction does. */
const interceptionsIn = (
  { evictionRequests = [] }: DrainScene,
): ReadonlyMap<string, Blocker> =>
  new Map(
    [...evictionRequests]
      .filter((request) => !isFinal(request) && request.requesters.length > 0)
      .filter(({ status }) => status.active !== null && status.active !== IMPERATIVE_EVICTION)
      .map((request) => [request.pod.uid, interceptorBlocker(request)]),
  );

const NO_VOLUMES: VolumeLookup = { claim: () => undefined, volume: () => undefined };

const newestFirst = (left: NodeEvent, right: NodeEvent): number =>
  Date.parse(right.time) - Date.parse(left.time);

/** The facts by node, in the order of node names. */
export const nodeFactsOf = (scene: DrainScene): readonly NodeFacts[] => {
  const pods = groupedBy(scene.pods, ({ node }) => node);
  const budgets = groupedBy(scene.budgets, ({ namespace }) => namespace);
  const events = groupedBy(scene.events, ({ node }) => node);
  const machines = new Map([...scene.machines].map((machine) => [machine.nodeName, machine]));
  const terminatingNamespaces = new Set(scene.terminatingNamespaces);
  const { own, nowMs, lookup = NO_VOLUMES } = scene;
  const maintenances = new Map(
    [...scene.maintenances ?? []].map((one) => [maintenanceOwner(one.uid), one]),
  );
  const covering = coveringIn(budgets);
  const interrupted = interruptedIn(scene);
  const interceptions = interceptionsIn(scene);
  const budgetsOver = (bound: readonly DrainPod[]): readonly Budget[] => [
    ...new Set(bound.flatMap(covering)),
  ];
  return scene.nodes.toSorted((left, right) => compareText(left.name, right.name))
    .map((node): NodeFacts => {
      const bound = pods.get(node.name) ?? [];
      return {
        node,
        pods: bound,
        budgets: budgetsOver(bound),
        interrupted,
        events: (events.get(node.name) ?? []).toSorted(newestFirst),
        machine: machines.get(node.name),
        interceptions,
        terminatingNamespaces,
        maintenances,
        lookup,
        own,
        nowMs,
      };
    });
};
