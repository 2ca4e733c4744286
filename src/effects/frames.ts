/**
 * Decodes and validates frames of the shard.
 *
 * Promises: total. Any bytes yield a frame; a malformed one carries the problem in one sentence and
 * the machine if known, so that it costs only itself and not the stream; what exceeds a limit of
 * `shard-limits.ts` is not kept, and an oversized frame is not decoded. Numbers and texts are
 * accepted unchanged where any value is tolerable.
 */
import { fromBinary } from '@bufbuild/protobuf';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import {
  type CapacityObservation,
  type Confidence,
  type LeftOut,
  MACHINE_STATES,
  type MachineObservation,
  type ReclaimInstruction,
  type ShardFrame,
} from '../domain/frames.ts';
import { instructionId, type MachineId, machineId } from '../domain/ids.ts';
import type { Requirement, RequirementOperator, ResourceMap, Taint } from '../domain/resources.ts';
import { beyondText, SHARD_LIMITS, type ShardLimitName } from '../domain/shard-limits.ts';
import { cutText, quoted } from '../domain/text.ts';
import type { NodeSelectorRequirement } from '../gen/bigfleet/v1alpha1/capacity_pb.ts';
import type { Resources } from '../gen/bigfleet/v1alpha1/provider_pb.ts';
import {
  type AvailableCapacityUpdate,
  type BootstrapRequest,
  type NodeStateUpdate,
  NodeStateUpdateSchema,
  type ReclaimInstruction as ReclaimInstructionMessage,
  type ShardMessage,
  ShardMessageSchema,
} from '../gen/bigfleet/v1alpha1/shard_pb.ts';

/** The maximum length of a quoted name from the peer. */
const SUBJECT_MAX = 80;

const OPERATORS: readonly (RequirementOperator | undefined)[] = [
  undefined,
  'In',
  'NotIn',
  'Exists',
  'DoesNotExist',
  'Same',
];
/** Unspecified is read as the lowest confidence. */
const CONFIDENCES: readonly Confidence[] = ['None', 'None', 'Low', 'Medium', 'High'];

/** Why a frame is malformed; caught where the frame is read. */
class MalformedFrame extends Error {
  readonly limit: ShardLimitName | undefined;

  constructor(problem: string, limit?: ShardLimitName) {
    super(problem);
    this.limit = limit;
  }
}

const assertWithin = (limit: ShardLimitName, count: number, what = 'it'): void => {
  if (count <= SHARD_LIMITS[limit].max) return;
  throw new MalformedFrame(beyondText(limit, count).replace('it', what), limit);
};

/** The exceeded limit of a problem, as a field. */
const limitOf = ({ limit }: MalformedFrame): { readonly limit?: ShardLimitName } =>
  limit === undefined ? {} : { limit };

const requirementOf = ({ key, operator, values }: NodeSelectorRequirement): Requirement => {
  const name = OPERATORS[operator];
  if (name === undefined) {
    throw new MalformedFrame(`requirement ${quoted(key)} has the unknown operator ${operator}`);
  }
  return { key, operator: name, values };
};

const resourcesOf = (resources: Resources | undefined): ResourceMap => resources?.resources ?? {};

const taintOf = ({ key, value, effect }: { key: string; value: string; effect: string }): Taint =>
  value === '' ? { key, effect } : { key, value, effect };

const machineOf = (update: NodeStateUpdate, bytes: number): MachineObservation => {
  if (update.machineId === '') throw new MalformedFrame('the machine id is empty');
  assertWithin('id_length', update.machineId.length, 'the machine id');
  assertWithin('id_length', update.nodeName.length, 'the node name');
  assertWithin('provider_id_length', update.providerId.length, 'the provider id');
  const state = MACHINE_STATES[update.state];
  if (state === undefined) throw new MalformedFrame(`the machine state ${update.state} is unknown`);
  if (bytes > SHARD_LIMITS.machine_bytes.max) {
    assertWithin('machine_bytes', bytes - Buffer.byteLength(update.lastError));
  }
  return {
    machineId: machineId(update.machineId),
    state,
    nodeName: update.nodeName,
    providerId: update.providerId,
    lastError: update.lastError,
    labels: update.labels,
    resources: resourcesOf(update.resources),
    taints: update.taints.map(taintOf),
  };
};

const capacityOf = (update: AvailableCapacityUpdate): CapacityObservation => {
  if (update.supersedesKey === '') throw new MalformedFrame('the supersedes key is empty');
  const confidence = CONFIDENCES[update.confidence];
  if (confidence === undefined) {
    throw new MalformedFrame(`confidence ${update.confidence} is unknown`);
  }
  if (update.availableCount < 0) {
    throw new MalformedFrame(`the count ${update.availableCount} is negative`);
  }
  if (!Number.isFinite(update.costPerHour) || update.costPerHour < 0) {
    throw new MalformedFrame(`the cost ${update.costPerHour} is not a valid dollar amount`);
  }
  return {
    supersedesKey: update.supersedesKey,
    requirements: update.requirements.map(requirementOf),
    resources: resourcesOf(update.resources),
    availableCount: update.availableCount,
    confidence,
    costPerHour: update.costPerHour,
  };
};

const bootstrapFrame = (request: BootstrapRequest): ShardFrame => {
  const { requestId, clusterId } = request;
  if (requestId === '') throw new MalformedFrame('the request id is empty');
  assertWithin('id_length', requestId.length, 'the request id');
  try {
    assertWithin('id_length', clusterId.length, 'the cluster id');
    assertWithin('bootstrap_requirements', request.requirements.length);
    const requirements = request.requirements.map(requirementOf);
    return { _tag: 'BootstrapPulled', pull: { requestId, clusterId, requirements } };
  } catch (problem) {
    if (!(problem instanceof MalformedFrame)) throw problem;
    const { message } = problem;
    return { _tag: 'BootstrapMalformed', requestId, problem: message, ...limitOf(problem) };
  }
};

/** The machines of an instruction within the limits, and the number of others. */
const machinesOf = (
  { nodes }: ReclaimInstructionMessage,
): Pick<ReclaimInstruction, 'machines' | 'leftOut'> => {
  const short = nodes.filter((id) => id.length <= SHARD_LIMITS.id_length.max);
  const machines = short.slice(0, SHARD_LIMITS.instruction_machines.max);
  const leftOut: readonly LeftOut[] = [
    { limit: 'id_length', count: nodes.length - short.length } as const,
    { limit: 'instruction_machines', count: short.length - machines.length } as const,
  ].filter(({ count }) => count > 0);
  return leftOut.length === 0 ? { machines } : { machines, leftOut };
};

const reclaimFrame = (instruction: ReclaimInstructionMessage): ShardFrame => {
  if (instruction.instructionId === '') throw new MalformedFrame('the instruction id is empty');
  assertWithin('id_length', instruction.instructionId.length, 'the instruction id');
  const seconds = Number(instruction.gracePeriodSeconds);
  return {
    _tag: 'ReclaimInstructed',
    instruction: {
      instructionId: instructionId(instruction.instructionId),
      ...machinesOf(instruction),
      graceSeconds: Math.min(Math.max(0, seconds), Number.MAX_SAFE_INTEGER),
      preemptorPriority: instruction.preemptorPriority,
    },
  };
};

const frameOf = ({ payload }: ShardMessage, bytes: number): ShardFrame => {
  switch (payload.case) {
    case 'ack':
      return {
        _tag: 'Acknowledged',
        echo: payload.value.echo,
        shardEpoch: String(payload.value.shardEpoch),
      };
    case 'bootstrapRequest':
      return bootstrapFrame(payload.value);
    case 'reclaimInstruction':
      return reclaimFrame(payload.value);
    case 'nodeStateUpdate':
      return { _tag: 'MachineObserved', machine: machineOf(payload.value, bytes) };
    case 'availableCapacity':
      return { _tag: 'CapacityObserved', capacity: capacityOf(payload.value) };
    case undefined:
      throw new MalformedFrame('its payload is unknown to this version');
  }
};

/** The subject of a frame, for logs. */
const subjectOf = ({ payload }: ShardMessage): string => {
  switch (payload.case) {
    case 'nodeStateUpdate':
      return payload.value.machineId;
    case 'availableCapacity':
      return payload.value.supersedesKey;
    case 'bootstrapRequest':
      return payload.value.requestId;
    case 'reclaimInstruction':
      return payload.value.instructionId;
    default:
      return '';
  }
};

const NAMES = {
  ack: 'Acknowledgement',
  bootstrapRequest: 'BootstrapRequest',
  reclaimInstruction: 'ReclaimInstruction',
  nodeStateUpdate: 'NodeStateUpdate',
  availableCapacity: 'AvailableCapacityUpdate',
} as const;

/** The machine of a frame, as a field; without one, or with one that cannot be kept, nothing. */
const aboutMachine = (id: string): { readonly machineId?: MachineId } =>
  id === '' || id.length > SHARD_LIMITS.id_length.max ? {} : { machineId: machineId(id) };

const unusable = (message: ShardMessage, why: MalformedFrame): ShardFrame => {
  const { payload } = message;
  const name = payload.case === undefined ? 'frame' : NAMES[payload.case];
  return {
    _tag: 'Unreadable',
    problem: `Cannot use a ${name}: ${why.message}`,
    subject: cutText(subjectOf(message), SUBJECT_MAX),
    leavesGap: payload.case === 'nodeStateUpdate' && payload.value.machineId === '',
    ...aboutMachine(payload.case === 'nodeStateUpdate' ? payload.value.machineId : ''),
    ...limitOf(why),
  };
};

/** The bytes of an oversized frame in which its machine id is looked for. */
const BEGINNING_BYTES = 4096;

/** What is known of an oversized frame from its beginning. */
const beginningOf = (bytes: Uint8Array): { readonly field: number; readonly machine: string } => {
  const reader = new BinaryReader(bytes.subarray(0, BEGINNING_BYTES));
  let field = 0;
  try {
    [field] = reader.tag();
    reader.uint32();
    while (field === ShardMessageSchema.field.nodeStateUpdate.number && reader.pos < reader.len) {
      const [number, type] = reader.tag();
      if (number === NodeStateUpdateSchema.field.machineId.number) {
        return { field, machine: reader.string() };
      }
      reader.skip(type, number);
    }
  } catch {
    // A field goes on after the beginning.
  }
  return { field, machine: '' };
};

/** Fields of frames that concern no machine. */
const OTHER_FIELDS: ReadonlySet<number> = new Set([
  ShardMessageSchema.field.ack.number,
  ShardMessageSchema.field.bootstrapRequest.number,
  ShardMessageSchema.field.reclaimInstruction.number,
  ShardMessageSchema.field.availableCapacity.number,
]);

const oversized = (bytes: Uint8Array): ShardFrame => {
  const { field, machine } = beginningOf(bytes);
  return {
    _tag: 'Unreadable',
    problem: `Cannot use a frame: ${beyondText('frame_bytes', bytes.length)}`,
    subject: cutText(machine, SUBJECT_MAX),
    leavesGap: machine === '' && !OTHER_FIELDS.has(field),
    limit: 'frame_bytes',
    ...aboutMachine(machine),
  };
};

/** Reads one frame. */
export const readShardFrame = (bytes: Uint8Array): ShardFrame => {
  if (bytes.length > SHARD_LIMITS.frame_bytes.max) return oversized(bytes);
  let message: ShardMessage;
  try {
    message = fromBinary(ShardMessageSchema, bytes, { readUnknownFields: false });
  } catch (problem) {
    const why = problem instanceof Error ? problem.message : String(problem);
    return {
      _tag: 'Unreadable',
      problem: `Cannot read a frame of ${bytes.length} bytes: ${why}`,
      subject: '',
      leavesGap: true,
    };
  }
  try {
    return frameOf(message, bytes.length);
  } catch (problem) {
    if (!(problem instanceof MalformedFrame)) throw problem;
    return unusable(message, problem);
  }
};
