/** The reasons about demand from pods: a part of the registry of reasons. */
import type { Reason } from './reasons.ts';

/** Why a pod's CapacityRequest is not in its wanted state. */
export const POD_DEMAND_REASONS = {
  DemandLeftOut: {
    type: 'Warning',
    action: 'ReadPod',
    sentence: 'The pod has a requirement that a CapacityRequest cannot express; it is ignored',
    canAct: 'application',
    runbook: 'demand-left-out',
  },
  PenaltyUnreadable: {
    type: 'Warning',
    action: 'ReadPod',
    sentence: 'A penalty annotation of the pod is not a valid dollar amount and is ignored',
    canAct: 'application',
    runbook: 'penalty-unreadable',
  },
  PenaltyDefaultsRefused: {
    type: 'Warning',
    action: 'ReadPenaltyDefaults',
    sentence: 'The penalty defaults file is invalid; the last valid one stays in use',
    canAct: 'platform',
    runbook: 'penalty-defaults-refused',
  },
  PodRequestRefused: {
    type: 'Warning',
    action: 'WriteCapacityRequest',
    sentence: 'The API server refuses the CapacityRequest of the pod',
    canAct: 'platform',
    runbook: 'pod-request-refused',
  },
  PodRequestFailing: {
    type: 'Warning',
    action: 'WriteCapacityRequest',
    sentence: 'Writes of the CapacityRequest of the pod keep failing and are retried',
    canAct: 'platform',
    runbook: 'pod-request-failing',
  },
  AwaitingGarbageCollection: {
    type: 'Normal',
    action: 'WriteCapacityRequest',
    sentence: 'The pod is gone; its CapacityRequest waits for the garbage collector',
    canAct: 'nobody',
  },
  DemandNotCurrent: {
    type: 'Normal',
    action: 'SendRollup',
    sentence: 'The caches may be behind the cluster; demand is reported again after new lists',
    canAct: 'nobody',
  },
  InitialRequestsMissing: {
    type: 'Normal',
    action: 'WriteCapacityRequest',
    sentence: 'Pods lack CapacityRequests, so demand is not reported to the shard yet',
    canAct: 'nobody',
  },
} as const satisfies Record<string, Reason>;
