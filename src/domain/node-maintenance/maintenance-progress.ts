/**
 * How far all maintenances are on their Nodes: targets, cursors, messages and counts.
 *
 * Promises: pure; a plan goes on only by caches that are fresh, and on Nodes that are cordoned for
 * each of their maintenances (NM-38); the targets of a Node never shrink while one of them exists,
 * whichever process stored them (NM-39).
 */
import type { DrainPod } from '../drain/pod.ts';
import { effectivePlan, entrySelects } from './drain-plan.ts';
import { drainMessages } from './drain-message.ts';
import { type DrainProgress, resolveProgress } from './drain-progress.ts';
import { evacuationCounts, hasLeavingPods } from './drain-step.ts';
import {
  type DrainTargets,
  isOver,
  type PlanRun,
  reachedRank,
  type TargetsByNode,
} from './drain-targets.ts';
import { NODE_MAINTENANCE_LIMITS } from './maintenance-limits.ts';
import type { ObservedNodes } from './maintenance-step.ts';
import type { NodeStatus, ObservedMaintenance } from './observed-maintenance.ts';

/** A maintenance that cordons or drains. */
export interface WorkedMaintenance {
  readonly maintenance: ObservedMaintenance;
  /** The Nodes that it selects, by name. */
  readonly nodes: readonly string[];
  readonly drains: boolean;
}

/** What Nodes and pods show. */
export interface ClusterFacts {
  /** The pods of a Node, without those that came back past the cordon. */
  readonly podsOn: (node: string) => readonly DrainPod[];
  /** The Node is unschedulable and has the key of the maintenance. */
  readonly isCordoned: (node: string, maintenance: ObservedMaintenance) => boolean;
  /** The caches are behind: no plan goes on. */
  readonly isBehind: boolean;
}

/** What is remembered from one look to the next; the status has it for the next process. */
export interface ProgressMemory {
  readonly targets: TargetsByNode;
  /** The entry at work, by UID. */
  readonly cursors: ReadonlyMap<string, number>;
}

/** The progress of all, and what each of them shows of its Nodes. */
export interface MaintenanceProgress extends ProgressMemory {
  readonly observed: ReadonlyMap<string, Pick<ObservedNodes, 'nodes' | 'waves' | 'drained'>>;
}

/** Nothing is remembered. */
export const NO_PROGRESS: ProgressMemory = { targets: new Map(), cursors: new Map() };

/** Nodes are admitted all together. */
const WAVE = 1;

const further = (left: DrainTargets, right: DrainTargets): DrainTargets =>
  reachedRank(left) >= reachedRank(right) ? left : right;

/** The targets that the status of a maintenance has for a Node. */
export const storedTargets = ({ status }: ObservedMaintenance, node: string): DrainTargets =>
  status.nodes.find(({ name }) => name === node)?.drainTargets ?? [];

/** The targets of before: remembered, or stored by any maintenance that still exists. */
const targetsBefore = (
  all: Iterable<ObservedMaintenance>,
  { targets }: ProgressMemory,
): TargetsByNode => {
  const before = new Map<string, DrainTargets>(targets);
  for (const { status } of all) {
    for (const { name, drainTargets } of status.nodes) {
      before.set(name, further(before.get(name) ?? [], drainTargets));
    }
  }
  return before;
};

const runOf = (
  { maintenance, nodes }: WorkedMaintenance,
  { cursors }: ProgressMemory,
): PlanRun => ({
  maintenance: maintenance.name,
  wave: WAVE,
  createdMs: maintenance.createdMs,
  plan: effectivePlan(maintenance.spec.drainPlan, maintenance.spec.podTypes),
  cursor: cursors.get(maintenance.uid) ??
    maintenance.status.waves.find(({ number }) => number === WAVE)?.entriesDone ?? 0,
  nodes,
});

/** A Node that is cordoned only, or not in the plan yet. */
const cordonedNode = (name: string): NodeStatus => ({
  name,
  state: 'Admitted',
  wave: WAVE,
  bootId: '',
  drainTargets: [],
  drainMessage: '',
  podsPendingEvacuation: 0,
  podsEvacuating: 0,
});

/** Whether targets select the pod. */
export const isTargetedBy = (targets: DrainTargets, pod: DrainPod): boolean =>
  targets.some((entry) => entrySelects(entry, pod));

/** The status of the Nodes of a maintenance that drains. */
const drainedNodes = (
  { maintenance }: WorkedMaintenance,
  run: PlanRun,
  { progress: { targets }, messages, facts }: {
    readonly progress: DrainProgress;
    readonly messages: (run: PlanRun) => ReadonlyMap<string, string>;
    readonly facts: ClusterFacts;
  },
): readonly NodeStatus[] => {
  const { messageCharacters, nodes: nodesMax } = NODE_MAINTENANCE_LIMITS;
  const texts = messages(run);
  return run.nodes.slice(0, nodesMax).map((name) => {
    const stored = storedTargets(maintenance, name);
    const { pending, evacuating } = evacuationCounts(
      facts.podsOn(name),
      maintenance.spec.podTypes,
      (pod) => pod.terminating || isTargetedBy(stored, pod),
    );
    return {
      ...cordonedNode(name),
      drainTargets: targets.get(name) ?? [],
      drainMessage: (texts.get(name) ?? '').slice(0, messageCharacters),
      podsPendingEvacuation: pending,
      podsEvacuating: evacuating,
    };
  });
};

const hasPods = ({ podsPendingEvacuation, podsEvacuating }: NodeStatus): boolean =>
  podsPendingEvacuation + podsEvacuating > 0;

/** The progress that follows; `all` are the maintenances that exist, in whatever stage. */
export const maintenanceProgress = (
  worked: readonly WorkedMaintenance[],
  all: Iterable<ObservedMaintenance>,
  { facts, before }: { readonly facts: ClusterFacts; readonly before: ProgressMemory },
): MaintenanceProgress => {
  const draining = worked.filter(({ drains }) => drains);
  const uncordoned = new Set(
    draining.flatMap(({ maintenance, nodes }) =>
      nodes.filter((node) => !facts.isCordoned(node, maintenance))
    ),
  );
  const hasTargetedPods = (node: string, targets: DrainTargets): boolean =>
    facts.isBehind || uncordoned.has(node) || hasLeavingPods(facts.podsOn(node), targets);
  const progress = resolveProgress(
    {
      runs: draining.map((one) => runOf(one, before)),
      targets: targetsBefore(all, before),
    },
    hasTargetedPods,
  );
  const messages = drainMessages({ ...progress, hasTargetedPods });
  const observed = new Map<string, Pick<ObservedNodes, 'nodes' | 'waves' | 'drained'>>();
  for (const { maintenance, nodes, drains } of worked) {
    if (drains) continue;
    const shown = nodes.slice(0, NODE_MAINTENANCE_LIMITS.nodes).map(cordonedNode);
    observed.set(maintenance.uid, { nodes: shown, waves: [], drained: false });
  }
  const cursors = new Map<string, number>();
  progress.runs.forEach((run, index) => {
    const one = draining[index];
    if (one === undefined) return;
    const nodes = drainedNodes(one, run, { progress, messages, facts });
    cursors.set(one.maintenance.uid, run.cursor);
    observed.set(one.maintenance.uid, {
      nodes,
      waves: [{ number: WAVE, entriesDone: run.cursor }],
      drained: isOver(run) && !nodes.some(hasPods) && !run.nodes.some((node) =>
        uncordoned.has(node)
      ),
    });
  });
  return { targets: progress.targets, cursors, observed };
};
