/** The reasons of NodeMaintenances, a part of the registry in `src/api/reasons.ts`. */
import type { Reason } from '../reason.ts';

const registry = <const Entries extends Record<string, Reason>>(entries: Entries): Entries =>
  entries;

/** What a maintenance waits for, and what is wrong with it. */
export const MAINTENANCE_REASONS = registry({
  MaintenanceIdle: {
    type: 'Normal',
    action: 'MaintainNodes',
    sentence: 'The maintenance is planned; neither Nodes nor pods are touched',
    canAct: 'nobody',
  },
  MaintenanceWindowOpen: {
    type: 'Normal',
    action: 'MaintainNodes',
    sentence: 'The window of the maintenance is open; Nodes that wait may begin',
    canAct: 'nobody',
  },
  MaintenanceWindowClosed: {
    type: 'Normal',
    action: 'MaintainNodes',
    sentence:
      'The window of the maintenance is closed; no Node begins, those under way are finished',
    canAct: 'nobody',
  },
  MaintenanceWindowMalformed: {
    type: 'Warning',
    action: 'MaintainNodes',
    sentence: 'The window of the maintenance cannot be read, so no Node begins',
    canAct: 'platform',
    runbook: 'maintenance-window-malformed',
    change: 'Write spec.window.schedule as five fields of cron, and spec.window.timeZone as an ' +
      'IANA name',
  },
  MaintenanceCrossed: {
    type: 'Normal',
    action: 'DrainNode',
    sentence: 'The maintenance and other drains wait for each other through budgets; one yields',
    canAct: 'nobody',
  },
  MaintenanceYielding: {
    type: 'Normal',
    action: 'DrainNode',
    sentence: 'A Node of the maintenance is released for another drain, and follows it',
    canAct: 'nobody',
  },
  MaintenanceDrainRefused: {
    type: 'Normal',
    action: 'DrainNode',
    sentence: 'The drain of a Node of the maintenance failed; it begins again in a minute',
    canAct: 'nobody',
  },
  MaintenanceUnprotected: {
    type: 'Normal',
    action: 'MaintainNodes',
    sentence: 'The finalizer of the maintenance is not stored yet',
    canAct: 'nobody',
  },
  MaintenanceCordoned: {
    type: 'Normal',
    action: 'MaintainNodes',
    sentence: 'The Nodes of the maintenance are cordoned and kept so',
    canAct: 'nobody',
  },
  MaintenanceEvacuating: {
    type: 'Normal',
    action: 'MaintainNodes',
    sentence: 'Pods leave the Nodes of the maintenance in the order of its plan',
    canAct: 'nobody',
    runbook: 'maintenance-stalled',
  },
  MaintenanceDrained: {
    type: 'Normal',
    action: 'MaintainNodes',
    sentence: 'All pods that must leave are gone; the Nodes stay cordoned until Complete',
    canAct: 'nobody',
  },
  MaintenanceReleasing: {
    type: 'Normal',
    action: 'MaintainNodes',
    sentence: 'The maintenance is over; its keys leave the Nodes',
    canAct: 'nobody',
  },
  MaintenanceCompleted: {
    type: 'Normal',
    action: 'MaintainNodes',
    sentence: 'No Node is cordoned by the maintenance any more',
    canAct: 'nobody',
  },
  MaintenanceTooManyNodes: {
    type: 'Warning',
    action: 'MaintainNodes',
    sentence: 'The maintenance selects more Nodes than its status has room for; the rest waits',
    canAct: 'platform',
    runbook: 'maintenance-too-large',
    change: 'Complete it, and split spec.nodeSelector among NodeMaintenances of at most 1,000 ' +
      'nodes each',
  },
  MaintenanceUncordoned: {
    type: 'Warning',
    action: 'CordonNode',
    sentence: 'Others keep making a Node of the maintenance schedulable; it is cordoned again',
    canAct: 'platform',
    runbook: 'maintenance-uncordoned',
  },
  NodeMaintenanceFailing: {
    type: 'Warning',
    action: 'WriteNodeMaintenance',
    sentence: 'Writes of the NodeMaintenance keep failing; retried',
    canAct: 'platform',
    runbook: 'node-maintenance-not-written',
  },
  NodeMaintenanceRefused: {
    type: 'Warning',
    action: 'WriteNodeMaintenance',
    sentence: 'The API server refuses a write of the NodeMaintenance',
    canAct: 'platform',
    runbook: 'node-maintenance-not-written',
  },
});
