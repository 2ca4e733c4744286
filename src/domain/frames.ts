/** What the shard says, as the operator's own nouns. Read from bytes in `src/effects/frames.ts`. */
import type { InstructionId, MachineId } from './ids.ts';
import type { Requirement, ResourceMap, Taint } from './resources.ts';

/** Where a machine is in the fleet's life of it. */
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

/** A machine as a `NodeStateUpdate` shows it. */
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

/** How sure the fleet is that more can be had. */
export type Confidence = 'None' | 'Low' | 'Medium' | 'High';

/** Free capacity of one profile as an `AvailableCapacityUpdate` shows it. */
export interface CapacityObservation {
  readonly supersedesKey: string;
  readonly requirements: readonly Requirement[];
  readonly resources: ResourceMap;
  readonly availableCount: number;
  readonly confidence: Confidence;
  /** Dollars. */
  readonly costPerHour: number;
}

/** A `BootstrapRequest`: answered at once, in the order of arrival. */
export interface BootstrapPull {
  readonly requestId: string;
  readonly clusterId: string;
  readonly requirements: readonly Requirement[];
}

/** A `ReclaimInstruction`. `machines` are machine ids, whatever the field is called on the wire. */
export interface ReclaimOrder {
  readonly instructionId: InstructionId;
  readonly machines: readonly string[];
  readonly graceSeconds: number;
  readonly preemptorPriority: number;
}

/** One frame of the shard, read and found good. */
export type ShardFrame =
  | { readonly _tag: 'Acknowledged'; readonly echo: string; readonly shardEpoch: string }
  | { readonly _tag: 'BootstrapPulled'; readonly pull: BootstrapPull }
  /** A pull that asks for what this version does not know; answered with the problem. */
  | { readonly _tag: 'BootstrapMalformed'; readonly requestId: string; readonly problem: string }
  | { readonly _tag: 'ReclaimOrdered'; readonly order: ReclaimOrder }
  | { readonly _tag: 'MachineObserved'; readonly machine: MachineObservation }
  | { readonly _tag: 'CapacityObserved'; readonly capacity: CapacityObservation }
  /** Bytes that say nothing usable: what was wrong, in one sentence, and about which machine. */
  | {
    readonly _tag: 'Unreadable';
    readonly problem: string;
    readonly subject: string;
    /** The machine that the frame is about, when it says so: it is bound to us all the same. */
    readonly machineId?: MachineId;
    /** It may have been about any machine: nothing follows from a replay with such a gap. */
    readonly leavesGap: boolean;
  };

/** What the session tells the rest of the operator. */
export type SessionNews =
  /** A stream was opened and its `hello` acked; a replay of every bound machine follows. */
  | { readonly _tag: 'StreamOpened'; readonly stream: number }
  | { readonly _tag: 'MachineObserved'; readonly machine: MachineObservation }
  /** A frame about this machine could not be read: it is bound to us, in a state nobody knows. */
  | { readonly _tag: 'MachineMalformed'; readonly machineId: MachineId }
  | { readonly _tag: 'CapacityObserved'; readonly capacity: CapacityObservation }
  | { readonly _tag: 'ReclaimOrdered'; readonly order: ReclaimOrder }
  /** The stream's first `rollup` ack: what was not replayed by now is not bound to us. */
  | { readonly _tag: 'Resynced'; readonly stream: number }
  | { readonly _tag: 'StreamEnded'; readonly stream: number };
