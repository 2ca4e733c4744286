/**
 * What a NodeMaintenance would meet: its nodes by waves, its pods by entries of the plan, and what
 * stands in its way.
 *
 * Promises: uses the decision functions of the maintenance itself; computed from what was read, and
 * from nothing that happens later.
 */
import type { Budget } from '../domain/drain/budget.ts';
import type { DrainPod } from '../domain/drain/pod.ts';
import { effectivePlan, planEntryBody } from '../domain/node-maintenance/drain-plan.ts';
import { mustLeave } from '../domain/node-maintenance/drain-step.ts';
import { nodesAtOnce, tooManyNodesText } from '../domain/node-maintenance/node-budget.ts';
import type {
  NodeState,
  ObservedMaintenance,
  ReleaseWhen,
} from '../domain/node-maintenance/observed-maintenance.ts';
import {
  type FindingReason,
  type MaintenancePreview,
  maintenancePreview,
  type PreviewFinding,
} from '../domain/node-maintenance/preview.ts';
import type { Stage } from '../domain/node-maintenance/stage.ts';
import { forecastWaves } from '../domain/node-maintenance/wave-forecast.ts';
import { plural } from '../domain/drain/verdict.ts';

/** A node of the maintenance. */
export interface PlannedNode {
  readonly node: string;
  /** The value of `spec.topologyKey`; null without one. */
  readonly topology: string | null;
  /** Pods that must leave. */
  readonly pods: number;
  readonly schedulable: boolean;
  /** The wave to come, counted from 1; null when it has had its turn. */
  readonly wave: number | null;
}

/** The plan of a maintenance. */
export interface MaintenancePlanView {
  readonly maintenance: string;
  readonly stage: Stage;
  readonly reason: string;
  /** In the order of waves. */
  readonly nodes: readonly PlannedNode[];
  readonly waves: number;
  /** Nodes under way at once; null: all. */
  readonly nodesAtOnce: string | null;
  readonly topologyKey: string | null;
  readonly releaseWhen: ReleaseWhen;
  /** Entries of the effective plan with pods, in the notation of the API. */
  readonly entries: readonly object[];
  readonly staticPods: number;
  /** What would hold pods back. */
  readonly blockers: readonly PreviewFinding[];
  /** What would be lost. */
  readonly losses: readonly PreviewFinding[];
  /** Evictions one after another that budgets, entries and waves force; null: without end. */
  readonly rounds: number | null;
  /** How long the terminations of these rounds may take; null: without end. */
  readonly terminationSeconds: number | null;
  /** What the preview cannot know. */
  readonly unknown: readonly string[];
}

/** What was read. */
export interface MaintenancePlanFacts {
  readonly nodes: readonly {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly unschedulable: boolean;
  }[];
  /** Nodes of the cluster. */
  readonly all: number;
  readonly pods: readonly DrainPod[];
  readonly budgets: readonly Budget[];
}

/** Findings that hold pods back; the others lose something. */
const BLOCKING: readonly FindingReason[] = [
  'BlockedByBudget',
  'BudgetNeverAllows',
  'BudgetBroken',
  'TwoBudgets',
];

const sumOrNull = (values: readonly (number | null)[]): number | null =>
  values.reduce<number | null>(
    (sum, value) => sum === null || value === null ? null : sum + value,
    0,
  );

const atOnceText = ({ spec: { maxNodesAtOnce: count } }: ObservedMaintenance): string | null => {
  if (count === null) return null;
  return count._tag === 'Number' ? `${nodesAtOnce(count, count.nodes)}` : `${count.percent}%`;
};

const unknownOf = (
  { name, spec: { releaseWhen, maxNodesAtOnce, window } }: ObservedMaintenance,
  { nodes, all }: MaintenancePlanFacts,
): readonly string[] => [
  ...(nodes.length === 0 ? ['No node matches the selector'] : []),
  ...(all > 0 && nodes.length === all ? ['The selector matches every node of the cluster'] : []),
  ...[tooManyNodesText({ name }, nodes.length)].filter((text) => text !== ''),
  ...(window === null ? [] : [
    `When its window opens: ${window.schedule} (${window.timeZone}), ` +
    `for ${plural(window.durationMinutes, 'minute')}`,
  ]),
  ...(maxNodesAtOnce !== null && releaseWhen === 'Done'
    ? ['How long the work on each node takes: the next node follows when it is done']
    : []),
  'Where the pods find a place, and how long they take to start: see --simulate',
];

/** Computes the plan. */
export const maintenancePlan = (
  maintenance: ObservedMaintenance,
  facts: MaintenancePlanFacts,
): MaintenancePlanView => {
  const { name, spec, status } = maintenance;
  const { topologyKey } = spec;
  const states = new Map(status.nodes.map((one): [string, NodeState] => [one.name, one.state]));
  const waves = forecastWaves(
    facts.nodes.map((node) => ({
      name: node.name,
      topology: node.labels[topologyKey] ?? '',
      state: states.get(node.name) ?? 'Waiting',
    })),
    spec.maxNodesAtOnce,
  );
  const waveOf = new Map(
    waves.flatMap((names, wave) => names.map((one): [string, number] => [one, wave + 1])),
  );
  const plan = effectivePlan(spec.drainPlan, spec.podTypes);
  const onNode = Map.groupBy(facts.pods, ({ node }) => node);
  const previewOf = (names: readonly string[]): MaintenancePreview =>
    maintenancePreview({
      podsByNode: new Map(names.map((one) => [one, onNode.get(one) ?? []])),
      plan,
      scope: spec,
      graceSeconds: spec.gracePeriodSeconds,
      budgets: facts.budgets,
    });
  const preview = previewOf(waves.flat());
  const byWave = waves.map(previewOf);
  const nodes = facts.nodes.map((node): PlannedNode => ({
    node: node.name,
    topology: topologyKey === '' ? null : node.labels[topologyKey] ?? '',
    pods: (onNode.get(node.name) ?? []).filter((pod) => mustLeave(pod, spec)).length,
    schedulable: !node.unschedulable,
    wave: waveOf.get(node.name) ?? null,
  }));
  const place = new Map(waves.flat().map((one, index) => [one, index]));
  return {
    maintenance: name,
    stage: spec.stage,
    reason: spec.reason,
    nodes: nodes.toSorted((left, right) =>
      (place.get(left.node) ?? -1) - (place.get(right.node) ?? -1)
    ),
    waves: waves.length,
    nodesAtOnce: atOnceText(maintenance),
    topologyKey: topologyKey === '' ? null : topologyKey,
    releaseWhen: spec.releaseWhen,
    entries: preview.entries.map(({ entry, pods }) => ({ ...planEntryBody(entry), pods })),
    staticPods: preview.staticPods,
    blockers: preview.findings.filter(({ reason }) => BLOCKING.includes(reason)),
    losses: preview.findings.filter(({ reason }) => !BLOCKING.includes(reason)),
    rounds: sumOrNull(byWave.map(({ rounds }) => rounds)),
    terminationSeconds: sumOrNull(byWave.map(({ terminationSeconds }) => terminationSeconds)),
    unknown: unknownOf(maintenance, facts),
  };
};

/** `2 nodes in 1 wave`. */
export const wavesText = ({ nodes, waves }: MaintenancePlanView): string =>
  `${plural(nodes.length, 'node')} in ${plural(waves, 'wave')}`;
