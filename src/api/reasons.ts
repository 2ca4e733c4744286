/**
 * The registry of reasons: every one-word cause in a condition, an Event or `explain`, with its
 * sentence, who can act on it, and its runbook. Other reasons are never used.
 */
import { POD_DEMAND_REASONS } from './pod-demand-reasons.ts';
import { RECLAIM_REASONS } from './reclaim-reasons.ts';

/** Who can act. */
export type CanAct = 'application' | 'platform' | 'storage' | 'provider' | 'nobody';

/** What a reason means. */
export interface Reason {
  readonly type: 'Normal' | 'Warning';
  /** The action of the Event (events.k8s.io/v1 `action`): the attempted operation. */
  readonly action: string;
  /** One sentence without details. */
  readonly sentence: string;
  readonly canAct: CanAct;
  /** The heading in `docs/runbooks.md`; a reason without one needs no action. */
  readonly runbook?: string;
}

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
  DrainStarted: {
    type: 'Normal',
    action: 'DrainNode',
    sentence: 'The node is cordoned and its pods are being evicted',
    canAct: 'nobody',
  },
  WaitingForBarrier: {
    type: 'Normal',
    action: 'DrainNode',
    sentence: 'The node is cordoned; evictions wait for the other nodes of the instruction',
    canAct: 'nobody',
  },
  WaitingForPods: {
    type: 'Normal',
    action: 'DrainNode',
    sentence: 'All pods that must leave were evicted; waiting for them to terminate',
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
  DrainFinished: {
    type: 'Normal',
    action: 'DrainNode',
    sentence: 'All pods that must leave are gone from the node',
    canAct: 'nobody',
  },
  DrainCancelled: {
    type: 'Normal',
    action: 'DrainNode',
    sentence: 'The node was uncordoned, or the annotation of the drain was removed',
    canAct: 'nobody',
  },
  DrainPaused: {
    type: 'Warning',
    action: 'DrainNode',
    sentence: 'A flag or an annotation pauses evictions on the node; the deadline still applies',
    canAct: 'platform',
    runbook: 'drain-paused',
  },
  DeadlinePassed: {
    type: 'Warning',
    action: 'DrainNode',
    sentence: 'The deadline of the drain passed and pods remain on the node',
    canAct: 'application',
    runbook: 'deadline-passed',
  },
  EvictionForbidden: {
    type: 'Warning',
    action: 'EvictPod',
    sentence: 'The operator lacks permission to create evictions',
    canAct: 'platform',
    runbook: 'eviction-forbidden',
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
  BlockedByBudget: {
    type: 'Warning',
    action: 'EvictPod',
    sentence: 'A disruption budget currently allows 0 disruptions',
    canAct: 'application',
    runbook: 'blocked-by-budget',
  },
  BudgetUnsettled: {
    type: 'Normal',
    action: 'EvictPod',
    sentence: 'The disruption budget changed and its status is not updated yet',
    canAct: 'nobody',
  },
  SlotHeldByInterruptedEviction: {
    type: 'Warning',
    action: 'EvictPod',
    sentence: 'An interrupted eviction holds a slot of the budget for at most two minutes',
    canAct: 'nobody',
    runbook: 'slot-held-by-interrupted-eviction',
  },
  BudgetNeverAllows: {
    type: 'Warning',
    action: 'EvictPod',
    sentence: 'The budget counts controllers and its pods have none: it allows no eviction',
    canAct: 'application',
    runbook: 'budget-never-allows',
  },
  TwoBudgets: {
    type: 'Warning',
    action: 'EvictPod',
    sentence: 'More than one disruption budget selects the pod, which Kubernetes does not support',
    canAct: 'application',
    runbook: 'two-budgets',
  },
  BudgetBroken: {
    type: 'Warning',
    action: 'EvictPod',
    sentence: 'The status of the disruption budget is invalid and blocks every eviction',
    canAct: 'platform',
    runbook: 'budget-broken',
  },
  PolicyRefused: {
    type: 'Warning',
    action: 'EvictPod',
    sentence: 'An admission webhook or policy refuses the eviction',
    canAct: 'platform',
    runbook: 'policy-refused',
  },
  EvictionRefused: {
    type: 'Warning',
    action: 'EvictPod',
    sentence: 'The API server refuses the eviction for an unknown reason',
    canAct: 'platform',
    runbook: 'eviction-refused',
  },
  EvictionFailing: {
    type: 'Warning',
    action: 'EvictPod',
    sentence: 'Evictions of the pod keep failing and are retried',
    canAct: 'platform',
    runbook: 'eviction-failing',
  },
  EvictionUnanswered: {
    type: 'Normal',
    action: 'EvictPod',
    sentence: 'The answer to an eviction was lost; waiting for the watch to show its effect',
    canAct: 'nobody',
  },
  ServerThrottling: {
    type: 'Warning',
    action: 'EvictPod',
    sentence: 'The API server throttles requests, so evictions wait',
    canAct: 'platform',
    runbook: 'eviction-failing',
  },
  CredentialsRefused: {
    type: 'Warning',
    action: 'EvictPod',
    sentence: 'The API server rejects the credentials of the operator; they are read again',
    canAct: 'platform',
    runbook: 'eviction-forbidden',
  },
  WaitingForTurn: {
    type: 'Normal',
    action: 'EvictPod',
    sentence: 'The pod waits for its eviction to be sent',
    canAct: 'nobody',
  },
  WaitingForTier: {
    type: 'Normal',
    action: 'EvictPod',
    sentence: 'Pods of lower priority leave first',
    canAct: 'nobody',
  },
  Terminating: {
    type: 'Normal',
    action: 'EvictPod',
    sentence: 'The pod was evicted and is terminating',
    canAct: 'nobody',
  },
  TerminationOverdue: {
    type: 'Warning',
    action: 'EvictPod',
    sentence: 'The pod has exceeded its termination grace period',
    canAct: 'application',
    runbook: 'termination-overdue',
  },
  Finalizer: {
    type: 'Warning',
    action: 'EvictPod',
    sentence: 'The containers have stopped, but a finalizer keeps the pod object',
    canAct: 'storage',
    runbook: 'finalizer',
  },
  KubeletSilent: {
    type: 'Warning',
    action: 'EvictPod',
    sentence: 'The kubelet of the node is not responding, so no pod on it can terminate',
    canAct: 'provider',
    runbook: 'kubelet-silent',
  },
  ToleratesCordon: {
    type: 'Warning',
    action: 'EvictPod',
    sentence: 'The pod tolerates the cordon and its controller would recreate it here, so it stays',
    canAct: 'application',
    runbook: 'tolerates-cordon',
  },
  NamespaceTerminating: {
    type: 'Normal',
    action: 'EvictPod',
    sentence: 'The namespace of the pod is being deleted, and the pod with it',
    canAct: 'nobody',
  },
  ...RECLAIM_REASONS,
  ...POD_DEMAND_REASONS,
});

/** The name of a reason. */
export type ReasonName = keyof typeof REASONS;
