/** The reasons of pods that become demand: a part of the registry of reasons. */
import type { Reason } from './reasons.ts';

/** Why the CapacityRequest of a pod is not as it should be. */
export const POD_DEMAND_REASONS = {
  DemandLeftOut: {
    type: 'Warning',
    action: 'ReadPod',
    sentence: 'The pod asks for something that a CapacityRequest cannot say, so it is left out',
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
    sentence: 'The file of penalties by PriorityClass cannot be used; the last good one stays',
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
    sentence: 'Writes of the CapacityRequest of the pod keep failing; they are tried again',
    canAct: 'platform',
    runbook: 'pod-request-failing',
  },
  AwaitingGarbageCollection: {
    type: 'Normal',
    action: 'WriteCapacityRequest',
    sentence: 'The pod is gone, and the garbage collector is to delete its CapacityRequest',
    canAct: 'nobody',
  },
  InitialRequestsMissing: {
    type: 'Normal',
    action: 'WriteCapacityRequest',
    sentence: 'Pods are without a CapacityRequest, so the shard is not told the demand yet',
    canAct: 'nobody',
  },
} as const satisfies Record<string, Reason>;
