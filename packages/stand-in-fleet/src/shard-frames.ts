/** Builds the shard's frames with exactly the fields that the real shard sets. */
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { MachineState } from './gen/bigfleet/v1alpha1/provider_pb.ts';
import {
  AvailableCapacityUpdate_Confidence as Confidence,
  ShardMessageSchema,
} from './gen/bigfleet/v1alpha1/shard_pb.ts';
import { availableKey } from './fingerprint.ts';
import type { FleetMachine } from './inventory.ts';
import type { MachineKind } from './machine-kind.ts';
import type { AcceptedNeed } from './needs.ts';

/** The payload of a frame. */
export type ShardFrame = Exclude<
  MessageInitShape<typeof ShardMessageSchema>['payload'],
  undefined
>;

/** An encoded frame. */
export const shardFrameBytes = (payload: ShardFrame): Uint8Array =>
  toBinary(ShardMessageSchema, create(ShardMessageSchema, { payload }));

/** `echo: "hello"` or `echo: "rollup"`; no others exist. */
export const ackFrame = (echo: 'hello' | 'rollup', term: number, epoch: number): ShardFrame => ({
  case: 'ack',
  value: { echo, coordinatorTerm: BigInt(term), shardEpoch: BigInt(epoch) },
});

/** A machine's state; `cluster_id`, `node_name` and `taints` stay empty, as in the real shard. */
export const machineFrame = (machine: FleetMachine): ShardFrame => ({
  case: 'nodeStateUpdate',
  value: {
    supersedesKey: `node:${machine.id}`,
    machineId: machine.id,
    state: MachineState[machine.state],
    providerId: machine.providerId,
    lastError: machine.lastError,
    labels: { ...machine.kind.labels },
    resources: { resources: { ...machine.kind.resources } },
  },
});

/** A reclaim of one machine. */
export interface Reclaim {
  readonly instructionId: string;
  /** The value of `nodes`: a machine id, unless a script overrides it. */
  readonly node: string;
  readonly graceSeconds: number;
  readonly preemptorPriority: number;
}

/** "Give this machine back." */
export const reclaimFrame = (reclaim: Reclaim): ShardFrame => ({
  case: 'reclaimInstruction',
  value: {
    instructionId: reclaim.instructionId,
    nodes: [reclaim.node],
    gracePeriodSeconds: BigInt(reclaim.graceSeconds),
    preemptorPriority: reclaim.preemptorPriority,
  },
});

/** "How does a machine join you?" */
export const pullFrame = (
  requestId: string,
  clusterId: string,
  requirements: AcceptedNeed['wire']['requirements'],
): ShardFrame => ({
  case: 'bootstrapRequest',
  value: { requestId, clusterId, requirements: [...requirements] },
});

/** The confidence for each available count. */
const CONFIDENCES = [
  { below: 1, confidence: Confidence.NONE },
  { below: 5, confidence: Confidence.LOW },
  { below: 20, confidence: Confidence.MEDIUM },
] as const;

/** The current availability of a profile. */
export interface Availability {
  readonly need: Pick<AcceptedNeed, 'fingerprint' | 'wire'>;
  readonly count: number;
  /** The kind that would be provisioned; undefined when none suits. */
  readonly kind: MachineKind | undefined;
}

/** The remaining available capacity of a profile. */
export const capacityFrame = ({ need, count, kind }: Availability): ShardFrame => ({
  case: 'availableCapacity',
  value: {
    supersedesKey: availableKey(need.fingerprint),
    requirements: need.wire.requirements,
    resources: { resources: { ...(kind?.resources ?? need.wire.minUnit) } },
    availableCount: count,
    confidence: CONFIDENCES.find(({ below }) => count < below)?.confidence ?? Confidence.HIGH,
    costPerHour: kind?.costPerHour ?? 0,
  },
});
