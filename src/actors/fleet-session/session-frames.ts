/**
 * What the session does with each frame, in the moment it comes.
 *
 * Promises: never waits and never throws; a bootstrap pull is answered before the next frame is
 * looked at (WIRE-09); what cannot be used is said, counted and left behind.
 */
import type { Observer } from 'rxjs';
import type { Telemetry } from '../../api/telemetry.ts';
import type { BootstrapPull, ReclaimOrder, SessionNews, ShardFrame } from '../../domain/frames.ts';
import type { ClusterId } from '../../domain/ids.ts';
import type { BootstrapAnswer, Reply } from '../../domain/session.ts';

/** Makes the blob of a pull, or says why it cannot. */
export type RenderBootstrap = (pull: BootstrapPull) => BootstrapAnswer;

/** Whom frames concern. */
export interface FrameDesk {
  readonly clusterId: ClusterId;
  readonly telemetry: Telemetry;
  readonly render: RenderBootstrap;
  readonly reply: (reply: Reply) => boolean;
  readonly news: Pick<Observer<SessionNews>, 'next'>;
  readonly onHelloAck: () => void;
  readonly onRollupAck: () => void;
  /** A frame was lost that may have been about any machine. */
  readonly onHole: () => void;
}

/** How much of an unknown ack a log line repeats. */
const ECHO_MAX = 80;

const failed = (problem: string): BootstrapAnswer => ({ _tag: 'Failed', problem });

const answerTo = ({ clusterId, render }: FrameDesk, pull: BootstrapPull): BootstrapAnswer => {
  if (pull.clusterId !== clusterId) {
    return failed(`This is cluster "${clusterId}" and not "${pull.clusterId}"`);
  }
  try {
    return render(pull);
  } catch (problem) {
    return failed(`Cannot render: ${problem instanceof Error ? problem.message : String(problem)}`);
  }
};

const answer = (desk: FrameDesk, requestId: string, made: BootstrapAnswer): void => {
  const taken = desk.reply({ _tag: 'BootstrapAnswered', requestId, answer: made });
  const outcome = taken ? made._tag.toLowerCase() : 'dropped';
  desk.telemetry.count('tidegate_bootstrap_pulls_total', 1, { outcome });
  if (made._tag === 'Failed') {
    desk.telemetry.log('warn', 'Bootstrap pull answered with an error', {
      request: requestId,
      problem: made.problem,
    });
  }
};

const tellReclaim = ({ telemetry, news }: FrameDesk, order: ReclaimOrder): void => {
  telemetry.count('tidegate_reclaim_instructions_total', 1);
  telemetry.log('info', 'Reclaim ordered', {
    instruction: order.instructionId,
    machine: order.machines.join(','),
    graceSeconds: order.graceSeconds,
    preemptorPriority: order.preemptorPriority,
  });
  news.next({ _tag: 'ReclaimOrdered', order });
};

const hearAck = (
  { telemetry, onHelloAck, onRollupAck }: FrameDesk,
  { echo, shardEpoch }: Extract<ShardFrame, { _tag: 'Acknowledged' }>,
): void => {
  telemetry.log('debug', 'Ack heard', { echo: echo.slice(0, ECHO_MAX), shardEpoch });
  if (echo === 'hello') onHelloAck();
  else if (echo === 'rollup') onRollupAck();
  else telemetry.log('warn', 'Unknown ack ignored', { echo: echo.slice(0, ECHO_MAX) });
};

const tellUnreadable = (
  { telemetry, news, onHole }: FrameDesk,
  frame: Extract<ShardFrame, { _tag: 'Unreadable' }>,
): void => {
  telemetry.log('warn', 'Frame ignored', { problem: frame.problem, subject: frame.subject });
  if (frame.isHole) onHole();
  if (frame.machineId !== undefined) {
    news.next({ _tag: 'MachineMisread', machineId: frame.machineId });
  }
};

/** Takes one frame. */
export const takeFrame = (desk: FrameDesk, frame: ShardFrame): void => {
  desk.telemetry.count('tidegate_session_frames_total', 1, { frame: frame._tag });
  switch (frame._tag) {
    case 'MachineObserved':
    case 'CapacityObserved':
      return desk.news.next(frame);
    case 'BootstrapPulled':
      return answer(desk, frame.pull.requestId, answerTo(desk, frame.pull));
    case 'BootstrapMisread':
      return answer(desk, frame.requestId, failed(`Cannot read the request: ${frame.problem}`));
    case 'ReclaimOrdered':
      return tellReclaim(desk, frame.order);
    case 'Acknowledged':
      return hearAck(desk, frame);
    case 'Unreadable':
      return tellUnreadable(desk, frame);
  }
};
