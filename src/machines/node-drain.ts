/**
 * The drain of one node for one owner: cordons and empties the node, then reports the end.
 *
 * Promises: no pod is evicted before this node's own cordon has landed and its instruction released
 * evictions, and none after a cancellation or the end (DR-05, DR-11); owner, instructions and
 * deadline are written to the Node before anything is acknowledged, so that a restart has the same
 * obligations; the end is written to the UpcomingNode first and to the Node after it (DR-04). The
 * remaining time is counted in steps, because timers have a maximum (DR-16).
 */
import { assign, setup } from 'xstate';
import type { ReasonName } from '../api/reasons.ts';
import type { CordonOrder } from '../domain/drain/cordon-patch.ts';
import type { CordonEnd } from '../domain/drain/cordon.ts';
import {
  clockStepMs,
  cordonBody,
  type DrainTime,
  endBody,
  endOf,
  initialDrainState,
  inLastQuarter,
  isNewer,
  isOrderDone,
  isUnsettled,
  nextDecision,
  pendingPatch,
  tiersStarted,
  timeOf,
  withNextOrder,
  withNode,
  withPods,
} from '../domain/drain/drain-state.ts';
import { onlyKeptLeft, tiersWait } from '../domain/drain/pod-counts.ts';
import type { DrainedNode } from '../domain/drain/drained-node.ts';
import type { DrainVerdict } from '../domain/drain/verdict.ts';
import type { NodeWriteOutcome } from '../domain/drain/node-write.ts';
import {
  afterPatch,
  answered,
  BINDING_DELAY_MS,
  bindings,
  clock,
  counted,
  drainEnd,
  ended,
  explained,
  heldStates,
  joined,
  moved,
  newer,
  type NodeDrainAct,
  type NodeDrainContext,
  type NodeDrainEnd,
  type NodeDrainEvent,
  type NodeDrainInput,
  type NodeEndAct,
  observed,
  type PodsObserved,
  SHOW_END_MS_MAX,
  writeBackoffMs,
} from './node-drain-context.ts';
import { required } from './required.ts';

/** The statechart of a drain; `src/actors/node-drains` provides its actions. */
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
    writeEnd: required<NodeWriteOutcome, NodeEndAct>('writeEnd'),
  },
  actions: {
    requestSlot: () => {},
    recordStarted: () => {},
    showDraining: () => {},
    recordCordonFailing: () => {},
    recordLeftAlone: () => {},
    evictPods: () => {},
    /** Counts reach the drain again, even if they are the same. */
    countPods: () => {},
    /** No new eviction is sent for pods of this node. */
    releasePods: () => {},
    setNode: assign(({ context }, node: DrainedNode) => withNode(context, node)),
    setVanished: assign({ node: null }),
    setPods: assign(({ context }, pods: PodsObserved) => withPods(context, pods)),
    setAnswer: assign(({ context }, answer: NodeWriteOutcome) => afterPatch(context, answer)),
    setDecision: assign(({ context }) => ({
      decidedOn: context.node?.resourceVersion ?? null,
      sent: pendingPatch(context),
    })),
    setNextOrder: assign(({ context }) => withNextOrder(context)),
    addOrder: assign(({ context }, order: CordonOrder) => ({
      orders: [...context.orders.filter(({ id }) => id !== order.id), order],
    })),
    setTime: assign((_, time: DrainTime) => timeOf(time)),
    addStep: assign(({ context }) => ({
      leftMs: context.leftMs === null ? null : context.leftMs - clockStepMs(context),
    })),
    setReleased: assign({ released: true }),
    setSettled: assign({ settled: true }),
    setVerdict: assign((_, verdict: DrainVerdict | null) => ({ verdict })),
    setWithdrawn: assign({ withdrawn: true }),
    openTiers: assign(({ context }) => ({ startedTo: tiersStarted(context, false) })),
    openNextTier: assign(({ context }) => ({ startedTo: tiersStarted(context, true) })),
    setEnd: assign(({ context }) => ({ end: endOf(context), attempt: 0 })),
  },
  guards: {
    endSeen: ({ context }) => endOf(context) !== null,
    orderDone: ({ context }) => isOrderDone(context),
    keyUnrecognized: ({ context }) => nextDecision(context)?._tag === 'Unrecognized',
    cordonPending: ({ context }) => nextDecision(context)?._tag === 'Patch',
    neverStarted: ({ context }) => context.annotation === null,
    released: ({ context }) => context.released,
    cordoned: ({ context }) => context.annotation !== null,
    unsettled: ({ context }) => isUnsettled(context),
    conflicted: ({ context }) => context.outcome === 'Conflict',
    /** The Node changed since the patch was computed. */
    movedOn: ({ context: { outcome, node, decidedOn } }) =>
      outcome === 'Conflict' && node?.resourceVersion !== decidedOn,
    failed: ({ context }) => context.outcome === 'Fault' || context.outcome === 'Refused',
    paused: ({ context }) => context.pausedAll || context.node?.paused === true,
    flowing: ({ context }) => !context.pausedAll && context.node?.paused !== true,
    tierOpens: ({ context }) => tiersStarted(context, false) !== context.startedTo,
    onlyKeptLeft: ({ context: { podCounts } }) => podCounts !== null && onlyKeptLeft(podCounts),
    tiersWait: ({ context }) =>
      context.podCounts !== null && tiersWait(context.startedTo, context.podCounts),
    tierMoved: (_, { moved, podCounts }: PodsObserved) =>
      moved || podCounts.left === 0 || onlyKeptLeft(podCounts),
    endPending: ({ context }) => endBody(context) !== undefined,
    endedAs: ({ context }, end: CordonEnd) => context.end === end,
    isNewer: ({ context }, node: DrainedNode) => isNewer(context, node),
    noDeadline: ({ context }) => context.leftMs === null,
    inLastQuarter: ({ context }) => inLastQuarter(context),
    timeUp: ({ context }) => context.leftMs !== null && context.leftMs <= 0,
  },
  delays: {
    clockStep: ({ context }) => clockStepMs(context),
    bindingDelay: BINDING_DELAY_MS,
    tierWait: ({ context }) => context.tierWaitMs,
    writeBackoff: ({ context }) => writeBackoffMs(context),
    showEndBound: SHOW_END_MS_MAX,
  },
}).createMachine({
  id: 'nodeDrain',
  description: 'Cordons and drains one node for one owner.',
  context: ({ input }) => ({
    ...initialDrainState(input),
    decidedOn: null,
    sent: null,
    outcome: null,
    problem: '',
    attempt: 0,
    seed: input.seed,
    verdict: null,
  }),
  type: 'parallel',
  on: {
    'node.observed': { actions: observed },
    'node.vanished': { actions: 'setVanished' },
    'pods.observed': { actions: counted },
    'evictions.released': { actions: 'setReleased' },
    'drain.withdrawn': { actions: 'setWithdrawn' },
    'verdict.changed': { actions: explained },
    'order.joined': { actions: joined },
  },
  states: {
    clock,
    bindings,
    work: {
      description: 'The steps of the drain.',
      initial: 'underway',
      states: {
        underway: {
          description: 'The node is being cordoned or drained.',
          initial: 'planning',
          always: ended,
          states: {
            planning: {
              description: 'Decides what to do from what the Node shows.',
              always: [
                ended,
                { guard: 'orderDone', actions: 'setNextOrder' },
                { guard: 'keyUnrecognized', target: 'leftAlone' },
                { guard: 'cordonPending', target: 'waitingForSlot' },
                { guard: 'neverStarted', target: '#nodeDrain.work.alreadyEnded' },
                { target: 'holding' },
              ],
            },
            leftAlone: {
              description: 'The annotation is unrecognized; it is left alone.',
              meta: { reason: 'CordonLeftAlone' },
              tags: 'waiting',
              entry: 'recordLeftAlone',
              on: { 'node.observed': { target: 'planning', actions: observed } },
            },
            waitingForSlot: {
              description: 'Waiting for a slot of the concurrency limit.',
              meta: { reason: 'WriteQueued' },
              tags: 'waiting',
              entry: 'requestSlot',
              on: { 'slot.acquired': 'acting' },
            },
            acting: {
              description: 'Holds a slot of the concurrency limit.',
              tags: 'acting',
              initial: 'deciding',
              states: {
                deciding: {
                  description: 'Decides again from the current Node.',
                  always: [
                    ended,
                    { guard: 'orderDone', actions: 'setNextOrder' },
                    { guard: 'cordonPending', target: 'cordoning' },
                    { target: '#nodeDrain.work.underway.planning' },
                  ],
                },
                cordoning: {
                  description:
                    'Cordoning the node; the patch writes owner, instructions and deadline.',
                  entry: 'setDecision',
                  invoke: {
                    id: 'cordonNode',
                    src: 'cordonNode',
                    input: ({ context }) => ({ node: context.name, body: cordonBody(context) }),
                    ...answered,
                  },
                },
                evaluating: {
                  description: 'Decides what the answer means.',
                  always: [
                    { guard: 'movedOn', target: 'deciding' },
                    { guard: 'conflicted', target: '#nodeDrain.work.underway.awaitingUpdate' },
                    { guard: 'failed', target: '#nodeDrain.work.underway.backingOff' },
                    { target: 'deciding' },
                  ],
                },
              },
            },
            awaitingUpdate: {
              description: 'The Node changed in between; waiting for the watch to show it.',
              meta: { reason: 'NodeChanged' },
              tags: 'waiting',
              on: { 'node.observed': { guard: newer, target: 'planning', actions: observed } },
              after: { writeBackoff: 'planning' },
            },
            backingOff: {
              description: 'The write of the Node failed; retries until the deadline.',
              meta: { reason: 'CordonFailing' },
              tags: 'waiting',
              entry: 'recordCordonFailing',
              after: { writeBackoff: 'planning' },
            },
            holding: {
              description: 'Cordoned; waiting until the instruction releases evictions.',
              meta: { reason: 'WaitingForBarrier' },
              tags: 'waiting',
              entry: ['recordStarted', 'showDraining'],
              always: [ended, { guard: 'released', target: 'draining' }],
              on: { 'order.joined': { target: 'planning', actions: joined } },
            },
            draining: {
              description: 'Pods are evicted, tier by tier.',
              initial: 'choosing',
              on: { 'order.joined': { target: 'planning', actions: joined } },
              states: {
                choosing: {
                  description: 'Decides which tiers start.',
                  always: [
                    ended,
                    { guard: 'unsettled', target: 'settling' },
                    { guard: 'paused', target: 'paused' },
                    { guard: 'onlyKeptLeft', target: 'waitingForAcknowledgement' },
                    { guard: 'tierOpens', actions: 'openTiers' },
                    { guard: 'tiersWait', target: 'waitingForTier' },
                    { target: 'open' },
                  ],
                },
                waitingForTier: {
                  description: 'Pods of higher priority wait for the tiers that have started.',
                  meta: { reason: 'WaitingForTier' },
                  tags: 'waiting',
                  entry: 'evictPods',
                  always: [
                    { guard: 'paused', target: 'choosing' },
                    { guard: 'tierOpens', target: 'choosing' },
                  ],
                  on: {
                    'pods.observed': [
                      { guard: moved, target: 'choosing', actions: counted },
                      { actions: [counted, 'evictPods'] },
                    ],
                  },
                  after: { tierWait: { target: 'choosing', actions: 'openNextTier' } },
                },
                open: {
                  description: 'All tiers have started.',
                  meta: { reason: 'WaitingForPods' },
                  tags: 'waiting',
                  entry: 'evictPods',
                  always: { guard: 'paused', target: 'choosing' },
                  on: { 'pods.observed': { target: 'choosing', actions: counted } },
                },
                ...heldStates,
              },
            },
          },
        },
        ending: {
          description: 'No further eviction is sent; the end is shown and written.',
          tags: 'ending',
          initial: 'showing',
          entry: 'releasePods',
          states: {
            showing: {
              description: 'Waiting for the UpcomingNode to show how the drain ended.',
              meta: { reason: 'WaitingForUpcomingNode' },
              tags: 'waiting',
              invoke: {
                id: 'showEnd',
                src: 'showEnd',
                input: ({ context }) => drainEnd(context),
                onDone: 'deciding',
                onError: 'deciding',
              },
              after: { showEndBound: 'deciding' },
            },
            deciding: {
              description: 'Decides whether the Node shows the end.',
              always: [
                { guard: 'endPending', target: 'writingEnd' },
                {
                  guard: { type: 'endedAs', params: 'Drained' },
                  target: '#nodeDrain.work.drained',
                },
                { guard: { type: 'endedAs', params: 'Failed' }, target: '#nodeDrain.work.failed' },
                { target: '#nodeDrain.work.cancelled' },
              ],
            },
            writingEnd: {
              description: 'Writing the end to the Node.',
              entry: 'setDecision',
              invoke: {
                id: 'writeEnd',
                src: 'writeEnd',
                input: ({ context }) => ({ ...drainEnd(context), body: endBody(context) ?? {} }),
                ...answered,
              },
            },
            evaluating: {
              description: 'Decides what the answer means.',
              always: [
                { guard: 'movedOn', target: 'deciding' },
                { guard: 'conflicted', target: 'awaitingUpdate' },
                { guard: 'failed', target: 'backingOff' },
                { target: 'deciding' },
              ],
            },
            awaitingUpdate: {
              description: 'The Node changed in between; waiting for the watch to show it.',
              meta: { reason: 'NodeChanged' },
              tags: 'waiting',
              on: {
                'node.observed': { guard: newer, target: 'deciding', actions: observed },
                'node.vanished': { target: 'deciding', actions: 'setVanished' },
              },
              after: { writeBackoff: 'deciding' },
            },
            backingOff: {
              description: 'The write failed; retries until it lands or the Node is gone.',
              meta: { reason: 'WriteFailing' },
              tags: 'waiting',
              after: { writeBackoff: 'deciding' },
            },
          },
        },
        drained: { description: 'All pods that must leave are gone.', tags: 'settled' },
        failed: {
          description: 'The deadline has passed, or evictions are forbidden, and pods remain.',
          meta: { reason: 'DeadlinePassed' },
          tags: 'settled',
        },
        cancelled: {
          description: 'The node is schedulable again, or the annotation is gone.',
          meta: { reason: 'DrainCancelled' },
          tags: 'settled',
        },
        alreadyEnded: {
          description: 'The instruction was carried out or cancelled before.',
          tags: 'settled',
        },
      },
    },
  },
});
