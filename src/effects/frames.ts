/**
 * Decodes and validates frames of the shard.
 *
 * Promises: total. Any bytes yield a frame; a malformed one carries the problem in one sentence and
 * the machine if known, so that it costs only itself and not the stream. Numbers and texts are
 * accepted unchanged where any value is tolerable.
 */
import { fromBinary } from '@bufbuild/protobuf';
import {
  type CapacityObservation,
  type Confidence,
  MACHINE_STATES,
  type MachineObservation,
  type ShardFrame,
} from '../domain/frames.ts';
import { CORDON_LIMITS } from '../domain/drain/cordon-limits.ts';
import { instructionId, machineId } from '../domain/ids.ts';
import type { Requirement, RequirementOperator, ResourceMap, Taint } from '../domain/resources.ts';
import { cutText, quoted } from '../domain/text.ts';
import type { NodeSelectorRequirement } from '../gen/bigfleet/v1alpha1/capacity_pb.ts';
import type { Resources } from '../gen/bigfleet/v1alpha1/provider_pb.ts';
import {
  type AvailableCapacityUpdate,
  type BootstrapRequest,
  type NodeStateUpdate,
  type ReclaimInstruction,
  type ShardMessage,
  ShardMessageSchema,
} from '../gen/bigfleet/v1alpha1/shard_pb.ts';

/**
 * The size limit of a frame that becomes an object of the cluster. etcd takes 1.5 MiB including
 * overhead, so a larger frame could never be written and would be retried forever.
 */
export const OBSERVATION_BYTES_MAX = 1024 * 1024;

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
class MalformedFrame extends Error {}

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

const assertSmall = (bytes: number): void => {
  if (bytes > OBSERVATION_BYTES_MAX) {
    throw new MalformedFrame(`it has ${bytes} bytes, limit ${OBSERVATION_BYTES_MAX}`);
  }
};

const machineOf = (update: NodeStateUpdate, bytes: number): MachineObservation => {
  if (update.machineId === '') throw new MalformedFrame('the machine id is empty');
  const state = MACHINE_STATES[update.state];
  if (state === undefined) throw new MalformedFrame(`the machine state ${update.state} is unknown`);
  assertSmall(bytes);
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

const capacityOf = (update: AvailableCapacityUpdate, bytes: number): CapacityObservation => {
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
  assertSmall(bytes);
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
  try {
    const requirements = request.requirements.map(requirementOf);
    return { _tag: 'BootstrapPulled', pull: { requestId, clusterId, requirements } };
  } catch (problem) {
    if (!(problem instanceof MalformedFrame)) throw problem;
    return { _tag: 'BootstrapMalformed', requestId, problem: problem.message };
  }
};

const reclaimFrame = (instruction: ReclaimInstruction): ShardFrame => {
  const { length } = instruction.instructionId;
  if (length === 0) throw new MalformedFrame('the instruction id is empty');
  if (length > CORDON_LIMITS.idCharacters) {
    throw new MalformedFrame(
      `the instruction id has ${length} characters, more than ${CORDON_LIMITS.idCharacters}`,
    );
  }
  const seconds = Number(instruction.gracePeriodSeconds);
  return {
    _tag: 'ReclaimOrdered',
    order: {
      instructionId: instructionId(instruction.instructionId),
      machines: instruction.nodes,
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
      return { _tag: 'CapacityObserved', capacity: capacityOf(payload.value, bytes) };
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

const unusable = (message: ShardMessage, why: string): ShardFrame => {
  const { payload } = message;
  const name = payload.case === undefined ? 'frame' : NAMES[payload.case];
  const about = payload.case === 'nodeStateUpdate' ? payload.value.machineId : '';
  return {
    _tag: 'Unreadable',
    problem: `Cannot use a ${name}: ${why}`,
    subject: cutText(subjectOf(message), SUBJECT_MAX),
    leavesGap: false,
    ...(about === '' ? {} : { machineId: machineId(about) }),
  };
};

/** Reads one frame. */
export const readShardFrame = (bytes: Uint8Array): ShardFrame => {
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
    return unusable(message, problem.message);
  }
};
