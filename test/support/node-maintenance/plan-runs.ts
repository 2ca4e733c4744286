/** Maintenances that drain nodes with pods, and what their status shows. */
import type { DrainPod } from '../../../src/domain/drain/pod.ts';
import { drainMessages } from '../../../src/domain/node-maintenance/drain-message.ts';
import {
  type DrainPlanEntry,
  effectivePlan,
} from '../../../src/domain/node-maintenance/drain-plan.ts';
import {
  type DrainProgress,
  type NeighbourRule,
  resolveProgress,
} from '../../../src/domain/node-maintenance/drain-progress.ts';
import { hasLeavingPods } from '../../../src/domain/node-maintenance/drain-step.ts';
import type { DrainTargets, PlanRun } from '../../../src/domain/node-maintenance/drain-targets.ts';
import { maintenanceName } from '../../../src/domain/node-maintenance/maintenance-name.ts';
import { POD_TYPES, type PodType } from '../../../src/domain/node-maintenance/typed-pods.ts';
import type { LabelConditions } from '../../../src/domain/label-selector.ts';
import { podOf, type PodTraits } from '../drains/drain-facts.ts';

/** The conditions of `matchLabels: {app: …}`. */
const ofApp = (app: string): LabelConditions => [
  { key: 'app', operator: 'In', values: [app] },
];

/** An entry of a plan. */
export const entryOf = (
  podPriority: number,
  podType?: PodType,
  app?: string,
): DrainPlanEntry => ({
  podType: podType ?? 'Default',
  podPriority,
  podSelector: app === undefined ? null : ofApp(app),
});

/** A maintenance at the beginning of its effective plan; of two, the first listed is older. */
export const runOf = (
  name: string,
  nodes: readonly string[],
  written: readonly DrainPlanEntry[],
): PlanRun => ({
  maintenance: maintenanceName(name),
  wave: 1,
  createdMs: 0,
  plan: effectivePlan(written, POD_TYPES),
  cursor: 0,
  nodes,
});

let pods = 0;

/** A pod of this type. */
export const podOfType = (podType: PodType, traits: PodTraits = {}): DrainPod =>
  podOf({
    name: `p${pods += 1}`,
    ...(podType === 'DaemonSet' ? { controller: { kind: 'DaemonSet', name: 'ds' } } : {}),
    ...(podType === 'Static'
      ? {
        controller: { kind: 'Node', name: 'n' },
        annotations: { 'kubernetes.io/config.mirror': 'x' },
      }
      : {}),
    ...traits,
  });

/** `5000`, `DS 1000`, `pg 2000`. */
const targetText = ({ podType, podPriority, podSelector }: DrainPlanEntry): string => {
  const words = [
    ...(podType === 'Default' ? [] : [podType]),
    ...(podSelector ?? []).flatMap(({ values }) => values),
  ];
  const priority = podPriority === 2 ** 31 - 1 ? 'max' : `${podPriority}`;
  return [...words, priority].join(' ');
};

/** `5000; pg 5000`. */
export const targetsText = (targets: DrainTargets): string => targets.map(targetText).join('; ');

/** Maintenances, their nodes and the pods that are left. */
export interface DrainScene {
  /** Adds a maintenance that is younger than those before. */
  readonly add: (run: PlanRun) => void;
  /** Removes a maintenance, as at its end. */
  readonly end: (name: string) => void;
  /** Adds pods to a node. */
  readonly start: (node: string, ...pods: readonly DrainPod[]) => void;
  /** All targeted pods leave the node. */
  readonly drain: (node: string) => void;
  /** What a status shows: `{'a/one': '5000 Evacuating'}`. */
  readonly table: () => Readonly<Record<string, string>>;
  readonly targetsOf: (node: string) => DrainTargets;
}

/** Starts empty. */
export const drainScene = (rule: NeighbourRule = 'strict'): DrainScene => {
  const left = new Map<string, readonly DrainPod[]>();
  let progress: DrainProgress = { runs: [], targets: new Map() };
  let created = 0;
  const hasTargetedPods = (node: string, targets: DrainTargets): boolean =>
    hasLeavingPods(left.get(node) ?? [], targets);
  const settle = (): void => {
    progress = resolveProgress(progress, hasTargetedPods, rule);
  };
  return {
    add: (run) => {
      const runs = [...progress.runs, { ...run, createdMs: created += 1 }];
      progress = { ...progress, runs };
      settle();
    },
    end: (name) => {
      const runs = progress.runs.filter(({ maintenance }) => maintenance !== name);
      progress = { ...progress, runs };
      settle();
    },
    start: (node, ...added) => {
      left.set(node, [...left.get(node) ?? [], ...added]);
      settle();
    },
    drain: (node) => {
      const targets = progress.targets.get(node) ?? [];
      left.set(node, (left.get(node) ?? []).filter((pod) => !hasLeavingPods([pod], targets)));
      settle();
    },
    table: () => {
      const { runs, targets } = progress;
      const messages = drainMessages({ runs, targets, hasTargetedPods });
      return Object.fromEntries(
        runs.flatMap((run) =>
          [...messages(run)].map(([node, message]) => [
            `${run.maintenance}/${node}`,
            `${targetsText(targets.get(node) ?? [])} ${message}`,
          ])
        ),
      );
    },
    targetsOf: (node) => progress.targets.get(node) ?? [],
  };
};
