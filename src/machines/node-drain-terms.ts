/** What the `nodeDrain` statechart knows and hears, and how facts reach its actions. */
import { backoffMs } from '../domain/backoff.ts';
import type { CordonOrder } from '../domain/drain/cordon-patch.ts';
import type { CordonEnd } from '../domain/drain/cordon.ts';
import type { DrainBeginning, DrainCourse, DrainTime } from '../domain/drain/drain-course.ts';
import type { DrainTally } from '../domain/drain/drain-tally.ts';
import type { DrainedNode } from '../domain/drain/drained-node.ts';
import type { NodeWriteOutcome } from '../domain/drain/node-write.ts';
import type { Revision } from '../domain/ids.ts';
import type { Seed } from '../domain/random.ts';
import { answersOf } from './act-answers.ts';

export interface NodeDrainInput extends DrainBeginning {
  readonly seed: Seed;
}

export interface NodeDrainContext extends DrainCourse {
  /** What the last patch was decided on. */
  readonly decidedOn: Revision | null;
  readonly outcome: NodeWriteOutcome['_tag'] | null;
  /** Why the last patch did not land; empty when it did. */
  readonly problem: string;
  readonly attempt: number;
  readonly seed: Seed;
}

/** What the caches say of the pods of the node. */
export interface PodsObserved {
  readonly tally: DrainTally;
  /** A pod of a started tier was evicted, or is gone, since the last time. */
  readonly moved: boolean;
  readonly refusal: string;
}

export type NodeDrainEvent =
  | { readonly type: 'node.observed'; readonly node: DrainedNode }
  | { readonly type: 'node.vanished' }
  | ({ readonly type: 'pods.observed' } & PodsObserved)
  /** A further instruction names the node (DR-03). */
  | { readonly type: 'order.joined'; readonly order: CordonOrder }
  | ({ readonly type: 'deadline.moved' } & DrainTime)
  | { readonly type: 'evictions.released' }
  | { readonly type: 'slot.acquired' };

/** A patch of the Node. */
export interface NodeDrainAct {
  readonly node: string;
  readonly body: object;
}

/** The end that the UpcomingNode is to show. */
export interface NodeDrainEnd {
  readonly node: string;
  readonly end: CordonEnd;
}

/** Actions and guards with what they take from their event. */
export const sighted = {
  type: 'takeNode',
  params: ({ event }: { readonly event: { readonly node: DrainedNode } }) => event.node,
} as const;
export const counted = {
  type: 'takePods',
  params: ({ event }: { readonly event: PodsObserved }) => event,
} as const;
export const joined = {
  type: 'joinOrder',
  params: ({ event }: { readonly event: { readonly order: CordonOrder } }) => event.order,
} as const;
export const answered = answersOf<NodeWriteOutcome>()('judging', 'takeAnswer');
export const ended = {
  guard: 'endSeen',
  target: '#nodeDrain.work.ending',
  actions: 'noteEnd',
} as const;
export const news = {
  type: 'isNews',
  params: ({ event }: { readonly event: { readonly node: DrainedNode } }) => event.node,
} as const;
export const moved = {
  type: 'tierMoved',
  params: ({ event }: { readonly event: PodsObserved }) => event,
} as const;
export const timed = {
  type: 'takeTime',
  params: ({ event }: { readonly event: DrainTime }) => event,
} as const;

const RETRY = { firstMs: 500, lastMs: 30_000 };

/** How long a write of the Node waits after it failed. */
export const writeBackoffMs = ({ attempt, seed }: NodeDrainContext): number =>
  backoffMs(RETRY, attempt, seed);
