/**
 * One node that is given back: cordoned, emptied, and shown as what became of it.
 *
 * Promises: no pod is asked to leave before this node's own cordon has landed and its instruction
 * let evictions begin, and none after a cancel or the end (DR-05, DR-11); owner, instructions and
 * deadline stand on the Node before anybody is told, so that a restart owes the same; the end is
 * shown in the UpcomingNode first and on the Node after it (DR-04). The time left is counted in
 * steps, because a timer cannot be longer than one of them (DR-16).
 */
import { assign, setup } from 'xstate';
import type { ReasonName } from '../api/reasons.ts';
import type { CordonOrder } from '../domain/drain/cordon-patch.ts';
import type { CordonEnd } from '../domain/drain/cordon.ts';
import {
  beginCourse,
  clockStepMs,
  cordonBody,
  type DrainTime,
  endBody,
  endOf,
  isNews,
  nextDecision,
  takeAnswer,
  takeNextOrder,
  takePods,
  takeSight,
  takeTime,
  tiersStarted,
} from '../domain/drain/drain-course.ts';
import { tiersWait } from '../domain/drain/drain-tally.ts';
import type { DrainedNode } from '../domain/drain/drained-node.ts';
import type { NodeWriteOutcome } from '../domain/drain/node-write.ts';
import { nextSeed } from '../domain/random.ts';
import {
  answered,
  counted,
  ended,
  joined,
  moved,
  news,
  type NodeDrainAct,
  type NodeDrainContext,
  type NodeDrainEnd,
  type NodeDrainEvent,
  type NodeDrainInput,
  type PodsObserved,
  sighted,
  timed,
  writeBackoffMs,
} from './node-drain-terms.ts';
import { required } from './required.ts';

/** The statechart of a drain; `src/actors/drains` provides its acts. */
export const nodeDrain = setup({
  types: {
    context: {} as NodeDrainContext,
    events: {} as NodeDrainEvent,
    input: {} as NodeDrainInput,
    meta: {} as { readonly reason: ReasonName },
    tags: {} as 'waiting' | 'acting' | 'ending' | 'settled',
  },
  actors: {
    cordonNode: required<NodeWriteOutcome, NodeDrainAct>('cordonNode'),
    showEnd: required<void, NodeDrainEnd>('showEnd'),
    markEnded: required<NodeWriteOutcome, NodeDrainAct>('markEnded'),
  },
  actions: {
    requestSlot: () => {},
    tellStarted: () => {},
    tellDraining: () => {},
    tellCordonFailing: () => {},
    tellLeftAlone: () => {},
    askPodsToLeave: () => {},
    /** Nothing new is sent for pods of this node. */
    releasePods: () => {},
    takeNode: assign(({ context }, node: DrainedNode) => takeSight(context, node)),
    takeVanishing: assign({ node: null }),
    takePods: assign(({ context }, observed: PodsObserved) => takePods(context, observed)),
    takeAnswer: assign(({ context }, outcome: NodeWriteOutcome) => {
      const landed = outcome._tag === 'Written' || outcome._tag === 'Gone';
      return {
        ...takeAnswer(context, outcome),
        outcome: outcome._tag,
        problem: 'why' in outcome ? outcome.why : '',
        attempt: landed ? 0 : context.attempt + 1,
        seed: landed ? context.seed : nextSeed(context.seed),
      };
    }),
    noteDecision: assign(({ context }) => ({ decidedOn: context.node?.revision ?? null })),
    takeOrder: assign(({ context }) => takeNextOrder(context)),
    joinOrder: assign(({ context }, order: CordonOrder) => ({
      orders: [...context.orders.filter(({ id }) => id !== order.id), order],
    })),
    takeTime: assign((_, time: DrainTime) => takeTime(time)),
    noteStep: assign(({ context }) => ({ leftMs: context.leftMs - clockStepMs(context) })),
    noteRelease: assign({ released: true }),
    openTiers: assign(({ context }) => ({ startedTo: tiersStarted(context, false) })),
    openNextTier: assign(({ context }) => ({ startedTo: tiersStarted(context, true) })),
    noteEnd: assign(({ context }) => ({ end: endOf(context), attempt: 0 })),
  },
  guards: {
    endSeen: ({ context }) => endOf(context) !== null,
    orderDone: ({ context }) => {
      const decision = nextDecision(context);
      return decision?._tag === 'Ended' || decision?._tag === 'Landed';
    },
    keyForeign: ({ context }) => nextDecision(context)?._tag === 'Foreign',
    cordonOwed: ({ context }) => nextDecision(context)?._tag === 'Patch',
    neverStarted: ({ context }) => context.mark === null,
    released: ({ context }) => context.released,
    conflicted: ({ context }) => context.outcome === 'Conflict',
    /** What the patch was decided on is not what is known by now. */
    movedOn: ({ context: { outcome, node, decidedOn } }) =>
      outcome === 'Conflict' && node?.revision !== decidedOn,
    failed: ({ context }) => context.outcome === 'Fault' || context.outcome === 'Refused',
    paused: ({ context }) => context.pausedAll || context.node?.paused === true,
    flowing: ({ context }) => !context.pausedAll && context.node?.paused !== true,
    tierOpens: ({ context }) => tiersStarted(context, false) !== context.startedTo,
    tiersWait: ({ context }) =>
      context.tally !== null && tiersWait(context.startedTo, context.tally),
    tierMoved: (_, { moved }: PodsObserved) => moved,
    markOwed: ({ context }) => endBody(context) !== undefined,
    endedAs: ({ context }, end: CordonEnd) => context.end === end,
    isNews: ({ context }, node: DrainedNode) => isNews(context, node),
    inLastQuarter: ({ context: { leftMs, quarterMs } }) => leftMs <= quarterMs,
    timeUp: ({ context }) => context.leftMs <= 0,
  },
  delays: {
    clockStep: ({ context }) => clockStepMs(context),
    tierWait: ({ context }) => context.tierWaitMs,
    writeBackoff: ({ context }) => writeBackoffMs(context),
  },
}).createMachine({
  id: 'nodeDrain',
  description: 'One node that is given back.',
  context: ({ input }) => ({
    ...beginCourse(input),
    decidedOn: null,
    outcome: null,
    problem: '',
    attempt: 0,
    seed: input.seed,
  }),
  type: 'parallel',
  on: {
    'node.observed': { actions: sighted },
    'node.vanished': { actions: 'takeVanishing' },
    'pods.observed': { actions: counted },
    'evictions.released': { actions: 'noteRelease' },
    'order.joined': { actions: joined },
  },
  states: {
    clock: {
      description: 'How much of the grace is left.',
      initial: 'ample',
      on: { 'deadline.moved': { target: '.ample', actions: timed } },
      states: {
        ample: {
          description: 'Tiers of pods wait for each other.',
          always: { guard: 'inLastQuarter', target: 'lastQuarter' },
          after: { clockStep: { target: 'ample', reenter: true, actions: 'noteStep' } },
        },
        lastQuarter: {
          description: 'The last quarter of the grace: no tier waits for another.',
          always: { guard: 'timeUp', target: 'over' },
          after: { clockStep: { target: 'lastQuarter', reenter: true, actions: 'noteStep' } },
        },
        over: { description: 'The deadline has passed.' },
      },
    },
    work: {
      description: 'What is done about the node.',
      initial: 'underway',
      states: {
        underway: {
          description: 'The node is being given back.',
          initial: 'orienting',
          always: ended,
          states: {
            orienting: {
              description: 'Looks at what the Node shows, to know what is owed.',
              always: [
                ended,
                { guard: 'orderDone', actions: 'takeOrder' },
                { guard: 'keyForeign', target: 'leftAlone' },
                { guard: 'cordonOwed', target: 'waitingForSlot' },
                { guard: 'neverStarted', target: '#nodeDrain.work.alreadyEnded' },
                { target: 'holding' },
              ],
            },
            leftAlone: {
              description: 'The key was written by another version or by hand: not ours to change.',
              meta: { reason: 'CordonLeftAlone' },
              tags: 'waiting',
              entry: 'tellLeftAlone',
              on: { 'node.observed': { target: 'orienting', actions: sighted } },
            },
            waitingForSlot: {
              description: 'Waiting for a slot to write.',
              meta: { reason: 'WriteQueued' },
              tags: 'waiting',
              entry: 'requestSlot',
              on: { 'slot.acquired': 'acting' },
            },
            acting: {
              description: 'Has a slot.',
              tags: 'acting',
              initial: 'deciding',
              states: {
                deciding: {
                  description: 'Looks at the Node as it is now.',
                  always: [
                    ended,
                    { guard: 'orderDone', actions: 'takeOrder' },
                    { guard: 'cordonOwed', target: 'cordoning' },
                    { target: '#nodeDrain.work.underway.orienting' },
                  ],
                },
                cordoning: {
                  description: 'Cordons the node; writes owner, instructions and deadline.',
                  entry: 'noteDecision',
                  invoke: {
                    id: 'cordonNode',
                    src: 'cordonNode',
                    input: ({ context }) => ({ node: context.name, body: cordonBody(context) }),
                    ...answered,
                  },
                },
                judging: {
                  description: 'Reads the answer.',
                  always: [
                    { guard: 'movedOn', target: 'deciding' },
                    { guard: 'conflicted', target: '#nodeDrain.work.underway.outrun' },
                    { guard: 'failed', target: '#nodeDrain.work.underway.backingOff' },
                    { target: 'deciding' },
                  ],
                },
              },
            },
            outrun: {
              description: 'Somebody wrote the Node in between; waits to see what.',
              meta: { reason: 'NodeChanged' },
              tags: 'waiting',
              on: { 'node.observed': { guard: news, target: 'orienting', actions: sighted } },
              after: { writeBackoff: 'orienting' },
            },
            backingOff: {
              description: 'The Node could not be written; tries again until the deadline.',
              meta: { reason: 'CordonFailing' },
              tags: 'waiting',
              entry: 'tellCordonFailing',
              after: { writeBackoff: 'orienting' },
            },
            holding: {
              description: 'Cordoned; waits until the instruction lets evictions begin.',
              meta: { reason: 'WaitingForBarrier' },
              tags: 'waiting',
              entry: 'tellStarted',
              always: [ended, { guard: 'released', target: 'draining' }],
              on: { 'order.joined': { target: 'orienting', actions: joined } },
            },
            draining: {
              description: 'Pods are asked to leave, tier by tier.',
              initial: 'choosing',
              entry: 'tellDraining',
              on: { 'order.joined': { target: 'orienting', actions: joined } },
              states: {
                choosing: {
                  description: 'Looks at which tiers may go.',
                  always: [
                    ended,
                    { guard: 'paused', target: 'paused' },
                    { guard: 'tierOpens', actions: 'openTiers' },
                    { guard: 'tiersWait', target: 'waitingForTier' },
                    { target: 'open' },
                  ],
                },
                waitingForTier: {
                  description: 'Pods of higher priority wait for those that were asked to leave.',
                  meta: { reason: 'WaitingForTier' },
                  tags: 'waiting',
                  entry: 'askPodsToLeave',
                  always: [
                    { guard: 'paused', target: 'choosing' },
                    { guard: 'tierOpens', target: 'choosing' },
                  ],
                  on: {
                    'pods.observed': [
                      { guard: moved, target: 'choosing', actions: counted },
                      { actions: [counted, 'askPodsToLeave'] },
                    ],
                  },
                  after: { tierWait: { target: 'choosing', actions: 'openNextTier' } },
                },
                open: {
                  description: 'Every pod that must leave has been asked to.',
                  meta: { reason: 'WaitingForPods' },
                  tags: 'waiting',
                  entry: 'askPodsToLeave',
                  always: { guard: 'paused', target: 'choosing' },
                  on: { 'pods.observed': { target: 'choosing', actions: counted } },
                },
                paused: {
                  description: 'Nothing new is evicted; the deadline comes nearer all the same.',
                  meta: { reason: 'DrainPaused' },
                  tags: 'waiting',
                  entry: 'releasePods',
                  always: { guard: 'flowing', target: 'choosing' },
                },
              },
            },
          },
        },
        ending: {
          description: 'Nothing new is asked for; what became of the node is shown and written.',
          tags: 'ending',
          initial: 'showing',
          entry: 'releasePods',
          states: {
            showing: {
              description: 'The UpcomingNode is to show how it ended.',
              invoke: {
                id: 'showEnd',
                src: 'showEnd',
                input: ({ context }) => ({ node: context.name, end: context.end ?? 'Failed' }),
                onDone: 'deciding',
                onError: 'deciding',
              },
            },
            deciding: {
              description: 'Looks at whether the Node says so, too.',
              always: [
                { guard: 'markOwed', target: 'marking' },
                {
                  guard: { type: 'endedAs', params: 'Drained' },
                  target: '#nodeDrain.work.drained',
                },
                { guard: { type: 'endedAs', params: 'Failed' }, target: '#nodeDrain.work.failed' },
                { target: '#nodeDrain.work.cancelled' },
              ],
            },
            marking: {
              description: 'Writes on the Node how it ended.',
              entry: 'noteDecision',
              invoke: {
                id: 'markEnded',
                src: 'markEnded',
                input: ({ context }) => ({ node: context.name, body: endBody(context) ?? {} }),
                ...answered,
              },
            },
            judging: {
              description: 'Reads the answer.',
              always: [
                { guard: 'movedOn', target: 'deciding' },
                { guard: 'conflicted', target: 'outrun' },
                { guard: 'failed', target: 'backingOff' },
                { target: 'deciding' },
              ],
            },
            outrun: {
              description: 'Somebody wrote the Node in between; waits to see what.',
              meta: { reason: 'NodeChanged' },
              tags: 'waiting',
              on: {
                'node.observed': { guard: news, target: 'deciding', actions: sighted },
                'node.vanished': { target: 'deciding', actions: 'takeVanishing' },
              },
              after: { writeBackoff: 'deciding' },
            },
            backingOff: {
              description: 'The Node could not be written; tries again until it can, or is gone.',
              meta: { reason: 'WriteFailing' },
              tags: 'waiting',
              after: { writeBackoff: 'deciding' },
            },
          },
        },
        drained: { description: 'No pod that must leave is on the node.', tags: 'settled' },
        failed: {
          description: 'The deadline has passed, or we may not evict, and pods are still there.',
          meta: { reason: 'DeadlinePassed' },
          tags: 'settled',
        },
        cancelled: {
          description: 'Somebody made the node schedulable again, or took the key away.',
          meta: { reason: 'DrainCancelled' },
          tags: 'settled',
        },
        alreadyEnded: {
          description: 'The instruction was carried out or cancelled before: nothing is started.',
          tags: 'settled',
        },
      },
    },
  },
});
