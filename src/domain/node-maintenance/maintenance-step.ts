/**
 * One NodeMaintenance: what its work waits for, and what is written to it next (KEP-4212, *Stages*,
 * *Finalizers and Deletion*, *Status*).
 *
 * Promises: total and pure; no Node is touched before the finalizer is stored (NM-08), and the
 * finalizer leaves only when no Node has a key of the maintenance (NM-09); a deletion completes an
 * active maintenance first; the spec is changed for nothing else.
 */
import { sameJson } from '../json-equality.ts';
import type {
  MaintenanceCondition,
  MaintenanceStatus,
  NodeStatus,
  ObservedMaintenance,
  WaveStatus,
} from './observed-maintenance.ts';
import type { MaintenancePreview } from './preview.ts';
import { hasPodsLeft, podsLeft } from './progress-text.ts';
import { cordons, type Stage, withStartedStage, workedStage } from './stage.ts';
import { closedWindowText, type WindowFacts, windowPhase } from './window.ts';

/** What Nodes and pods show of a maintenance. */
export interface ObservedNodes {
  /** One for each Node that it selects; of those that wait, as many as there is room for. */
  readonly nodes: readonly NodeStatus[];
  readonly waves: readonly WaveStatus[];
  /** Its plan is over, and no pod that must leave is left on any of them. */
  readonly drained: boolean;
  /** No Node has a key of the maintenance. */
  readonly released: boolean;
  /** It selects every Node of the cluster. */
  readonly selectsAll: boolean;
  /** Why Nodes that it selects do not begin; empty when all may. Absent until they are counted. */
  readonly tooManyNodes?: string;
  /** Drained Nodes of all; empty before the first stage that cordons. */
  readonly progress: string;
  /** A Node whose drain was refused; empty without one. */
  readonly refused: string;
  /** It and other drains wait for each other. */
  readonly crossing: ObservedCrossing | null;
  /** Who yields Nodes to it, for people; empty when nobody does. */
  readonly yieldedBy: string;
}

/** A crossing, as a maintenance that is part of it observes it. */
export interface ObservedCrossing {
  /** What waits for what, and who yields. */
  readonly text: string;
  /** It is the one that yields. */
  readonly yields: boolean;
}

/** A preview, and the generation of the spec that it is about. */
export interface ComputedPreview {
  readonly generation: number;
  readonly preview: MaintenancePreview;
}

/** Everything that decides about a maintenance. */
export interface MaintenanceFacts extends WindowFacts {
  readonly observed: ObservedNodes;
  /** What the status is to show; `null` before the first one. */
  readonly preview: ComputedPreview | null;
}

/** The preview that the status has. */
export const storedPreview = (
  { status: { observedGeneration: generation, preview } }: Pick<ObservedMaintenance, 'status'>,
): ComputedPreview | null => preview === null ? null : { generation, preview };

/** What the work of a maintenance waits for. */
export type MaintenancePhase =
  /** For a person to choose a stage. */
  | 'Idle'
  /** For the finalizer: no Node is touched before. */
  | 'Unprotected'
  /** For a person to choose the next stage; its Nodes are cordoned. */
  | 'Cordoned'
  /** For pods to leave. */
  | 'Evacuating'
  /** For a person to complete it. */
  | 'Drained'
  /** For its keys to leave the Nodes. */
  | 'Releasing'
  | 'Completed';

/** What its drains wait for, besides their pods. */
export type DrainsPhase =
  | 'Going'
  /** For another try: the drain of a Node was refused. */
  | 'Refused'
  /** For one that yields: it and other drains wait for each other. */
  | 'Crossed'
  /** For the drain to which a Node yields. */
  | 'Yielding';

/** What the status has of the Nodes, until they are looked at. */
export const storedNodes = (
  maintenance: ObservedMaintenance,
  released: boolean,
): ObservedNodes => {
  const { status } = maintenance;
  const isDraining = workedStage(maintenance) === 'Drain';
  const isTrue = (type: MaintenanceCondition['type']): boolean =>
    status.conditions.some((one) => one.type === type && one.status === 'True');
  return {
    nodes: status.nodes,
    waves: status.waves,
    drained: isDraining && isTrue('Drained'),
    released,
    selectsAll: isTrue('SelectsAllNodes'),
    progress: status.progress,
    refused: '',
    crossing: null,
    yieldedBy: '',
  };
};

/** The next write to a maintenance. */
export type MaintenanceWrite =
  | { readonly write: 'addFinalizer' }
  | { readonly write: 'complete' }
  | { readonly write: 'setStatus'; readonly status: MaintenanceStatus }
  | { readonly write: 'removeFinalizer' };

/** What follows from the facts. */
export interface MaintenanceStep {
  readonly phase: MaintenancePhase;
  readonly write: MaintenanceWrite | null;
}

/** The phase of its work. */
const maintenancePhase = (
  { maintenance, observed }: MaintenanceFacts,
): MaintenancePhase => {
  const stage = workedStage(maintenance);
  if (stage === 'Idle') return 'Idle';
  if (stage === 'Complete') return observed.released ? 'Completed' : 'Releasing';
  if (!maintenance.hasFinalizer) return 'Unprotected';
  if (stage === 'Cordon') return 'Cordoned';
  return observed.drained ? 'Drained' : 'Evacuating';
};

/** The phase of its drains. */
export const drainsPhase = (facts: MaintenanceFacts): DrainsPhase => {
  const { crossing, refused, nodes } = facts.observed;
  if (maintenancePhase(facts) !== 'Evacuating') return 'Going';
  if (crossing !== null) return 'Crossed';
  if (refused !== '') return 'Refused';
  return nodes.some(({ state }) => state === 'Yielding') ? 'Yielding' : 'Going';
};

const counted = (count: number, noun: string): string =>
  count === 1 ? `1 ${noun}` : `${count} ${noun}s`;

type Wanted = Omit<MaintenanceCondition, 'sinceMs'>;

/** The node begins in the window only. */
const waitsForWindow = (stage: Stage) => ({ state, drainTargets }: NodeStatus): boolean =>
  state === 'Waiting' || (stage === 'Drain' && state === 'Admitted' && drainTargets.length === 0);

/** Why nodes do not begin, while some would and none is under way; undefined otherwise. */
const windowCondition = (facts: MaintenanceFacts): Wanted | undefined => {
  const { maintenance, observed: { nodes, drained } } = facts;
  const stage = workedStage(maintenance);
  const text = closedWindowText(facts);
  const isWaiting = waitsForWindow(stage);
  const waiting = nodes.filter(isWaiting).length;
  const isBusy = stage === 'Drain' && nodes.some((one) => !isWaiting(one) && hasPodsLeft(one));
  if (text === '' || drained || isBusy || waiting === 0) return undefined;
  return {
    type: 'Drained',
    status: 'False',
    reason: windowPhase(facts) === 'Malformed' ? 'WindowMalformed' : 'WindowClosed',
    message: `${text}; not begun: ${waiting} of ${counted(nodes.length, 'node')}`,
  };
};

/** What the drains wait for besides their pods; undefined when for nothing. */
const drainsCondition = (facts: MaintenanceFacts): Wanted | undefined => {
  const { observed: { crossing, nodes } } = facts;
  const unmet = { type: 'Drained', status: 'False' } as const;
  if (crossing !== null) return { ...unmet, reason: 'Crossed', message: crossing.text };
  const yielding = nodes.find(({ state }) => state === 'Yielding');
  return yielding && {
    ...unmet,
    reason: 'Yielding',
    message: `Node "${yielding.name}": ${yielding.drainMessage}`,
  };
};

const evacuatingText = ({ observed, ...facts }: MaintenanceFacts): string => {
  const { nodes, yieldedBy } = observed;
  const sentences = [
    `${counted(podsLeft(nodes), 'pod')} left on ${nodes.filter(hasPodsLeft).length} of ` +
    counted(nodes.length, 'node'),
    nodes.some(waitsForWindow('Drain')) ? closedWindowText(facts) : '',
    yieldedBy,
  ];
  return sentences.filter((one) => one !== '').join('. ');
};

/** Why Nodes that it selects do not begin: as stored, until they are counted. */
const tooManyNodes = ({ maintenance, observed }: MaintenanceFacts): string =>
  observed.tooManyNodes ??
    maintenance.status.conditions.find(({ type }) => type === 'TooManyNodes')?.message ?? '';

/** No pod is left but on Nodes that have no room in the status; undefined otherwise. */
const sizeCondition = (facts: MaintenanceFacts): Wanted | undefined => {
  const message = tooManyNodes(facts);
  if (message === '' || facts.observed.nodes.some(hasPodsLeft)) return undefined;
  return { type: 'Drained', status: 'False', reason: 'TooManyNodes', message };
};

const drainedCondition = (facts: MaintenanceFacts): Wanted => {
  const { nodes, drained } = facts.observed;
  if (drained) {
    return {
      type: 'Drained',
      status: 'True',
      reason: 'Drained',
      message: `All pods that must leave are gone from ${counted(nodes.length, 'node')}`,
    };
  }
  return drainsCondition(facts) ?? windowCondition(facts) ?? sizeCondition(facts) ?? {
    type: 'Drained',
    status: 'False',
    reason: 'Evacuating',
    message: evacuatingText(facts),
  };
};

const completedCondition = (phase: MaintenancePhase): Wanted => ({
  type: 'Completed',
  status: phase === 'Completed' ? 'True' : 'False',
  reason: phase,
  message: phase === 'Completed'
    ? 'No Node is cordoned by this maintenance'
    : 'Nodes are being released',
});

/** Conditions about the selection; once it is Complete, they stay as they were. */
const OF_SELECTION: readonly MaintenanceCondition['type'][] = ['SelectsAllNodes', 'TooManyNodes'];

const selectionConditions = (facts: MaintenanceFacts): readonly Wanted[] => {
  const tooMany = tooManyNodes(facts);
  const holding = (type: 'SelectsAllNodes' | 'TooManyNodes', message: string): Wanted => ({
    type,
    status: 'True',
    reason: type,
    message,
  });
  return [
    ...(facts.observed.selectsAll
      ? [holding('SelectsAllNodes', 'The node selector matches every Node of the cluster')]
      : []),
    ...(tooMany === '' ? [] : [holding('TooManyNodes', tooMany)]),
  ];
};

/** The conditions by type; those of earlier stages stay as they were last. */
const conditionsOf = (
  facts: MaintenanceFacts,
  phase: MaintenancePhase,
  nowMs: number,
): readonly MaintenanceCondition[] => {
  const { maintenance } = facts;
  const stage = workedStage(maintenance);
  const stored = maintenance.status.conditions;
  // Until the window of a new spec is read, the condition stays as it is.
  const isKnown = windowPhase(facts) !== 'Unknown';
  const wanted = [
    ...(stage === 'Complete' ? [completedCondition(phase)] : []),
    ...(stage === 'Drain' && isKnown ? [drainedCondition(facts)] : []),
    ...(stage === 'Cordon' && isKnown ? [windowCondition(facts) ?? []].flat() : []),
    ...(stage === 'Complete' ? [] : selectionConditions(facts)),
  ];
  const kept = stored.filter(({ type }) =>
    !wanted.some((one) => one.type === type) &&
    (!OF_SELECTION.includes(type) || stage === 'Complete') &&
    (type !== 'Drained' || stage !== 'Cordon' || !isKnown)
  );
  const since = ({ type, status }: Wanted): number =>
    stored.find((one) => one.type === type && one.status === status)?.sinceMs ?? nowMs;
  return [...kept, ...wanted.map((one) => ({ ...one, sinceMs: since(one) }))]
    .toSorted((left, right) => left.type < right.type ? -1 : 1);
};

/** The preview of the status: of this spec, and only before anything is done. */
const currentPreview = (
  { maintenance: { generation }, preview }: MaintenanceFacts,
  phase: MaintenancePhase,
): MaintenancePreview | null =>
  phase === 'Idle' && preview?.generation === generation ? preview.preview : null;

/** The status that follows. Nodes of a maintenance that is over stay as they were last. */
const wantedStatus = (
  facts: MaintenanceFacts,
  phase: MaintenancePhase,
  nowMs: number,
): MaintenanceStatus => {
  const { maintenance: { status, generation, ...maintenance }, observed } = facts;
  const stage = workedStage(maintenance);
  const isAtWork = cordons(stage);
  return {
    observedGeneration: generation,
    stages: withStartedStage(status.stages, stage, nowMs),
    nodes: isAtWork ? observed.nodes : status.nodes,
    waves: isAtWork ? observed.waves : status.waves,
    progress: isAtWork ? observed.progress : status.progress,
    preview: currentPreview(facts, phase),
    conditions: conditionsOf(facts, phase, nowMs),
  };
};

const nextWrite = (
  facts: MaintenanceFacts,
  phase: MaintenancePhase,
  nowMs: number,
): MaintenanceWrite | null => {
  const { spec, status: stored, deleting, hasFinalizer } = facts.maintenance;
  // Nothing holds the object any more: it is about to vanish.
  if (deleting && !hasFinalizer) return null;
  if (deleting && cordons(spec.stage)) return { write: 'complete' };
  if (phase === 'Unprotected') return { write: 'addFinalizer' };
  const status = wantedStatus(facts, phase, nowMs);
  if (!sameJson(status, stored)) return { write: 'setStatus', status };
  const isOver = phase === 'Completed' || phase === 'Idle';
  return isOver && hasFinalizer ? { write: 'removeFinalizer' } : null;
};

/** The phase, and the next write. */
export const maintenanceStep = (facts: MaintenanceFacts, nowMs: number): MaintenanceStep => {
  const phase = maintenancePhase(facts);
  return { phase, write: nextWrite(facts, phase, nowMs) };
};
