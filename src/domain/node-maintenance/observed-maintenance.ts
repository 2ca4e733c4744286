/**
 * A NodeMaintenance as the API server returns it.
 *
 * Promises: total for any object; plain data, suitable for machine context; lists and texts are cut
 * at the bounds of the schema, so that an object of another schema costs no more.
 */
import { type DrainOwner, isDrainOwner } from '../drain/cordon.ts';
import type { Identity } from '../facts.ts';
import {
  type JsonRecord,
  listOrEmptyAt,
  numberAt,
  recordAt,
  textAt,
  timeAt,
  valueAt,
} from '../json.ts';
import { type LabelConditions, labelSelectorOf } from '../label-selector.ts';
import { generationOf, identityOf, isDeleting } from '../object-meta.ts';
import { type StoredCondition, storedConditionOf } from '../stored-condition.ts';
import { type DrainPlanEntry, planEntriesOf } from './drain-plan.ts';
import type { PodScope } from './drain-step.ts';
import type { DrainTargets } from './drain-targets.ts';
import { NODE_MAINTENANCE_LIMITS } from './maintenance-limits.ts';
import { type MaintenanceName, maintenanceName } from './maintenance-name.ts';
import { type NodeSelector, nodeSelectorOf } from './node-selector.ts';
import { type MaintenancePreview, previewOf } from './preview.ts';
import { POD_TYPES, type PodType } from './typed-pods.ts';
import { type Stage, stageOf, STAGES, type StageStatus } from './stage.ts';

/** Holds a maintenance that is not idle until its nodes are schedulable again (NM-08). */
export const MAINTENANCE_FINALIZER = 'lifecycle.tidegate.dev/maintenance-completion';

/** When another node may follow an admitted one. */
export const RELEASES = ['Drained', 'Done'] as const;
export type ReleaseWhen = (typeof RELEASES)[number];

/** A number of nodes, or a share of those that match. */
export type NodeCount =
  | { readonly _tag: 'Number'; readonly nodes: number }
  | { readonly _tag: 'Percent'; readonly percent: number };

/** When nodes may begin. */
export interface WindowSpec {
  /** Five fields of cron. */
  readonly schedule: string;
  readonly durationMinutes: number;
  /** IANA name. */
  readonly timeZone: string;
}

/** What the maintenance asks for. */
export interface MaintenanceSpec extends PodScope {
  readonly nodeSelector: NodeSelector;
  readonly stage: Stage;
  /** As written; `effectivePlan` adds what is injected. */
  readonly drainPlan: readonly DrainPlanEntry[];
  /** The grace of evictions, in seconds; `null`: that of each pod. */
  readonly gracePeriodSeconds: number | null;
  readonly reason: string;
  /** `null`: all at once. */
  readonly maxNodesAtOnce: NodeCount | null;
  /** The label whose values each have `maxNodesAtOnce`; empty: the nodes together have it. */
  readonly topologyKey: string;
  readonly releaseWhen: ReleaseWhen;
  readonly window: WindowSpec | null;
}

/** Where a node is in its maintenance. */
export const NODE_STATES = ['Waiting', 'Admitted', 'Yielding', 'Released'] as const;
export type NodeState = (typeof NODE_STATES)[number];

/** A drain to which another one yields: the owner of its cordon, and where it waits. */
export interface YieldsTo {
  readonly owner: DrainOwner;
  readonly node: string;
}

/** A node of the maintenance, as its status shows it. */
export interface NodeStatus {
  readonly name: string;
  readonly state: NodeState;
  /** The wave that it was admitted with; 0 before. */
  readonly wave: number;
  /** `status.nodeInfo.bootID` when it was drained; empty before. */
  readonly bootId: string;
  readonly drainTargets: DrainTargets;
  readonly drainMessage: string;
  readonly podsPendingEvacuation: number;
  readonly podsEvacuating: number;
  /** `null` unless it yields. */
  readonly yieldsTo: YieldsTo | null;
}

/** How far the nodes of one wave are in the plan. */
export interface WaveStatus {
  readonly number: number;
  /** Entries of the effective plan that are done on all of them: the cursor. */
  readonly entriesDone: number;
}

/** The types of the conditions that the controller writes. */
export const MAINTENANCE_CONDITIONS = [
  'Completed',
  'Drained',
  'SelectsAllNodes',
  'TooManyNodes',
] as const;
export type MaintenanceConditionType = (typeof MAINTENANCE_CONDITIONS)[number];

/** A condition that the controller writes. */
export type MaintenanceCondition = StoredCondition<MaintenanceConditionType>;

/** The progress of the maintenance. */
export interface MaintenanceStatus {
  readonly observedGeneration: number;
  readonly stages: readonly StageStatus[];
  readonly nodes: readonly NodeStatus[];
  readonly waves: readonly WaveStatus[];
  /** Drained nodes of the nodes that match; empty before the first stage that cordons. */
  readonly progress: string;
  /** What a drain would meet; `null` unless the stage is Idle. */
  readonly preview: MaintenancePreview | null;
  readonly conditions: readonly MaintenanceCondition[];
}

/** The cached fields of a NodeMaintenance. */
export interface ObservedMaintenance extends Identity {
  readonly name: MaintenanceName;
  readonly generation: number;
  readonly createdMs: number;
  readonly deleting: boolean;
  /** It has our finalizer. */
  readonly hasFinalizer: boolean;
  readonly spec: MaintenanceSpec;
  readonly status: MaintenanceStatus;
}

const LIMITS = NODE_MAINTENANCE_LIMITS;

const cutAt = (max: number, raw: unknown, ...path: readonly string[]): string =>
  (textAt(raw, ...path) ?? '').slice(0, max);

const countAt = (raw: unknown, field: string): number =>
  Math.max(0, Math.trunc(numberAt(raw, field) ?? 0));

const PERCENT = /^(?<percent>\d{1,3})%$/u;

/** Reads a number of nodes or a percentage; what is neither is no limit. */
const nodeCountOf = (raw: unknown): NodeCount | null => {
  if (typeof raw === 'number') return { _tag: 'Number', nodes: Math.max(1, Math.trunc(raw)) };
  const percent = typeof raw === 'string' ? PERCENT.exec(raw)?.groups?.['percent'] : undefined;
  return percent === undefined ? null : { _tag: 'Percent', percent: Number(percent) };
};

const windowOf = (raw: unknown): WindowSpec | null => {
  const schedule = textAt(raw, 'schedule');
  if (schedule === undefined) return null;
  return {
    schedule: schedule.slice(0, LIMITS.textCharacters),
    durationMinutes: countAt(raw, 'durationMinutes'),
    timeZone: textAt(raw, 'timeZone') ?? 'UTC',
  };
};

const podTypesOf = (raw: unknown): readonly PodType[] => {
  const named = listOrEmptyAt(raw, 'podTypes');
  return named.length === 0 ? POD_TYPES : POD_TYPES.filter((type) => named.includes(type));
};

/** Selects no pod: what cannot be read must not empty nodes. */
const NO_POD: LabelConditions = [{ key: 'unreadable', operator: 'In', values: [] }];

const podSelectorOf = (raw: JsonRecord | undefined): LabelConditions | null => {
  if (raw === undefined) return null;
  const conditions = labelSelectorOf(raw) ?? NO_POD;
  return conditions.length === 0 ? null : conditions;
};

const graceOf = (seconds: number | undefined): number | null =>
  seconds === undefined ? null : Math.max(1, Math.trunc(seconds));

const specOf = (raw: unknown): MaintenanceSpec => ({
  nodeSelector: nodeSelectorOf(recordAt(raw, 'nodeSelector')),
  stage: stageOf(textAt(raw, 'stage')),
  drainPlan: planEntriesOf(listOrEmptyAt(raw, 'drainPlan')),
  podTypes: podTypesOf(raw),
  podSelector: podSelectorOf(recordAt(raw, 'podSelector')),
  gracePeriodSeconds: graceOf(numberAt(raw, 'gracePeriodSeconds')),
  reason: cutAt(LIMITS.reasonCharacters, raw, 'reason'),
  maxNodesAtOnce: nodeCountOf(valueAt(raw, 'maxNodesAtOnce')),
  topologyKey: cutAt(LIMITS.textCharacters, raw, 'topologyKey'),
  releaseWhen: RELEASES.find((when) => when === textAt(raw, 'releaseWhen')) ?? 'Done',
  window: windowOf(recordAt(raw, 'window')),
});

const stageStatusOf = (raw: unknown): readonly StageStatus[] => {
  const name = STAGES.find((stage) => stage === textAt(raw, 'name'));
  return name === undefined ? [] : [{ name, startMs: timeAt(raw, 'startTimestamp') ?? 0 }];
};

const yieldsToOf = (raw: unknown): YieldsTo | null => {
  const owner = textAt(raw, 'owner') ?? '';
  const node = cutAt(LIMITS.textCharacters, raw, 'node');
  return isDrainOwner(owner) && node !== '' ? { owner, node } : null;
};

const nodeStatusOf = (raw: unknown): readonly NodeStatus[] => {
  const name = textAt(raw, 'nodeRef', 'name');
  if (name === undefined) return [];
  return [{
    name,
    state: NODE_STATES.find((state) => state === textAt(raw, 'state')) ?? 'Waiting',
    wave: countAt(raw, 'wave'),
    bootId: cutAt(LIMITS.textCharacters, raw, 'bootID'),
    drainTargets: planEntriesOf(listOrEmptyAt(raw, 'drainTargets'), LIMITS.drainTargets),
    drainMessage: cutAt(LIMITS.messageCharacters, raw, 'drainMessage'),
    podsPendingEvacuation: countAt(raw, 'podsPendingEvacuation'),
    podsEvacuating: countAt(raw, 'podsEvacuating'),
    yieldsTo: yieldsToOf(recordAt(raw, 'yieldsTo')),
  }];
};

const waveOf = (raw: unknown): readonly WaveStatus[] => {
  const number = numberAt(raw, 'number');
  return number === undefined ? [] : [{ number, entriesDone: countAt(raw, 'entriesDone') }];
};

const conditionOf = (raw: unknown): readonly MaintenanceCondition[] =>
  storedConditionOf(raw, MAINTENANCE_CONDITIONS, LIMITS.messageCharacters);

const statusOf = (raw: unknown): MaintenanceStatus => ({
  observedGeneration: countAt(raw, 'observedGeneration'),
  stages: listOrEmptyAt(raw, 'stageStatuses').slice(0, LIMITS.stages).flatMap(stageStatusOf),
  nodes: listOrEmptyAt(raw, 'nodeStatuses').slice(0, LIMITS.nodes).flatMap(nodeStatusOf),
  waves: listOrEmptyAt(raw, 'waves').slice(0, LIMITS.nodes).flatMap(waveOf),
  progress: cutAt(LIMITS.textCharacters, raw, 'progress'),
  preview: previewOf(recordAt(raw, 'preview')),
  conditions: listOrEmptyAt(raw, 'conditions').slice(0, LIMITS.statusConditions)
    .flatMap(conditionOf),
});

/** Reads a NodeMaintenance. `undefined` without an identity. */
export const projectMaintenance = (raw: unknown): ObservedMaintenance | undefined => {
  const identity = identityOf(raw);
  if (identity === undefined) return undefined;
  return {
    ...identity,
    name: maintenanceName(textAt(raw, 'metadata', 'name') ?? ''),
    generation: generationOf(raw),
    createdMs: timeAt(raw, 'metadata', 'creationTimestamp') ?? 0,
    deleting: isDeleting(raw),
    hasFinalizer: listOrEmptyAt(raw, 'metadata', 'finalizers').includes(MAINTENANCE_FINALIZER),
    spec: specOf(recordAt(raw, 'spec')),
    status: statusOf(recordAt(raw, 'status')),
  };
};
