/**
 * What the session does with each frame, in the moment it comes.
 *
 * Promises: never waits and never throws; a bootstrap pull is answered before the next frame is
 * looked at (WIRE-09); what cannot be used is logged, counted and dropped.
 */
import type { Observer } from 'rxjs';
import type { Telemetry } from '../../api/telemetry.ts';
import type { BootstrapPull, ReclaimOrder, SessionNews, ShardFrame } from '../../domain/frames.ts';
import type { ClusterId } from '../../domain/ids.ts';
import type { BootstrapAnswer, Reply } from '../../domain/session.ts';

/** Makes the blob of a pull, or tells why it cannot. */
export type RenderBootstrap = (pull: BootstrapPull) => BootstrapAnswer;

/** What frames lead to. */
export interface FrameDependencies {
  readonly clusterId: ClusterId;
  readonly telemetry: Telemetry;
  readonly render: RenderBootstrap;
  readonly reply: (reply: Reply) => boolean;
  readonly news: Pick<Observer<SessionNews>, 'next'>;
  readonly onHelloAck: () => void;
  readonly onRollupAck: () => void;
  /** A frame was lost that may have been about any machine. */
  readonly onReplayGap: () => void;
}

/** How much of an unknown ack a log line repeats. */
const ECHO_MAX = 80;

const failed = (problem: string): BootstrapAnswer => ({ _tag: 'Failed', problem });

const answerTo = (
  { clusterId, render }: FrameDependencies,
  pull: BootstrapPull,
): BootstrapAnswer => {
  if (pull.clusterId !== clusterId) {
    return failed(`This is cluster "${clusterId}" and not "${pull.clusterId}"`);
  }
  try {
    return render(pull);
  } catch (problem) {
    return failed(`Cannot render: ${problem instanceof Error ? problem.message : String(problem)}`);
  }
};

const answer = (
  dependencies: FrameDependencies,
  requestId: string,
  made: BootstrapAnswer,
): void => {
  const taken = dependencies.reply({ _tag: 'BootstrapAnswered', requestId, answer: made });
  const outcome = taken ? made._tag.toLowerCase() : 'dropped';
  dependencies.telemetry.count('tidegate_bootstrap_pulls_total', 1, { outcome });
  if (made._tag === 'Failed') {
    dependencies.telemetry.log('warn', 'Bootstrap pull answered with an error', {
      request: requestId,
      problem: made.problem,
    });
  }
};

const publishReclaim = ({ telemetry, news }: FrameDependencies, order: ReclaimOrder): void => {
  telemetry.count('tidegate_reclaim_instructions_total', 1);
  telemetry.log('info', 'Reclaim ordered', {
    instruction: order.instructionId,
    machine: order.machines.join(','),
    graceSeconds: order.graceSeconds,
    preemptorPriority: order.preemptorPriority,
  });
  news.next({ _tag: 'ReclaimOrdered', order });
};

const onAck = (
  { telemetry, onHelloAck, onRollupAck }: FrameDependencies,
  { echo, shardEpoch }: Extract<ShardFrame, { _tag: 'Acknowledged' }>,
): void => {
  telemetry.log('debug', 'Ack received', { echo: echo.slice(0, ECHO_MAX), shardEpoch });
  if (echo === 'hello') onHelloAck();
  else if (echo === 'rollup') onRollupAck();
  else telemetry.log('warn', 'Unknown ack ignored', { echo: echo.slice(0, ECHO_MAX) });
};

const onUnreadable = (
  { telemetry, news, onReplayGap }: FrameDependencies,
  frame: Extract<ShardFrame, { _tag: 'Unreadable' }>,
): void => {
  telemetry.log('warn', 'Frame ignored', { problem: frame.problem, subject: frame.subject });
  if (frame.leavesGap) onReplayGap();
  if (frame.machineId !== undefined) {
    news.next({ _tag: 'MachineMalformed', machineId: frame.machineId });
  }
};

/** Handles the frames of a session, one at a time. */
export const frameHandler = (dependencies: FrameDependencies) => (frame: ShardFrame): void => {
  dependencies.telemetry.count('tidegate_session_frames_total', 1, { frame: frame._tag });
  switch (frame._tag) {
    case 'MachineObserved':
    case 'CapacityObserved':
      return dependencies.news.next(frame);
    case 'BootstrapPulled':
      return answer(dependencies, frame.pull.requestId, answerTo(dependencies, frame.pull));
    case 'BootstrapMalformed':
      return answer(
        dependencies,
        frame.requestId,
        failed(`Cannot read the request: ${frame.problem}`),
      );
    case 'ReclaimOrdered':
      return publishReclaim(dependencies, frame.order);
    case 'Acknowledged':
      return onAck(dependencies, frame);
    case 'Unreadable':
      return onUnreadable(dependencies, frame);
  }
};
