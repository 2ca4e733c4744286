/** The shard's frames, filled with what the real one fills and nothing more. */
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

/** What a frame is made from. */
export type ShardFrame = Exclude<
  MessageInitShape<typeof ShardMessageSchema>['payload'],
  undefined
>;

/** A frame as it goes over the wire. */
export const shardFrameBytes = (payload: ShardFrame): Uint8Array =>
  toBinary(ShardMessageSchema, create(ShardMessageSchema, { payload }));

/** `echo: "hello"` or `echo: "rollup"`: there are no others. */
export const ackFrame = (echo: 'hello' | 'rollup', term: number, epoch: number): ShardFrame => ({
  case: 'ack',
  value: { echo, coordinatorTerm: BigInt(term), shardEpoch: BigInt(epoch) },
});

/** Where a machine is; `cluster_id`, `node_name` and `taints` stay empty, as the real shard's. */
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
  /** What `nodes` holds: a machine id, unless a script wants otherwise. */
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

/** Up to which count the shard is how sure. */
const CONFIDENCES = [
  { below: 1, confidence: Confidence.NONE },
  { below: 5, confidence: Confidence.LOW },
  { below: 20, confidence: Confidence.MEDIUM },
] as const;

/** What of a profile could be had now. */
export interface Availability {
  readonly need: Pick<AcceptedNeed, 'fingerprint' | 'wire'>;
  readonly count: number;
  /** The kind that would come; undefined when none suits. */
  readonly kind: MachineKind | undefined;
}

/** How much more of a profile could be had. */
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
