/** The shard's messages as domain types. Decoded in `src/effects/frames.ts`. */
import type { InstructionId, MachineId } from './ids.ts';
import type { Requirement, ResourceMap, Taint } from './resources.ts';
import type { ShardLimitName } from './shard-limits.ts';

/** The state of a machine in the fleet's lifecycle. */
export const MACHINE_STATES = [
  'Unspecified',
  'Speculative',
  'Creating',
  'Idle',
  'Configuring',
  'Configured',
  'Draining',
  'Deleting',
  'Failed',
] as const;
export type MachineState = (typeof MACHINE_STATES)[number];

/** A machine, from a `NodeStateUpdate`. */
export interface MachineObservation {
  readonly machineId: MachineId;
  readonly state: MachineState;
  readonly nodeName: string;
  readonly providerId: string;
  readonly lastError: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly resources: ResourceMap;
  readonly taints: readonly Taint[];
}

/** How certain the fleet is that more capacity exists. */
export type Confidence = 'None' | 'Low' | 'Medium' | 'High';

/** Free capacity of one profile, from an `AvailableCapacityUpdate`. */
export interface CapacityObservation {
  readonly supersedesKey: string;
  readonly requirements: readonly Requirement[];
  readonly resources: ResourceMap;
  /** Zero or more. */
  readonly availableCount: number;
  readonly confidence: Confidence;
  /** Dollars; zero or more, and finite. */
  readonly costPerHour: number;
}

/** A `BootstrapRequest`: answered immediately, in order of arrival. */
export interface BootstrapPull {
  readonly requestId: string;
  readonly clusterId: string;
  readonly requirements: readonly Requirement[];
}

/** A `ReclaimInstruction`. `machines` are machine ids, whatever the field is called on the wire. */
export interface ReclaimInstruction {
  readonly instructionId: InstructionId;
  readonly machines: readonly string[];
  readonly graceSeconds: number;
  readonly preemptorPriority: number;
  /** Machines beyond the limits, by limit; absent without any. */
  readonly leftOut?: readonly LeftOut[];
}

/** A part of a message that exceeds a limit. */
export interface LeftOut {
  readonly limit: ShardLimitName;
  readonly count: number;
}

/** A decoded, valid frame of the shard. */
export type ShardFrame =
  | { readonly _tag: 'Acknowledged'; readonly echo: string; readonly shardEpoch: string }
  | { readonly _tag: 'BootstrapPulled'; readonly pull: BootstrapPull }
  /** A pull with fields that this version does not support; answered with the problem. */
  | {
    readonly _tag: 'BootstrapMalformed';
    readonly requestId: string;
    readonly problem: string;
    /** The exceeded limit. */
    readonly limit?: ShardLimitName;
  }
  | { readonly _tag: 'ReclaimInstructed'; readonly instruction: ReclaimInstruction }
  | { readonly _tag: 'MachineObserved'; readonly machine: MachineObservation }
  | { readonly _tag: 'CapacityObserved'; readonly capacity: CapacityObservation }
  /** A malformed frame: the problem in one sentence, and the machine if it is known. */
  | {
    readonly _tag: 'Unreadable';
    readonly problem: string;
    readonly subject: string;
    /** The machine of the frame, if it was decoded: the machine is still bound to this cluster. */
    readonly machineId?: MachineId;
    /** The frame may concern any machine, so a replay with such a gap proves nothing. */
    readonly leavesGap: boolean;
    /** The exceeded limit. */
    readonly limit?: ShardLimitName;
  };

/** What the session publishes of its stream with the shard. */
export type ShardEvent =
  /** A stream opened and its `hello` was acked; a replay of every bound machine follows. */
  | { readonly _tag: 'StreamOpened'; readonly stream: number }
  | { readonly _tag: 'MachineObserved'; readonly machine: MachineObservation }
  /** A frame about this machine was malformed: the machine is bound, in an unknown state. */
  | { readonly _tag: 'MachineMalformed'; readonly machineId: MachineId }
  | { readonly _tag: 'CapacityObserved'; readonly capacity: CapacityObservation }
  | { readonly _tag: 'ReclaimInstructed'; readonly instruction: ReclaimInstruction }
  /** The stream's first `rollup` ack: machines not replayed by now are not bound. */
  | { readonly _tag: 'Resynced'; readonly stream: number }
  /** The same after a malformed frame of the replay: no machine is known to be absent. */
  | { readonly _tag: 'ReplayUnproven'; readonly stream: number }
  /** The end of a connected stream, opened or not: frames may precede the ack of its `hello`. */
  | { readonly _tag: 'StreamEnded'; readonly stream: number };
