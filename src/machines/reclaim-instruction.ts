/**
 * One reclaim instruction: its nodes are cordoned together, then the shard gets the ack, then they
 * drain.
 *
 * Promises: evictions and ack wait until every known Node is cordoned or two seconds have passed
 * (DR-11); the ack stays pending until the outbox accepts it, across reconnects (DR-12); a machine
 * without a Node is awaited until the deadline or the end of its stay (DR-10), and so is one that
 * waits for `--max-draining` (DR-19). Nothing survives the
 * process: the keys on the Nodes identify the active instructions, and a replay those whose drains
 * have not begun.
 */
import { assign, setup } from 'xstate';
import type { ReasonName } from '../api/reasons.ts';
import { timerStepMs } from '../domain/drain/deadline.ts';
import {
  anyAt,
  giveUpWaiting,
  isWaiting,
  nodesStarted,
  type ReclaimEntry,
  withEntry,
} from '../domain/drain/reclaim-entry.ts';
import { required } from './required.ts';

const BARRIER_MS = 2000;
/** The outbox is briefly full, or there is no stream and its opening was missed. */
const ACK_RETRY_MS = 1000;

export interface ReclaimInstructionInput {
  readonly id: string;
  readonly entries: readonly ReclaimEntry[];
  /** False for a recovered or local instruction. */
  readonly ackPending: boolean;
  /** Until the deadline. */
  readonly leftMs: number;
}

export interface ReclaimInstructionContext extends ReclaimInstructionInput {
  /** The content of the ack; null before it is pending. */
  readonly started: number | null;
}

export type ReclaimInstructionEvent =
  | { readonly type: 'machine.observed'; readonly entry: ReclaimEntry }
  | { readonly type: 'stream.opened' }
  /** The shard repeated the instruction. */
  | { readonly type: 'instruction.repeated' };

/** The content of the ack. */
export interface ReclaimAck {
  readonly id: string;
  readonly nodesStarted: number;
}

const stepMs = ({ leftMs }: ReclaimInstructionContext): number => timerStepMs(leftMs);

/** The statechart of an instruction; `src/actors/node-drains` provides its actions. */
export const reclaimInstruction = setup({
  types: {
    context: {} as ReclaimInstructionContext,
    events: {} as ReclaimInstructionEvent,
    input: {} as ReclaimInstructionInput,
    meta: {} as { readonly reason: ReasonName },
    tags: {} as 'waiting' | 'acting' | 'settled',
  },
  actors: {
    /** True when the outbox accepted it. */
    queueAck: required<boolean, ReclaimAck>('queueAck'),
  },
  actions: {
    /** Releases evictions on its nodes, including those that join later. */
    releaseEvictions: () => {},
    recordUnseen: () => {},
    recordQueued: () => {},
    recordNeverStarted: () => {},
    setEntry: assign(({ context }, entry: ReclaimEntry) => ({
      entries: withEntry(context.entries, entry),
    })),
    countStarted: assign(({ context }) => ({ started: nodesStarted(context.entries) })),
    clearAck: assign({ ackPending: false }),
    setAckPending: assign({ ackPending: true }),
    addStep: assign(({ context }) => ({ leftMs: context.leftMs - stepMs(context) })),
    giveUpWaiting: assign(({ context }) => ({ entries: giveUpWaiting(context.entries) })),
  },
  guards: {
    allCordoned: ({ context }) => !anyAt(context.entries, 'Cordoning'),
    ackPending: ({ context }) => context.ackPending,
    taken: (_, taken: boolean) => taken,
    anyWaits: ({ context }) => context.entries.some(isWaiting),
    noneWaits: ({ context }) => !context.entries.some(isWaiting),
    onlyQueued: ({ context }) =>
      anyAt(context.entries, 'Queued') && !anyAt(context.entries, 'Unseen'),
    timeUp: ({ context }) => context.leftMs <= 0,
    allOver: ({ context }) =>
      !context.ackPending && context.started !== null &&
      context.entries.every(({ phase }) => phase === 'Ended'),
  },
  delays: {
    barrier: BARRIER_MS,
    ackRetry: ACK_RETRY_MS,
    searchStep: ({ context }) => stepMs(context),
  },
}).createMachine({
  id: 'reclaimInstruction',
  description: 'One reclaim instruction.',
  context: ({ input }) => ({ ...input, started: null }),
  initial: 'underway',
  on: {
    'machine.observed': { actions: { type: 'setEntry', params: ({ event }) => event.entry } },
  },
  states: {
    underway: {
      description: 'Nodes are draining, or the ack is pending.',
      type: 'parallel',
      always: { guard: 'allOver', target: 'settled' },
      on: { 'instruction.repeated': { actions: 'setAckPending' } },
      states: {
        answer: {
          description: 'The ack to the shard.',
          initial: 'cordoning',
          states: {
            cordoning: {
              description: 'The known Nodes are being cordoned together.',
              tags: 'acting',
              always: { guard: 'allCordoned', target: 'counting' },
              after: { barrier: 'counting' },
            },
            counting: {
              description:
                'Evictions are released; the ack names the nodes that are cordoned by now.',
              entry: ['countStarted', 'releaseEvictions'],
              always: [{ guard: 'ackPending', target: 'acking' }, { target: 'acked' }],
            },
            acking: {
              description: 'The ack is offered to the outbox of the session.',
              tags: 'acting',
              invoke: {
                id: 'queueAck',
                src: 'queueAck',
                input: ({ context }) => ({
                  id: context.id,
                  nodesStarted: context.started ?? 0,
                }),
                onDone: [
                  {
                    guard: { type: 'taken', params: ({ event }) => event.output },
                    target: 'acked',
                    actions: 'clearAck',
                  },
                  { target: 'ackHeld' },
                ],
                onError: 'ackHeld',
              },
            },
            ackHeld: {
              description: 'No stream, or no room in the outbox; the ack is kept.',
              meta: { reason: 'AckHeld' },
              tags: 'waiting',
              on: { 'stream.opened': 'acking' },
              after: { ackRetry: 'acking' },
            },
            acked: {
              description: 'The outbox has the ack, or none is pending.',
              always: { guard: 'ackPending', target: 'counting' },
            },
          },
        },
        nodes: {
          description: 'The machines and their Nodes.',
          initial: 'looking',
          states: {
            looking: {
              description: 'Decides whether the drains of all machines have begun.',
              always: [
                { guard: 'anyWaits', target: 'waiting', actions: 'recordUnseen' },
                { target: 'draining' },
              ],
            },
            waiting: {
              description: 'The drain of a machine has not begun; waiting until the deadline.',
              tags: 'waiting',
              initial: 'awaitingNodes',
              always: [
                { guard: 'noneWaits', target: 'draining' },
                {
                  guard: 'timeUp',
                  target: 'draining',
                  actions: ['recordNeverStarted', 'giveUpWaiting'],
                },
              ],
              after: { searchStep: { target: 'waiting', reenter: true, actions: 'addStep' } },
              states: {
                awaitingNodes: {
                  description: 'Waiting for the Node of a machine to join.',
                  meta: { reason: 'MachineWithoutNode' },
                  tags: 'waiting',
                  always: { guard: 'onlyQueued', target: 'queued' },
                },
                queued: {
                  description: 'As many Nodes drain as may; waiting for one of them to end.',
                  meta: { reason: 'DrainLimitReached' },
                  tags: 'waiting',
                  entry: 'recordQueued',
                },
              },
            },
            draining: {
              description: 'Each node drains on its own.',
              meta: { reason: 'WaitingForNodes' },
              tags: 'waiting',
            },
          },
        },
      },
    },
    settled: {
      description: 'The ack was sent, and every drain has ended.',
      tags: 'settled',
    },
  },
});
