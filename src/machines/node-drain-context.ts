/** The types of the `nodeDrain` statechart, and how facts reach its actions. */
import { backoffMs } from '../domain/backoff.ts';
import type { CordonOrder } from '../domain/drain/cordon-patch.ts';
import type { CordonEnd, DrainOwner } from '../domain/drain/cordon.ts';
import {
  type DrainState,
  type DrainStateInput,
  type DrainTime,
  effectOf,
  withAnswer,
} from '../domain/drain/drain-state.ts';
import type { PodCounts } from '../domain/drain/pod-counts.ts';
import type { DrainVerdict } from '../domain/drain/verdict.ts';
import type { DrainedNode } from '../domain/drain/drained-node.ts';
import type { NodeWriteOutcome } from '../domain/drain/node-write.ts';
import type { ResourceVersion } from '../domain/ids.ts';
import { nextSeed, type Seed } from '../domain/random.ts';
import { answersOf } from './act-answers.ts';

export interface NodeDrainInput extends DrainStateInput {
  readonly seed: Seed;
}

export interface NodeDrainContext extends DrainState {
  /** The Node on which the last patch was based. */
  readonly decidedOn: ResourceVersion | null;
  /** What the last patch was to achieve. */
  readonly sent: string | null;
  readonly outcome: NodeWriteOutcome['_tag'] | null;
  /** Why the last patch did not land; empty when it did. */
  readonly problem: string;
  readonly attempt: number;
  readonly seed: Seed;
  /** What blocks its pods; null while nothing does. */
  readonly verdict: DrainVerdict | null;
}

/** The cached facts about the pods of the node. */
export interface PodsObserved {
  readonly podCounts: PodCounts;
  /** A pod of a started tier was evicted, or is gone, since the last observation. */
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
  /** The owner has left: its annotation is removed, and no pod is evicted on its behalf. */
  | { readonly type: 'drain.withdrawn' }
  /** What blocks its pods has changed. */
  | { readonly type: 'verdict.changed'; readonly verdict: DrainVerdict | null }
  | { readonly type: 'slot.acquired' };

/** A patch of the Node. */
export interface NodeDrainAct {
  readonly node: string;
  readonly body: object;
}

/** The patch that writes the end. */
export interface NodeEndAct extends NodeDrainAct, NodeDrainEnd {}

/** The end to show on the UpcomingNode. */
export interface NodeDrainEnd {
  readonly node: string;
  readonly owner: DrainOwner;
  readonly end: CordonEnd;
}

/** Actions and guards with their params. */
export const observed = {
  type: 'setNode',
  params: ({ event }: { readonly event: { readonly node: DrainedNode } }) => event.node,
} as const;
export const counted = {
  type: 'setPods',
  params: ({ event }: { readonly event: PodsObserved }) => event,
} as const;
export const joined = {
  type: 'addOrder',
  params: ({ event }: { readonly event: { readonly order: CordonOrder } }) => event.order,
} as const;
export const explained = {
  type: 'setVerdict',
  params: ({ event }: { readonly event: { readonly verdict: DrainVerdict | null } }) =>
    event.verdict,
} as const;
export const answered = answersOf<NodeWriteOutcome>()('evaluating', 'setAnswer');
/** The end of a drain, while it is shown. */
export const drainEnd = ({ name, owner, end }: NodeDrainContext): NodeDrainEnd => ({
  node: name,
  owner,
  end: end ?? 'Failed',
});

export const ended = {
  guard: 'endSeen',
  target: '#nodeDrain.work.ending',
  actions: 'setEnd',
} as const;
export const newer = {
  type: 'isNewer',
  params: ({ event }: { readonly event: { readonly node: DrainedNode } }) => event.node,
} as const;
export const moved = {
  type: 'tierMoved',
  params: ({ event }: { readonly event: PodsObserved }) => event,
} as const;
const timed = {
  type: 'setTime',
  params: ({ event }: { readonly event: DrainTime }) => event,
} as const;

/** The region of the statechart that tracks the remaining time. */
export const clock = {
  description: 'How much of the grace period is left.',
  initial: 'beforeLastQuarter',
  on: { 'deadline.moved': { target: '.beforeLastQuarter', actions: timed } },
  states: {
    beforeLastQuarter: {
      description: 'Tiers of pods wait for each other.',
      always: [
        { guard: 'noDeadline', target: 'unbounded' },
        { guard: 'inLastQuarter', target: 'lastQuarter' },
      ],
      after: { clockStep: { target: 'beforeLastQuarter', reenter: true, actions: 'addStep' } },
    },
    lastQuarter: {
      description: 'The last quarter of the grace period: no tier waits for another.',
      always: { guard: 'timeUp', target: 'over' },
      after: { clockStep: { target: 'lastQuarter', reenter: true, actions: 'addStep' } },
    },
    over: { description: 'The deadline has passed.' },
    unbounded: { description: 'The owner sets no deadline.' },
  },
} as const;

/** The region of the statechart that awaits pods that were bound before the cordon. */
export const bindings = {
  description: 'Whether pods that were bound before the cordon have had time to appear.',
  initial: 'beforeCordon',
  states: {
    beforeCordon: {
      description: 'The node is not cordoned.',
      always: { guard: 'cordoned', target: 'arriving' },
    },
    arriving: {
      description: 'Pods may still appear that were bound just before the cordon.',
      after: { bindingDelay: 'recounting' },
    },
    recounting: {
      description: 'The pods are counted once more, in a list that is current.',
      entry: 'countPods',
      on: { 'pods.observed': { target: 'complete', actions: [counted, 'setSettled'] } },
    },
    complete: { description: 'No pod appears any more that was bound before the cordon.' },
  },
} as const;

/** The states of a drain that evicts nothing for now. */
export const heldStates = {
  settling: {
    description: 'No pod is there; one that was bound just before the cordon would still appear.',
    meta: { reason: 'WaitingForPods' },
    tags: 'waiting',
    on: { 'pods.observed': { target: 'choosing', actions: counted } },
  },
  waitingForAcknowledgement: {
    description: 'Only pods whose data is on this node are left; a person decides.',
    meta: { reason: 'StatefulLocalVolume' },
    tags: 'waiting',
    always: { guard: 'paused', target: 'choosing' },
    on: { 'pods.observed': { target: 'choosing', actions: counted } },
  },
  paused: {
    description: 'No further eviction is sent; the deadline stays.',
    meta: { reason: 'DrainPaused' },
    tags: 'waiting',
    entry: 'releasePods',
    always: [
      { guard: 'unsettled', target: 'settling' },
      { guard: 'flowing', target: 'choosing' },
    ],
  },
} as const;

/**
 * How long an empty node is not Drained after its cordon, or after a process found that. The
 * scheduler binds by what it last observed, and a binding in flight lands on a cordoned Node; both
 * arrive within two seconds of the cordon unless the control plane is overloaded.
 */
export const BINDING_DELAY_MS = 2000;

/** How long to wait for the UpcomingNode to show the end before the Node gets it. */
export const SHOW_END_MS_MAX = 30_000;

const RETRY = { firstMs: 500, lastMs: 30_000 };

/** The delay after a failed write of the Node. */
export const writeBackoffMs = ({ attempt, seed }: NodeDrainContext): number =>
  backoffMs(RETRY, attempt, seed);

/** The context after the answer to a patch of the Node. */
export const afterPatch = (
  context: NodeDrainContext,
  answer: NodeWriteOutcome,
): Partial<NodeDrainContext> => {
  const outcome = effectOf(context, answer);
  const landed = outcome._tag === 'Written' || outcome._tag === 'Gone';
  return {
    ...withAnswer(context, answer),
    outcome: outcome._tag,
    problem: 'why' in outcome ? outcome.why : '',
    attempt: landed ? 0 : context.attempt + 1,
    seed: landed ? context.seed : nextSeed(context.seed),
  };
};
