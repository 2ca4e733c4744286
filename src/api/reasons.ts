/**
 * The registry of reasons: every one-word cause in a condition, an Event or `explain`, with its
 * sentence, who can act on it, and its runbook. Other reasons are never used, except that a
 * condition which says the phase of its object has the phase as its reason.
 */
import { DRAIN_REASONS } from '../domain/drain/drain-reasons.ts';
import { EVICTION_REQUEST_REASONS } from '../domain/eviction-requests/request-reasons.ts';
import { AVAILABILITY_REASONS } from '../domain/node-availability/availability-reasons.ts';
import { MAINTENANCE_REASONS } from '../domain/node-maintenance/maintenance-reasons.ts';
import type { Reason } from '../domain/reason.ts';
import { POD_DEMAND_REASONS } from './pod-demand-reasons.ts';
import { RECLAIM_REASONS } from './reclaim-reasons.ts';

export type { CanAct, Reason } from '../domain/reason.ts';

const registry = <const Entries extends Record<string, Reason>>(entries: Entries): Entries =>
  entries;

/** All reasons of Tidegate. */
export const REASONS = registry({
  InvalidCapacityRequest: {
    type: 'Warning',
    action: 'ReadCapacityRequest',
    sentence: 'A field of the CapacityRequest is invalid, so the fleet is not asked for it',
    canAct: 'application',
    runbook: 'invalid-capacity-request',
  },
  CapacityRequestTooLarge: {
    type: 'Warning',
    action: 'ReadCapacityRequest',
    sentence: 'The CapacityRequest exceeds a size limit, so the fleet is not asked for it',
    canAct: 'application',
    runbook: 'capacity-request-too-large',
  },
  SessionRefused: {
    type: 'Warning',
    action: 'DialShard',
    sentence: 'The key pair is invalid, or the shard refused this cluster',
    canAct: 'platform',
    runbook: 'session-refused',
  },
  ShardUnreachable: {
    type: 'Warning',
    action: 'DialShard',
    sentence: 'No session with the shard could be opened, or kept, for a while',
    canAct: 'platform',
    runbook: 'shard-unreachable',
  },
  ShardReachable: {
    type: 'Normal',
    action: 'DialShard',
    sentence: 'The shard acknowledges roll-ups again after an outage or a refusal',
    canAct: 'nobody',
  },
  RollupTooLarge: {
    type: 'Warning',
    action: 'SendRollup',
    sentence: 'The roll-up exceeds the frame size limit, so the shard keeps the previous demand',
    canAct: 'application',
    runbook: 'rollup-too-large',
  },
  RollupNotAcknowledged: {
    type: 'Warning',
    action: 'SendRollup',
    sentence: 'The shard did not acknowledge a roll-up within three intervals',
    canAct: 'platform',
    runbook: 'rollup-not-acknowledged',
  },
  ActorCrashed: {
    type: 'Warning',
    action: 'RestartActor',
    sentence: 'An actor crashed and waits for its restart',
    canAct: 'platform',
    runbook: 'actor-crashed',
  },
  NodeReady: {
    type: 'Normal',
    action: 'WatchNode',
    sentence: 'The Node of the machine became Ready for the first time',
    canAct: 'nobody',
  },
  WriteRefused: {
    type: 'Warning',
    action: 'WriteObject',
    sentence: 'The API server refuses the object with the values from the fleet',
    canAct: 'platform',
    runbook: 'write-refused',
  },
  FieldsLeftOut: {
    type: 'Warning',
    action: 'ReadMachine',
    sentence: 'Malformed fields of the machine are left out of its object',
    canAct: 'provider',
    runbook: 'fields-left-out',
  },
  WriteFailing: {
    type: 'Warning',
    action: 'WriteObject',
    sentence: 'Writes of the object keep failing and are retried',
    canAct: 'platform',
    runbook: 'write-failing',
  },
  WriteQueued: {
    type: 'Normal',
    action: 'WriteObject',
    sentence: 'A write is pending and waits for a slot',
    canAct: 'nobody',
  },
  ApiServerUnreachable: {
    type: 'Warning',
    action: 'CheckCluster',
    sentence: 'The API server gives no usable answer, so the operator cannot start',
    canAct: 'platform',
    runbook: 'api-server-unreachable',
    change: 'Check that the API server runs, and its address in the kubeconfig of the operator',
  },
  CollectionRefused: {
    type: 'Warning',
    action: 'ListAndWatch',
    sentence: 'The API server refuses to list or watch a resource that the operator needs',
    canAct: 'platform',
    runbook: 'collection-refused',
  },
  CollectionFailing: {
    type: 'Normal',
    action: 'ListAndWatch',
    sentence: 'A list or watch failed and is retried; the cache stays in use',
    canAct: 'nobody',
  },
  LeaseNotHeld: {
    type: 'Normal',
    action: 'AcquireLease',
    sentence: 'The lease was not acquired or was lost; retried shortly',
    canAct: 'nobody',
  },
  LeaseNotReleased: {
    type: 'Normal',
    action: 'ReleaseLease',
    sentence: 'The lease was not released; retried while time remains',
    canAct: 'nobody',
  },
  LeaseNotRenewed: {
    type: 'Warning',
    action: 'RenewLease',
    sentence: 'The lease was not renewed, so this process will lose leadership',
    canAct: 'platform',
    runbook: 'lease-not-renewed',
  },
  WaitingForBarrier: {
    type: 'Normal',
    action: 'DrainNode',
    sentence: 'The node is cordoned; evictions wait for the other nodes of the instruction',
    canAct: 'nobody',
  },
  DrainBlocked: {
    type: 'Normal',
    action: 'DrainNode',
    sentence: 'Pods of the drain are blocked; an Event names the cause if it lasts',
    canAct: 'nobody',
  },
  WaitingForReplay: {
    type: 'Normal',
    action: 'RecoverReclaims',
    sentence: 'The replay of the machines is not complete yet',
    canAct: 'nobody',
  },
  WaitingForInstruction: {
    type: 'Normal',
    action: 'RecoverReclaims',
    sentence: 'The instruction of a draining machine may still arrive',
    canAct: 'nobody',
  },
  WaitingForUpcomingNode: {
    type: 'Normal',
    action: 'ShowDrainEnd',
    sentence: 'The UpcomingNode does not show the end of the drain yet',
    canAct: 'nobody',
  },
  WaitingForNodes: {
    type: 'Normal',
    action: 'DrainNode',
    sentence: 'Each node of the instruction drains on its own',
    canAct: 'nobody',
  },
  AckHeld: {
    type: 'Normal',
    action: 'AnswerShard',
    sentence: 'The ack to the shard waits until the stream has room',
    canAct: 'nobody',
  },
  CordonFailing: {
    type: 'Warning',
    action: 'CordonNode',
    sentence: 'The Node cannot be cordoned; retried until the deadline',
    canAct: 'platform',
    runbook: 'cordon-failing',
  },
  NodeChanged: {
    type: 'Normal',
    action: 'CordonNode',
    sentence: 'The Node changed concurrently; the write is decided again',
    canAct: 'nobody',
  },
  CordonLeftAlone: {
    type: 'Warning',
    action: 'CordonNode',
    sentence: 'A cordon annotation is unreadable or too large, and is left alone',
    canAct: 'platform',
    runbook: 'cordon-left-alone',
  },
  ...DRAIN_REASONS,
  ...EVICTION_REQUEST_REASONS,
  ...MAINTENANCE_REASONS,
  ...AVAILABILITY_REASONS,
  ...RECLAIM_REASONS,
  ...POD_DEMAND_REASONS,
});

/** The name of a reason. */
export type ReasonName = keyof typeof REASONS;
