/**
 * How far all maintenances are on their Nodes: admissions, targets, cursors, messages and counts.
 *
 * Promises: pure; a Node is worked on only when the status has admitted it, and a plan goes on only
 * by caches that are fresh, on Nodes that are cordoned for each of their maintenances (NM-38); the
 * targets of a Node never shrink while one of them is there, whichever process stored them (NM-39).
 */
import { maintenanceOwner } from '../drain/cordon.ts';
import { compareText } from '../requirements.ts';
import { cutText } from '../text.ts';
import { drainMessages, EVACUATING_MESSAGE } from './drain-message.ts';
import { type Crossing, crossingText, type DrainWait } from './crossed-drains.ts';
import { effectivePlan } from './drain-plan.ts';
import { resolveProgress, type RunWait, runWaits } from './drain-progress.ts';
import { evacuationCounts, hasOwnLeavingPods } from './drain-step.ts';
import { type DrainTargets, isOver, type PlanRun, type TargetsByNode } from './drain-targets.ts';
import { NODE_MAINTENANCE_LIMITS } from './maintenance-limits.ts';
import { hasBegun, holdsNode, isTargetedBy, newNode, storedNode } from './node-status.ts';
import type { ObservedNodes } from './maintenance-step.ts';
import { type BudgetedNode, isReleased, nextWave, nodesToAdmit } from './node-budget.ts';
import type { NodeStatus, ObservedMaintenance } from './observed-maintenance.ts';
import { hasPodsLeft, progressText } from './progress-text.ts';
import { startOf } from './stage.ts';
import { type HeldNodes, targetsBefore } from './targets-before.ts';
import {
  type CrossingFacts,
  isYieldOver,
  maintenanceCrossings,
  yieldedBy,
  yielding,
} from './yielding-nodes.ts';

/** A Node, as its maintenances regard it. */
export interface MaintainedNodeFacts {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Of the kubelet; empty before it reported. */
  readonly bootId: string;
  /** The maintenance whose work on it is done; empty without one. */
  readonly doneFor: string;
  /** Of the object: a node that joins again has a new one. */
  readonly createdMs: number;
}

/** A maintenance that cordons or drains. */
export interface WorkedMaintenance {
  readonly maintenance: ObservedMaintenance;
  /** The Nodes that it selects. */
  readonly nodes: readonly MaintainedNodeFacts[];
  readonly drains: boolean;
  /** Nodes may begin; when not, those that have begun go on. */
  readonly begins: boolean;
  /** It was crossed with other drains for so long that it yields, if it is its turn. */
  readonly yields: boolean;
}

/** What Nodes and pods show. */
export interface ClusterFacts extends CrossingFacts, HeldNodes {
  /** The Node is unschedulable and has the key of the maintenance. */
  readonly isCordoned: (node: string, maintenance: ObservedMaintenance) => boolean;
  /** As well, its drain has ended: no pod appears any more that was bound before the cordon. */
  readonly hasEnded: (node: string, maintenance: ObservedMaintenance) => boolean;
  /** The caches are behind: no plan goes on. */
  readonly isBehind: boolean;
}

/** What is remembered from one look to the next; the status has it for the next process. */
export interface ProgressMemory {
  readonly targets: TargetsByNode;
  /** The entry at work, by UID and wave. */
  readonly cursors: ReadonlyMap<string, number>;
  /** Nodes that are to yield, by UID, until the status has them. */
  readonly yields: ReadonlyMap<string, DrainWait>;
}

/** What a maintenance shows of its Nodes. */
export type NodesProgress = Pick<
  ObservedNodes,
  'nodes' | 'waves' | 'drained' | 'progress' | 'crossing' | 'yieldedBy'
>;

/** The progress of all. */
export interface MaintenanceProgress extends ProgressMemory {
  /** By UID. */
  readonly reported: ReadonlyMap<string, NodesProgress>;
}

/** Nothing is remembered. */
export const NO_PROGRESS: ProgressMemory = {
  targets: new Map(),
  cursors: new Map(),
  yields: new Map(),
};

const LIMITS = NODE_MAINTENANCE_LIMITS;

const NO_PODS_LEFT = { podsPendingEvacuation: 0, podsEvacuating: 0 } as const;

const cursorKey = (uid: string, wave: number): string => `${uid}/${wave}`;

/** The runs of a maintenance: one for each wave with Nodes that are held. */
const runsOf = (
  { maintenance, nodes, begins }: WorkedMaintenance,
  { cursors }: ProgressMemory,
): readonly PlanRun[] => {
  const { uid, name, createdMs, spec, status } = maintenance;
  const held = nodes.filter((node) =>
    holdsNode(maintenance, node.name) && (begins || hasBegun(storedNode(maintenance, node.name)))
  );
  const waves = Map.groupBy(held, (node) => storedNode(maintenance, node.name)?.wave ?? 1);
  const plan = effectivePlan(spec.drainPlan, spec.podTypes);
  return [...waves].map(([wave, ofWave]) => ({
    maintenance: name,
    wave,
    createdMs,
    plan,
    cursor: cursors.get(cursorKey(uid, wave)) ??
      status.waves.find(({ number }) => number === wave)?.entriesDone ?? 0,
    nodes: ofWave.map((node) => node.name),
  }));
};

/** What is decided for all maintenances together. */
interface Resolved {
  /** By UID. */
  readonly runs: ReadonlyMap<string, readonly PlanRun[]>;
  /** By UID and node. */
  readonly runOf: ReadonlyMap<string, ReadonlyMap<string, PlanRun>>;
  readonly targets: TargetsByNode;
  readonly textOf: (run: PlanRun, node: string) => string;
  readonly facts: ClusterFacts;
  readonly all: readonly ObservedMaintenance[];
  /** By owner. */
  readonly crossed: ReadonlyMap<string, Crossing>;
  readonly yields: ReadonlyMap<string, DrainWait>;
}

/** A Node as it is now, before others are admitted. */
const nodeStatusNow = (
  { maintenance, drains }: WorkedMaintenance,
  node: MaintainedNodeFacts,
  { runOf, targets, textOf, facts, all, yields }: Resolved,
): NodeStatus => {
  const { name, spec, uid } = maintenance;
  const stored = storedNode(maintenance, node.name) ?? newNode(node.name);
  const wait = yields.get(uid);
  if (wait?.wantedNode === node.name) return yielding(stored, wait);
  if (!drains) return { ...stored, drainTargets: [], drainMessage: '' };
  const isAtWork = holdsNode(maintenance, node.name);
  const { pending, evacuating } = evacuationCounts(
    facts.podsOn(node.name, maintenanceOwner(uid)),
    spec,
    (pod) => isAtWork && (pod.terminating || isTargetedBy(stored.drainTargets, pod)),
  );
  const counts = { podsPendingEvacuation: pending, podsEvacuating: evacuating };
  const run = runOf.get(uid)?.get(node.name);
  if (stored.state === 'Yielding') {
    return { ...(isYieldOver(stored, all, facts) ? newNode(node.name) : stored), ...counts };
  }
  if (!isAtWork || run === undefined) {
    // In service again, a Node may have pods: none of them must leave.
    const left = stored.state === 'Released' ? NO_PODS_LEFT : counts;
    return { ...stored, drainMessage: '', ...left };
  }
  const drained = isOver(run) && pending + evacuating === 0 &&
    facts.hasEnded(node.name, maintenance);
  const text = isOver(run) && !drained ? EVACUATING_MESSAGE : textOf(run, node.name);
  const bootId = stored.bootId === '' && drained ? node.bootId : stored.bootId;
  const release = { drained, drainedBootId: stored.bootId, ...node };
  return {
    ...stored,
    ...counts,
    state: isReleased(release, spec.releaseWhen, name) && spec.maxNodesAtOnce !== null
      ? 'Released'
      : stored.state,
    bootId,
    drainTargets: targets.get(node.name) ?? [],
    drainMessage: cutText(text, LIMITS.messageCharacters),
  };
};

/**
 * Done, and held by the maintenance: the next one waits until its key has left it, also when a
 * person has uncordoned it.
 */
const isLeaving = (
  { maintenance }: WorkedMaintenance,
  { name, state }: Pick<NodeStatus, 'name' | 'state'>,
  { isHeld }: ClusterFacts,
): boolean =>
  state === 'Released' && maintenance.spec.releaseWhen === 'Done' && isHeld(name, maintenance);

const byName = (left: NodeStatus, right: NodeStatus): number => compareText(left.name, right.name);

/** Nodes whose work is done; they are given back once the status shows it. */
export const nodesDone = (
  { spec }: Pick<ObservedMaintenance, 'spec'>,
  reported: Pick<NodesProgress, 'nodes'> | undefined,
): ReadonlySet<string> => {
  const nodes = spec.releaseWhen === 'Done' ? reported?.nodes ?? [] : [];
  return new Set(nodes.filter(({ state }) => state === 'Released').map(({ name }) => name));
};

/** The Nodes of a maintenance, with those that are admitted now. */
const nodeStatuses = (
  worked: WorkedMaintenance,
  resolved: Resolved,
): readonly NodeStatus[] => {
  const { maintenance: { spec, status }, nodes, begins } = worked;
  const reported = nodes.map((node) => nodeStatusNow(worked, node, resolved));
  const begunMs = startOf(status.stages, 'Cordon') ?? Infinity;
  const budgeted = nodes.map(({ name, labels, createdMs }, index): BudgetedNode => {
    const state = reported[index]?.state ?? 'Waiting';
    return {
      name,
      state: isLeaving(worked, { name, state }, resolved.facts) ? 'Admitted' : state,
      topology: labels[spec.topologyKey] ?? '',
      joinedSince: createdMs > begunMs,
    };
  });
  const admitted = new Set(begins ? nodesToAdmit(budgeted, spec.maxNodesAtOnce) : []);
  const wave = nextWave([...status.nodes, ...reported]);
  const all = reported.map((one): NodeStatus =>
    admitted.has(one.name) ? { ...one, state: 'Admitted', wave } : one
  );
  const [waiting, others] = [
    all.filter(({ state }) => state === 'Waiting'),
    all.filter(({ state }) => state !== 'Waiting'),
  ];
  // All but those that wait have room (`nodesToAdmit`); a Node that is left out waits.
  return [...others, ...waiting].slice(0, LIMITS.nodes).toSorted(byName);
};

/** Every Node had its turn, and none that is held has pods left. */
const isDrained = (
  { maintenance, nodes: selected }: WorkedMaintenance,
  nodes: readonly NodeStatus[],
  { runs, facts }: Resolved,
): boolean => {
  const isDone = (node: NodeStatus): boolean =>
    holdsNode(maintenance, node.name)
      ? hasBegun(node) && !hasPodsLeft(node) && facts.hasEnded(node.name, maintenance)
      : node.state === 'Released';
  return nodes.length === selected.length && nodes.every(isDone) &&
    (runs.get(maintenance.uid) ?? []).every(isOver);
};

/** The maintenances that are crossed with other drains, and the nodes that yield to these. */
const crossedNow = (
  draining: readonly WorkedMaintenance[],
  waits: readonly RunWait[],
  { facts, before }: { readonly facts: ClusterFacts; readonly before: ProgressMemory },
): Pick<Resolved, 'crossed' | 'yields'> => {
  const planWaits = waits.map(({ run, other, node, otherNode }) => ({
    from: run.maintenance,
    node,
    to: other.maintenance,
    wantedNode: otherNode,
  }));
  const maintenances = draining.map(({ maintenance }) => maintenance);
  const crossed = facts.isBehind
    ? new Map<string, Crossing>()
    : maintenanceCrossings(maintenances, planWaits, facts);
  const yields = new Map<string, DrainWait>();
  for (const { maintenance, yields: isDue } of draining) {
    const { uid } = maintenance;
    const found = crossed.get(maintenanceOwner(uid))?.yields;
    const now = isDue && found?.to.uid === uid ? found : undefined;
    const wait = before.yields.get(uid) ?? now;
    // Once the status has it, it is remembered there.
    const isHeld = wait !== undefined && holdsNode(maintenance, wait.wantedNode);
    if (isHeld) yields.set(uid, wait);
  }
  return { crossed, yields };
};

const reportOf = (one: WorkedMaintenance, resolved: Resolved): NodesProgress => {
  const { maintenance, drains } = one;
  const { uid, spec } = maintenance;
  const owner = maintenanceOwner(uid);
  const nodes = nodeStatuses(one, resolved);
  const waves = (resolved.runs.get(uid) ?? [])
    .map(({ wave, cursor }) => ({ number: wave, entriesDone: cursor }))
    .toSorted((left, right) => left.number - right.number);
  const crossing = resolved.crossed.get(owner);
  const hasEnded = (node: string): boolean => resolved.facts.hasEnded(node, maintenance);
  return {
    nodes,
    waves,
    drained: drains && isDrained(one, nodes, resolved),
    progress: progressText(spec, { nodes, waves, selected: one.nodes.length }, hasEnded),
    crossing: crossing === undefined ? null : {
      text: cutText(crossingText(crossing), LIMITS.messageCharacters / 2),
      yields: crossing.yields.to.uid === uid,
    },
    yieldedBy: yieldedBy(owner, resolved.all),
  };
};

/** A node is in one run of a maintenance. */
const runByNode = (runs: readonly PlanRun[]): ReadonlyMap<string, PlanRun> =>
  new Map(runs.flatMap((run) => run.nodes.map((node) => [node, run] as const)));

/** The maintenances that remove pods from each Node. */
const maintenancesByNode = (
  begun: readonly { readonly run: PlanRun; readonly maintenance: ObservedMaintenance }[],
): ReadonlyMap<string, readonly ObservedMaintenance[]> => {
  const found = new Map<string, readonly ObservedMaintenance[]>();
  for (const { run, maintenance } of begun) {
    for (const node of run.nodes) found.set(node, [...found.get(node) ?? [], maintenance]);
  }
  return found;
};

/** The progress that follows; `all` are the maintenances that exist, in whatever stage. */
export const maintenanceProgress = (
  worked: readonly WorkedMaintenance[],
  all: readonly ObservedMaintenance[],
  { facts, before }: { readonly facts: ClusterFacts; readonly before: ProgressMemory },
): MaintenanceProgress => {
  const draining = worked.filter(({ drains }) => drains);
  const begun = draining.flatMap((one) =>
    runsOf(one, before).map((run) => ({ run, maintenance: one.maintenance }))
  );
  const uncordoned = new Set(
    begun.flatMap(({ run, maintenance }) =>
      run.nodes.filter((node) => !facts.isCordoned(node, maintenance))
    ),
  );
  const ofNode = maintenancesByNode(begun);
  const hasTargetedPods = (node: string, targets: DrainTargets): boolean =>
    facts.isBehind || uncordoned.has(node) ||
    (ofNode.get(node) ?? []).some(({ uid, spec }) =>
      hasOwnLeavingPods(facts.podsOn(node, maintenanceOwner(uid)), targets, spec)
    );
  const resolvedRuns = resolveProgress(
    { runs: begun.map(({ run }) => run), targets: targetsBefore(all, before.targets, facts) },
    hasTargetedPods,
  );
  const { runs: going, targets } = resolvedRuns;
  const runs = new Map<string, PlanRun[]>();
  const cursors = new Map<string, number>();
  begun.forEach(({ maintenance: { uid } }, index) => {
    const run = going[index];
    if (run === undefined) return;
    cursors.set(cursorKey(uid, run.wave), run.cursor);
    runs.set(uid, [...runs.get(uid) ?? [], run]);
  });
  const messagesOf = drainMessages({ runs: going, targets, hasTargetedPods });
  const messages = new Map(going.map((run) => [run, messagesOf(run)]));
  const textOf = (run: PlanRun, node: string): string => messages.get(run)?.get(node) ?? '';
  const waits = runWaits(resolvedRuns, hasTargetedPods);
  const { crossed, yields } = crossedNow(draining, waits, { facts, before });
  const runOf = new Map([...runs].map(([uid, ofOne]) => [uid, runByNode(ofOne)]));
  const resolved: Resolved = { runs, runOf, targets, textOf, facts, all, crossed, yields };
  const reported = new Map(worked.map((one) => [one.maintenance.uid, reportOf(one, resolved)]));
  return { targets, cursors, yields, reported };
};
