/**
 * Handles each frame of the session immediately.
 *
 * Promises: never waits and never throws; a bootstrap pull is answered before the next frame is
 * processed (WIRE-09); unusable frames are logged, counted and dropped.
 */
import type { Observer } from 'rxjs';
import type { Telemetry } from '../../api/telemetry.ts';
import type {
  BootstrapPull,
  ReclaimInstruction,
  ShardEvent,
  ShardFrame,
} from '../../domain/frames.ts';
import type { ClusterId } from '../../domain/ids.ts';
import type { BootstrapAnswer, Reply } from '../../domain/session.ts';
import { SHARD_LIMITS } from '../../domain/shard-limits.ts';
import { cutText, quoted } from '../../domain/text.ts';
import type { RecordOnLease } from '../role.ts';

/** Renders the user data of a pull, or returns the problem. */
export type RenderBootstrap = (pull: BootstrapPull) => BootstrapAnswer;

/** The effects of frames. */
export interface FrameDependencies {
  readonly clusterId: ClusterId;
  readonly telemetry: Telemetry;
  readonly render: RenderBootstrap;
  readonly reply: (reply: Reply) => boolean;
  readonly shardEvents: Pick<Observer<ShardEvent>, 'next'>;
  readonly record: RecordOnLease;
  readonly onHelloAck: () => void;
  readonly onRollupAck: () => void;
  /** A frame about an unknown machine was lost. */
  readonly onReplayGap: () => void;
  /** Called after every frame. */
  readonly onReceived: () => void;
}

/** The number of machines that a log line of an instruction names. */
const NAMED_MAX = 10;

/** The maximum length of an unknown ack in a log line. */
const ECHO_MAX = 80;

const failed = (problem: string): BootstrapAnswer => ({ _tag: 'Failed', problem });

const answerTo = (
  { clusterId, render }: FrameDependencies,
  pull: BootstrapPull,
): BootstrapAnswer => {
  // Other frames leave it empty: the stream is that of one cluster.
  if (pull.clusterId !== '' && pull.clusterId !== clusterId) {
    return failed(`This is cluster "${clusterId}", not "${pull.clusterId}"`);
  }
  try {
    return render(pull);
  } catch (defect) {
    // The message of a defect may quote the template.
    return failed(
      `Cannot render the template: ${defect instanceof Error ? defect.name : 'defect'}`,
    );
  }
};

const answer = (
  dependencies: FrameDependencies,
  requestId: string,
  made: BootstrapAnswer,
): void => {
  const taken = dependencies.reply({ _tag: 'BootstrapAnswered', requestId, answer: made });
  const outcome = made._tag === 'Rendered' ? 'rendered' : 'failed';
  dependencies.telemetry.count('tidegate_bootstrap_pulls_total', 1, {
    outcome: taken ? outcome : 'dropped',
  });
  if (made._tag === 'Failed') {
    dependencies.telemetry.log('warn', 'Bootstrap pull answered with an error', {
      request: requestId,
      problem: made.problem,
    });
  }
};

const namesOf = (machines: readonly string[]): string => {
  const more = machines.length - NAMED_MAX;
  return `${machines.slice(0, NAMED_MAX).join(',')}${more > 0 ? ` and ${more} more` : ''}`;
};

/** Parts of an instruction that are not taken. */
const recordLeftOut = (
  { telemetry, record }: FrameDependencies,
  { instructionId, leftOut = [] }: ReclaimInstruction,
): void => {
  for (const { limit, count } of leftOut) {
    telemetry.count('tidegate_shard_limits_reached_total', count, { limit });
    telemetry.log('warn', 'Machines of a ReclaimInstruction left out', {
      instruction: instructionId,
      machines: count,
      limit,
    });
    record(
      'ShardLimitReached',
      `Cannot reclaim ${count} machines of ${quoted(instructionId)}: limit ${limit} is ` +
        `${SHARD_LIMITS[limit].max}; the fleet must send them in further instructions`,
    );
  }
};

const publishReclaim = (
  dependencies: FrameDependencies,
  instruction: ReclaimInstruction,
): void => {
  const { telemetry, shardEvents } = dependencies;
  telemetry.count('tidegate_reclaim_instructions_total', 1);
  telemetry.log('info', 'ReclaimInstruction received', {
    instruction: instruction.instructionId,
    machine: namesOf(instruction.machines),
    graceSeconds: instruction.graceSeconds,
    preemptorPriority: instruction.preemptorPriority,
  });
  recordLeftOut(dependencies, instruction);
  shardEvents.next({ _tag: 'ReclaimInstructed', instruction });
};

const onAck = (
  { telemetry, onHelloAck, onRollupAck }: FrameDependencies,
  { echo, shardEpoch }: Extract<ShardFrame, { _tag: 'Acknowledged' }>,
): void => {
  telemetry.log('debug', 'Ack received', { echo: cutText(echo, ECHO_MAX), shardEpoch });
  if (echo === 'hello') onHelloAck();
  else if (echo === 'rollup') onRollupAck();
  else telemetry.log('warn', 'Unknown ack ignored', { echo: cutText(echo, ECHO_MAX) });
};

const onUnreadable = (
  { telemetry, shardEvents, onReplayGap }: FrameDependencies,
  frame: Extract<ShardFrame, { _tag: 'Unreadable' }>,
): void => {
  telemetry.log('warn', 'Frame ignored', { problem: frame.problem, subject: frame.subject });
  if (frame.leavesGap) onReplayGap();
  if (frame.machineId !== undefined) {
    shardEvents.next({ _tag: 'MachineMalformed', machineId: frame.machineId });
  }
};

const handle = (dependencies: FrameDependencies, frame: ShardFrame): void => {
  switch (frame._tag) {
    case 'MachineObserved':
    case 'CapacityObserved':
      return dependencies.shardEvents.next(frame);
    case 'BootstrapPulled':
      return answer(dependencies, frame.pull.requestId, answerTo(dependencies, frame.pull));
    case 'BootstrapMalformed':
      return answer(
        dependencies,
        frame.requestId,
        failed(`Malformed request: ${frame.problem}`),
      );
    case 'ReclaimInstructed':
      return publishReclaim(dependencies, frame.instruction);
    case 'Acknowledged':
      return onAck(dependencies, frame);
    case 'Unreadable':
      return onUnreadable(dependencies, frame);
  }
};

/** Handles the frames of a session, one at a time. */
export const frameHandler = (dependencies: FrameDependencies) => (frame: ShardFrame): void => {
  const { telemetry } = dependencies;
  telemetry.count('tidegate_session_frames_total', 1, { frame: frame._tag });
  const limit = 'limit' in frame ? frame.limit : undefined;
  if (limit !== undefined) telemetry.count('tidegate_shard_limits_reached_total', 1, { limit });
  handle(dependencies, frame);
  dependencies.onReceived();
};
