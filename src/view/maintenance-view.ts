/**
 * A NodeMaintenance as the commands print it: its stage, how far it is, and each of its nodes.
 *
 * Plain data, printed as a table, as text or as JSON. Read from the object alone, so that it agrees
 * with `kubectl get nodemaintenance`.
 */
import type { MaintenanceConditionType } from '../domain/node-maintenance/observed-maintenance.ts';
import type {
  NodeStatus,
  ObservedMaintenance,
} from '../domain/node-maintenance/observed-maintenance.ts';
import { type Stage, workedStage } from '../domain/node-maintenance/stage.ts';
import { rfc3339Seconds } from '../domain/time.ts';
import { duration } from './duration.ts';
import type { Column } from './table.ts';

/** What the work of a maintenance waits for, as far as its object shows it. */
export const MAINTENANCE_SITUATIONS = [
  'Unserved',
  'Unsupported',
  'Idle',
  'Cordoned',
  'Evacuating',
  'Drained',
  'Releasing',
  'Completed',
] as const;
export type MaintenanceSituation = (typeof MAINTENANCE_SITUATIONS)[number];

/** A node of a maintenance. */
export interface MaintainedNodeView {
  readonly node: string;
  readonly state: NodeStatus['state'] | 'Gone';
  readonly wave: number;
  readonly pending: number;
  readonly evacuating: number;
  readonly message: string;
}

/** One maintenance. Times are RFC 3339. */
export interface MaintenanceView {
  readonly name: string;
  readonly stage: Stage;
  readonly phase: MaintenanceSituation | 'Gone';
  /** Drained nodes of the nodes that match; empty before the first stage that cordons. */
  readonly nodes: string;
  readonly drained: boolean;
  readonly completed: boolean;
  readonly deleting: boolean;
  readonly selectsAllNodes: boolean;
  readonly reason: string;
  readonly created: string;
  readonly message: string;
  readonly nodeStatuses: readonly MaintainedNodeView[];
}

const conditionOf = ({ status }: ObservedMaintenance, type: MaintenanceConditionType) =>
  status.conditions.find((one) => one.type === type);

const holds = (maintenance: ObservedMaintenance, type: MaintenanceConditionType): boolean =>
  conditionOf(maintenance, type)?.status === 'True';

/** True when an operator has seen the spec as it is. */
const isObserved = ({ generation, status }: ObservedMaintenance): boolean =>
  status.observedGeneration >= generation;

const situationOf = (maintenance: ObservedMaintenance): MaintenanceSituation => {
  if (maintenance.status.observedGeneration === 0) return 'Unserved';
  switch (workedStage(maintenance)) {
    case 'Idle':
      return 'Idle';
    case 'Cordon':
      return 'Cordoned';
    case 'Drain':
      if (conditionOf(maintenance, 'Drained')?.reason === 'Unsupported') return 'Unsupported';
      return holds(maintenance, 'Drained') && isObserved(maintenance) ? 'Drained' : 'Evacuating';
    case 'Complete':
      return holds(maintenance, 'Completed') ? 'Completed' : 'Releasing';
  }
};

/** Why nodes that it selects do not begin; empty when all may. */
const tooManyNodes = (maintenance: ObservedMaintenance): string =>
  conditionOf(maintenance, 'TooManyNodes')?.message ?? '';

const UNSERVED = 'No operator has taken it yet: one runs with --roles maintenance';

const messageOf = (maintenance: ObservedMaintenance, phase: MaintenanceSituation): string => {
  switch (phase) {
    case 'Unserved':
      return UNSERVED;
    case 'Idle': {
      const { preview } = maintenance.status;
      const tooMany = tooManyNodes(maintenance);
      if (preview === null || tooMany !== '') return tooMany;
      return preview.nodes === 1 ? '1 node matches' : `${preview.nodes} nodes match`;
    }
    case 'Cordoned':
      return tooManyNodes(maintenance);
    case 'Unsupported':
    case 'Evacuating':
    case 'Drained':
      return conditionOf(maintenance, 'Drained')?.message ?? '';
    case 'Releasing':
    case 'Completed':
      return conditionOf(maintenance, 'Completed')?.message ?? '';
  }
};

const nodeView = (
  { name, state, wave, podsPendingEvacuation, podsEvacuating, drainMessage }: NodeStatus,
): MaintainedNodeView => ({
  node: name,
  state,
  wave,
  pending: podsPendingEvacuation,
  evacuating: podsEvacuating,
  message: drainMessage,
});

/** The maintenance for a reader. */
export const maintenanceView = (maintenance: ObservedMaintenance): MaintenanceView => {
  const { name, spec, status, deleting, createdMs } = maintenance;
  const phase = situationOf(maintenance);
  return {
    name,
    stage: spec.stage,
    phase,
    nodes: status.progress,
    drained: holds(maintenance, 'Drained'),
    completed: holds(maintenance, 'Completed'),
    deleting,
    selectsAllNodes: holds(maintenance, 'SelectsAllNodes'),
    reason: spec.reason,
    created: rfc3339Seconds(createdMs),
    message: messageOf(maintenance, phase),
    nodeStatuses: status.nodes.map(nodeView),
  };
};

/** In the order of their names. */
export const byMaintenanceName = (left: MaintenanceView, right: MaintenanceView): number =>
  left.name < right.name ? -1 : 1;

const podsOf = ({ nodeStatuses }: MaintenanceView): number =>
  nodeStatuses.reduce((sum, { pending, evacuating }) => sum + pending + evacuating, 0);

/** The columns of a list at `nowMs`; `wide` adds the less common ones. */
export const maintenanceColumns = (
  nowMs: number,
  wide: boolean,
): readonly Column<MaintenanceView>[] => [
  { heading: 'NAME', cell: ({ name }) => name },
  { heading: 'STAGE', cell: ({ stage }) => stage },
  { heading: 'PHASE', cell: ({ phase }) => phase },
  { heading: 'NODES', cell: ({ nodes }) => nodes },
  { heading: 'PODS', cell: (view) => String(podsOf(view)) },
  { heading: 'AGE', cell: ({ created }) => duration(nowMs - Date.parse(created)) },
  { heading: 'REASON', cell: ({ reason }) => reason },
  ...(wide
    ? [
      {
        heading: 'SELECTS',
        cell: ({ selectsAllNodes }: MaintenanceView) => (selectsAllNodes ? 'all nodes' : ''),
      },
      { heading: 'MESSAGE', cell: ({ message }: MaintenanceView) => message },
    ]
    : []),
];

/** The columns of the nodes of one maintenance. */
export const maintainedNodeColumns = (wide: boolean): readonly Column<MaintainedNodeView>[] => [
  { heading: 'NODE', cell: ({ node }) => node },
  { heading: 'STATE', cell: ({ state }) => state },
  { heading: 'PENDING', cell: ({ pending }) => String(pending) },
  { heading: 'EVACUATING', cell: ({ evacuating }) => String(evacuating) },
  ...(wide
    ? [{
      heading: 'WAVE',
      cell: ({ wave }: MaintainedNodeView) => (wave === 0 ? '' : String(wave)),
    }]
    : []),
  { heading: 'MESSAGE', cell: ({ message }) => message },
];
