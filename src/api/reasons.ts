/**
 * The registry of reasons: every one-word cause that a condition, an Event or `explain` may show,
 * with its sentence, who can act on it, and its runbook. Nothing shows a reason that is not here.
 */
import { POD_DEMAND_REASONS } from './pod-demand-reasons.ts';

/** Who can do something about it. */
export type CanAct = 'application' | 'platform' | 'storage' | 'provider' | 'nobody';

/** What a reason means. */
export interface Reason {
  readonly type: 'Normal' | 'Warning';
  /** The action of the Event (events.k8s.io/v1 `action`): what was tried. */
  readonly action: string;
  /** One sentence for people, without the particulars. */
  readonly sentence: string;
  readonly canAct: CanAct;
  /** The heading in `docs/runbooks.md`; reasons without one need no hand. */
  readonly runbook?: string;
}

const registry = <const Entries extends Record<string, Reason>>(entries: Entries): Entries =>
  entries;

/** Every reason of Tidegate. */
export const REASONS = registry({
  InvalidCapacityRequest: {
    type: 'Warning',
    action: 'ReadCapacityRequest',
    sentence: 'A field of the CapacityRequest cannot be read, so the fleet is not asked for it',
    canAct: 'application',
    runbook: 'invalid-capacity-request',
  },
  SessionRefused: {
    type: 'Warning',
    action: 'DialShard',
    sentence: 'The key pair is not fit to dial with, or the shard refused this cluster',
    canAct: 'platform',
    runbook: 'session-refused',
  },
  RollupTooLarge: {
    type: 'Warning',
    action: 'SendRollup',
    sentence: 'The roll-up is larger than a frame may be, so the shard keeps the demand before it',
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
    sentence: 'An actor of this program crashed and waits to be started again',
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
    sentence: 'The API server refuses the object as the fleet describes it',
    canAct: 'platform',
    runbook: 'write-refused',
  },
  WriteFailing: {
    type: 'Warning',
    action: 'WriteObject',
    sentence: 'Writes of the object keep failing; they are tried again',
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
    sentence: 'The API server refuses to list or watch a kind of object that the operator needs',
    canAct: 'platform',
    runbook: 'collection-refused',
  },
  CollectionFailing: {
    type: 'Normal',
    action: 'ListAndWatch',
    sentence: 'Listing or watching failed and is tried again; what is known stays in use',
    canAct: 'nobody',
  },
  LeaseNotHeld: {
    type: 'Normal',
    action: 'AcquireLease',
    sentence: 'The lease could not be had or kept; it is asked for again shortly',
    canAct: 'nobody',
  },
  LeaseNotReleased: {
    type: 'Normal',
    action: 'ReleaseLease',
    sentence: 'The lease could not be let go of; it is tried again while there is time',
    canAct: 'nobody',
  },
  LeaseNotRenewed: {
    type: 'Warning',
    action: 'RenewLease',
    sentence: 'The lease could not be renewed, so this process will stop leading',
    canAct: 'platform',
    runbook: 'lease-not-renewed',
  },
  DrainStarted: {
    type: 'Normal',
    action: 'DrainNode',
    sentence: 'The node is cordoned and its pods are asked to leave',
    canAct: 'nobody',
  },
  WaitingForBarrier: {
    type: 'Normal',
    action: 'DrainNode',
    sentence: 'The node is cordoned; its instruction does not let evictions begin yet',
    canAct: 'nobody',
  },
  WaitingForPods: {
    type: 'Normal',
    action: 'DrainNode',
    sentence: 'Every pod that must leave was asked to; those that are left are waited for',
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
    sentence: 'The answer to the shard is kept until the stream has room for it',
    canAct: 'nobody',
  },
  DrainFinished: {
    type: 'Normal',
    action: 'DrainNode',
    sentence: 'No pod that must leave is on the node any more',
    canAct: 'nobody',
  },
  DrainCancelled: {
    type: 'Normal',
    action: 'DrainNode',
    sentence: 'Somebody made the node schedulable again, or removed the key of the drain',
    canAct: 'nobody',
  },
  DrainPaused: {
    type: 'Warning',
    action: 'DrainNode',
    sentence: 'Evictions on the node are paused by a flag or an annotation; the deadline runs on',
    canAct: 'platform',
    runbook: 'drain-paused',
  },
  DeadlinePassed: {
    type: 'Warning',
    action: 'DrainNode',
    sentence: 'The grace of the drain is over and pods are still on the node',
    canAct: 'application',
    runbook: 'deadline-passed',
  },
  EvictionForbidden: {
    type: 'Warning',
    action: 'EvictPod',
    sentence: 'The operator may not create evictions',
    canAct: 'platform',
    runbook: 'eviction-forbidden',
  },
  GraceClamped: {
    type: 'Warning',
    action: 'DrainNode',
    sentence: 'The grace of the instruction is longer than a drain may take, so it was cut',
    canAct: 'provider',
    runbook: 'grace-clamped',
  },
  MachineWithoutNode: {
    type: 'Warning',
    action: 'CordonNode',
    sentence: 'The instruction names a machine whose Node nobody has seen',
    canAct: 'provider',
    runbook: 'machine-without-node',
  },
  CordonFailing: {
    type: 'Warning',
    action: 'CordonNode',
    sentence: 'The Node cannot be cordoned; it is tried again until the deadline',
    canAct: 'platform',
    runbook: 'cordon-failing',
  },
  NodeChanged: {
    type: 'Normal',
    action: 'CordonNode',
    sentence: 'Somebody wrote the Node in between; it is looked at again',
    canAct: 'nobody',
  },
  CordonLeftAlone: {
    type: 'Warning',
    action: 'CordonNode',
    sentence:
      'A cordon key on the Node was written by another version or by hand, and is left alone',
    canAct: 'platform',
    runbook: 'cordon-left-alone',
  },
  BlockedByBudget: {
    type: 'Warning',
    action: 'EvictPod',
    sentence: 'A disruption budget allows no eviction for now',
    canAct: 'application',
    runbook: 'blocked-by-budget',
  },
  BudgetUnsettled: {
    type: 'Normal',
    action: 'EvictPod',
    sentence: 'The disruption budget changed and its status is not worked out yet',
    canAct: 'nobody',
  },
  SlotHeldByInterruptedEviction: {
    type: 'Warning',
    action: 'EvictPod',
    sentence:
      'A slot of the budget is held by an eviction that was cut short, for at most two minutes',
    canAct: 'nobody',
    runbook: 'slot-held-by-interrupted-eviction',
  },
  BudgetNeverAllows: {
    type: 'Warning',
    action: 'EvictPod',
    sentence:
      'The budget counts controllers and its pods have none, so it never allows an eviction',
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
    sentence: 'The status of the disruption budget is one that no eviction passes',
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
    sentence: 'The API server refuses the eviction for a reason that is not known here',
    canAct: 'platform',
    runbook: 'eviction-refused',
  },
  EvictionFailing: {
    type: 'Warning',
    action: 'EvictPod',
    sentence: 'Evictions of the pod keep failing; they are tried again',
    canAct: 'platform',
    runbook: 'eviction-failing',
  },
  EvictionUnanswered: {
    type: 'Normal',
    action: 'EvictPod',
    sentence: 'The answer to an eviction was lost, so the cache is watched for its effect',
    canAct: 'nobody',
  },
  ServerThrottling: {
    type: 'Warning',
    action: 'EvictPod',
    sentence: 'The API server asks everyone to send less, so evictions wait',
    canAct: 'platform',
    runbook: 'eviction-failing',
  },
  CredentialsRefused: {
    type: 'Warning',
    action: 'EvictPod',
    sentence: 'The API server does not take the credentials of the operator; they are read again',
    canAct: 'platform',
    runbook: 'eviction-forbidden',
  },
  WaitingForTurn: {
    type: 'Normal',
    action: 'EvictPod',
    sentence: 'The pod is about to be asked to leave',
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
    sentence: 'The pod was asked to leave and is shutting down',
    canAct: 'nobody',
  },
  TerminationOverdue: {
    type: 'Warning',
    action: 'EvictPod',
    sentence: 'The pod is still there although its own grace is over',
    canAct: 'application',
    runbook: 'termination-overdue',
  },
  Finalizer: {
    type: 'Warning',
    action: 'EvictPod',
    sentence: 'The pod is down, and a finalizer keeps its object',
    canAct: 'storage',
    runbook: 'finalizer',
  },
  KubeletSilent: {
    type: 'Warning',
    action: 'EvictPod',
    sentence: 'The kubelet of the node does not answer, so no pod on it can go',
    canAct: 'provider',
    runbook: 'kubelet-silent',
  },
  ToleratesCordon: {
    type: 'Warning',
    action: 'EvictPod',
    sentence: 'The pod tolerates the cordon and its owner would bring it back, so it stays',
    canAct: 'application',
    runbook: 'tolerates-cordon',
  },
  NamespaceTerminating: {
    type: 'Normal',
    action: 'EvictPod',
    sentence: 'The namespace of the pod is being deleted, and the pod with it',
    canAct: 'nobody',
  },
  ...POD_DEMAND_REASONS,
});

/** The name of a reason. */
export type ReasonName = keyof typeof REASONS;
