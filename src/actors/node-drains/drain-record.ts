/** What the registry of drains keeps of each, and how the time of a drain is worked out. */
import type { ActorRefFrom } from 'xstate';
import type { CordonOrder } from '../../domain/drain/cordon-patch.ts';
import type { CordonMark } from '../../domain/drain/cordon.ts';
import { graceOf, lastQuarterMs, tierWaitMs } from '../../domain/drain/deadline.ts';
import type { DrainTime } from '../../domain/drain/drain-course.ts';
import type { DrainedNode } from '../../domain/drain/drained-node.ts';
import type { Time } from '../../domain/time.ts';
import type { nodeDrain } from '../../machines/node-drain.ts';
import type { NodeDrainContext } from '../../machines/node-drain-terms.ts';
import type { DrainPods } from './drain-pods.ts';

export type NodeDrainActor = ActorRefFrom<typeof nodeDrain>;

/** What an instruction asks of one node. */
export interface DrainOrder extends CordonOrder {
  readonly deadlineMs: number;
  /** The machine whose Node it is. */
  readonly machineId: string;
}

/** When a drain is over, on the monotonic clock, and out of how much time. */
export interface DrainDeadline {
  readonly atMs: number;
  readonly graceSeconds: number;
}

/** One drain. */
export interface Drain {
  readonly node: DrainedNode;
  /** Empty while nobody knows it. */
  machineId: string;
  readonly pods: DrainPods;
  readonly actor: NodeDrainActor;
  /** On the monotonic clock. */
  readonly sinceMs: number;
  deadline: DrainDeadline;
  /** Instructions whose cordon has not landed yet, as far as was told. */
  readonly awaited: Set<string>;
  /** All instructions that ever named it. */
  readonly ids: Set<string>;
  /** Orders that came when it was about to end. */
  readonly queued: DrainOrder[];
  readonly orders: Map<string, DrainOrder>;
  /** Those of orders that joined, by instruction. */
  readonly deadlines: Map<string, DrainDeadline>;
  /** Instructions that let evictions begin. */
  readonly releasedIds: Set<string>;
  /** What was last said about the pods. */
  observed: string;
  /** The state that it is counted under. */
  state: string | undefined;
  startTold: boolean;
}

/** The deadline of a new order: read from the wall clock here and never again. */
export const deadlineOf = (
  time: Time,
  { deadlineMs, graceSeconds }: Pick<DrainOrder, 'deadlineMs' | 'graceSeconds'>,
): DrainDeadline => ({
  atMs: time.monotonic() + (deadlineMs - time.now()),
  graceSeconds,
});

/** The deadline that stands on a Node; a key without one has what its grace gives. */
export const deadlineOfMark = (time: Time, mark: CordonMark): DrainDeadline => {
  const { seconds } = graceOf(mark.graceSeconds);
  const deadlineMs = mark.deadlineMs ?? mark.sinceMs + seconds * 1000;
  return deadlineOf(time, { deadlineMs, graceSeconds: seconds });
};

/** What is left of the time. */
export const drainTime = (
  time: Time,
  { atMs, graceSeconds }: DrainDeadline,
  configuredTierWaitMs: number | undefined,
): DrainTime => {
  const leftMs = atMs - time.monotonic();
  return {
    leftMs,
    quarterMs: leftMs - (lastQuarterMs(atMs, graceSeconds) - time.monotonic()),
    tierWaitMs: tierWaitMs(graceSeconds, configuredTierWaitMs),
  };
};

/** The state of what is done about the node, such as `cordoning`. */
export const workState = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'work' in value ? value.work : value;

/** True while a further instruction can join. */
export const canJoin = ({ actor }: Drain): boolean => {
  const snapshot = actor.getSnapshot();
  return snapshot.status === 'active' && snapshot.context.node !== null &&
    !snapshot.hasTag('ending') && !snapshot.hasTag('settled');
};

/** True when the key on the Node names the instruction, as far as the drain knows. */
export const hasLanded = ({ mark }: NodeDrainContext, id: string): boolean =>
  mark?.ids.includes(id) === true;
