/**
 * The state of a Node for the scheduling of pods, derived from facts (RS-01).
 *
 * Promises: pure and total; the state is stored nowhere, and the condition that a Node has of it is
 * only read to know what a former process decided.
 */
import type { Identity } from '../facts.ts';

/** All states, the one that wins first (`drain-evict-reschedule`: *Node states*). */
export const NODE_STATES = ['Offline', 'Disabled', 'Draining', 'Degraded', 'Active'] as const;
export type NodeState = (typeof NODE_STATES)[number];

/** What the condition of a Node says: its state, or that it is offline together with many. */
export const AVAILABILITY_LABELS = [...NODE_STATES, 'OfflineStorm'] as const;
export type AvailabilityLabel = (typeof AVAILABILITY_LABELS)[number];

/** The configured problem conditions of a Node, taken together. */
export type NodeProblem =
  | 'Present'
  | 'Absent'
  /** Its kubelet does not report them. */
  | 'Unknown';

/** What a Node has of its state. */
export interface CurrentAvailability {
  /** Null without a condition of ours. */
  readonly label: AvailabilityLabel | null;
  /** It has the taint `tidegate.dev/degraded`. */
  readonly isTainted: boolean;
  /** A person said that its machine is gone: it has the taint of a node out of service. */
  readonly isConfirmedGone: boolean;
  /** That taint was set by `tidegate node confirm-gone`, so that it is removed with its cause. */
  readonly isConfirmedByCommand: boolean;
}

/** A taint as the API server has it. */
export interface Taint {
  readonly key: string;
  readonly value: string;
  readonly effect: string;
  readonly timeAdded: string;
}

/** The facts of one Node. */
export interface AvailableNode extends Identity {
  readonly name: string;
  /** Its condition Ready. */
  readonly readyStatus: 'True' | 'False' | 'Unknown';
  readonly problem: NodeProblem;
  /** A person disabled it: the cordon has the owner `disabled`. */
  readonly isDisabled: boolean;
  /** It was disabled, and a person made it schedulable: its key is of no use any more. */
  readonly wasDisabled: boolean;
  /** Another owner of its cordon drains it. */
  readonly isDraining: boolean;
  readonly availability: CurrentAvailability;
  readonly taints: readonly Taint[];
}

/** What is known beside the facts. */
export interface StateTerms {
  /** Its Lease was not renewed for long enough. */
  readonly isSilent: boolean;
  /** A problem has lasted, and is not over for long enough. */
  readonly isDegraded: boolean;
}

/**
 * The state of a Node. Offline needs both a silent Lease and a Ready condition that its controller
 * set to `Unknown` (RS-05): neither a lost Lease alone nor one missed report is a failure.
 */
export const nodeState = (
  { readyStatus, isDisabled, isDraining }: Pick<
    AvailableNode,
    'readyStatus' | 'isDisabled' | 'isDraining'
  >,
  { isSilent, isDegraded }: StateTerms,
): NodeState => {
  if (isSilent && readyStatus === 'Unknown') return 'Offline';
  if (isDisabled) return 'Disabled';
  if (isDraining) return 'Draining';
  return isDegraded ? 'Degraded' : 'Active';
};

/** What a Node is to have of its state. */
export interface WantedAvailability {
  readonly label: AvailabilityLabel;
  readonly isTainted: boolean;
  /** Its machine is back, so that the taint of `tidegate node confirm-gone` goes (RS-22). */
  readonly endsConfirmation: boolean;
}

/** What was decided about a Node. */
export interface DecidedState {
  readonly state: NodeState;
  readonly isDegraded: boolean;
  /** It went offline in a storm. */
  readonly isProtected: boolean;
  /** It has been offline for so long that it is of no storm. */
  readonly isSettled: boolean;
}

/**
 * The reason that the Node is to have. `Offline` says to the next process that the Node was handled
 * and is no sign of a storm (RS-06), so that a Node which is not keeps its former reason. One that
 * is not protected any more must not show a storm.
 */
const labelFor = (
  { label }: CurrentAvailability,
  { state, isProtected, isSettled }: DecidedState,
): AvailabilityLabel => {
  if (state !== 'Offline') return state;
  if (isProtected) return 'OfflineStorm';
  return isSettled || label === 'OfflineStorm' ? 'Offline' : label ?? 'Active';
};

/** What the Node is to show. */
export const wantedAvailability = (
  { readyStatus, availability }: Pick<AvailableNode, 'readyStatus' | 'availability'>,
  decided: DecidedState,
): WantedAvailability => ({
  label: labelFor(availability, decided),
  isTainted: decided.isDegraded,
  endsConfirmation: availability.isConfirmedByCommand && readyStatus === 'True',
});

/** Whether a Node lacks some of it. A Node that was always active gets no condition. */
export const differsFrom = (
  { label, isTainted }: CurrentAvailability,
  wanted: WantedAvailability,
): boolean =>
  (label ?? 'Active') !== wanted.label || isTainted !== wanted.isTainted || wanted.endsConfirmation;
