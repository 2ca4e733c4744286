/**
 * Explains a NodeMaintenance: its stage, how far it is, which nodes hold it and who can act.
 *
 * Promises: the situation is that of `tidegate maintenance status`; total.
 */
import { REASONS } from '../api/reasons.ts';
import type { Reason } from '../domain/reason.ts';
import { runbookUrl } from '../domain/documentation.ts';
import type { ObservedMaintenance } from '../domain/node-maintenance/observed-maintenance.ts';
import { type Detail, type Explanation, timelineOf } from './explanation.ts';
import {
  type MaintenanceSituation,
  type MaintenanceView,
  maintenanceView,
} from './maintenance-view.ts';

/** The objects that were read. */
export interface MaintenanceExplanationFacts {
  readonly maintenance: ObservedMaintenance;
  readonly events: readonly unknown[];
}

/** Nodes that are shown one by one. */
const NODES_MAX = 10;

type Verdict = Pick<Explanation, 'why' | 'waitsFor' | 'canAct' | 'action' | 'runbook'>;

const verdict = (reason: Reason, waitsFor: string, action = reason.change ?? ''): Verdict => ({
  why: reason.sentence,
  waitsFor,
  canAct: action === '' ? reason.canAct : 'platform',
  action,
  runbook: reason.runbook === undefined ? '' : runbookUrl(reason.runbook),
});

const VERDICTS: Readonly<Record<MaintenanceSituation, Verdict>> = {
  Unserved: {
    why: 'No operator has taken the maintenance yet',
    waitsFor: 'An operator with the role maintenance',
    canAct: 'platform',
    action: 'Run "tidegate operator --roles maintenance", or check its pods',
    runbook: '',
  },
  Unsupported: {
    why: 'The operator is older than a field of the spec, and touches no Node',
    waitsFor: 'A newer operator',
    canAct: 'platform',
    action: 'Upgrade the operator, or leave the field out',
    runbook: '',
  },
  Idle: verdict(REASONS.MaintenanceIdle, 'Another stage', 'Set spec.stage when the time has come'),
  Cordoned: verdict(REASONS.MaintenanceCordoned, 'The stage Drain or Complete', 'Set spec.stage'),
  Evacuating: verdict(
    REASONS.MaintenanceEvacuating,
    'The pods to leave its nodes',
    'Run "tidegate drain status": it names what holds the pods',
  ),
  Drained: verdict(
    REASONS.MaintenanceDrained,
    'The stage Complete',
    'Set spec.stage to Complete when the work on the nodes is done',
  ),
  Releasing: verdict(REASONS.MaintenanceReleasing, 'The operator to release its nodes'),
  Completed: verdict(REASONS.MaintenanceCompleted, 'Nothing'),
};

/** What a maintenance that evacuates waits for besides its pods, by the reason of `Drained`. */
const EVACUATING_VERDICTS: ReadonlyMap<string, Verdict> = new Map([
  ['WindowClosed', verdict(REASONS.MaintenanceWindowClosed, 'The window to open')],
  ['WindowMalformed', verdict(REASONS.MaintenanceWindowMalformed, 'A window that can be read')],
  ['Crossed', verdict(REASONS.MaintenanceCrossed, 'One of these drains to yield')],
  ['Yielding', verdict(REASONS.MaintenanceYielding, 'The end of the other drain')],
  // No pod is left but on nodes that have no room in the status.
  ['TooManyNodes', verdict(REASONS.MaintenanceTooManyNodes, 'A smaller selection')],
]);

const verdictOf = ({ status }: ObservedMaintenance, { phase }: MaintenanceView): Verdict => {
  const drained = status.conditions.find(({ type }) => type === 'Drained');
  const special = phase === 'Evacuating'
    ? EVACUATING_VERDICTS.get(drained?.reason ?? '')
    : undefined;
  return special ?? VERDICTS[phase === 'Gone' ? 'Completed' : phase];
};

const detail = (name: string, value: string): readonly Detail[] =>
  value === '' ? [] : [{ name, value }];

const detailsOf = (view: MaintenanceView): readonly Detail[] => {
  const held = view.nodeStatuses.filter(({ pending, evacuating }) => pending + evacuating > 0);
  return [
    ...detail('Stage', view.stage),
    ...detail('For', view.reason),
    ...detail('Created', view.created),
    ...detail('Nodes drained', view.nodes),
    ...detail('Progress', view.message),
    ...detail('Selects', view.selectsAllNodes ? 'every node of the cluster' : ''),
    ...held.slice(0, NODES_MAX).flatMap(({ node, pending, evacuating, message }) =>
      detail(
        `Node ${node}`,
        `${pending + evacuating} pods left${message === '' ? '' : `: ${message}`}`,
      )
    ),
    ...detail('Others', held.length > NODES_MAX ? `${held.length - NODES_MAX} more nodes` : ''),
  ];
};

/** Explains one maintenance. */
export const explainMaintenance = (
  { maintenance, events }: MaintenanceExplanationFacts,
): Explanation => {
  const view = maintenanceView(maintenance);
  return {
    kind: 'NodeMaintenance',
    name: view.name,
    state: view.phase,
    what: 'The request that nodes are cordoned, drained and given back',
    ...verdictOf(maintenance, view),
    problems: [],
    details: detailsOf(view),
    events: timelineOf(events),
  };
};
