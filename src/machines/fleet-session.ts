/**
 * The one session with the shard: when to dial, what waits for an ack, and when a stream is over.
 *
 * Promises: nothing is dialled before demand is complete or while another process leads (WIRE-05);
 * one roll-up is outstanding at a time and none longer than three intervals (WIRE-02); every ending
 * has its cause; the backoff grows until a stream proves itself by its first `rollup` ack
 * (WIRE-07); nothing follows from absence in a replay with a gap. Frames do not pass through here,
 * only what decides.
 */
import { assign, setup, stateIn } from 'xstate';
import type { ReasonName } from '../api/reasons.ts';
import { backoffMs } from '../domain/backoff.ts';
import { nextSeed, type Seed } from '../domain/random.ts';
import type { SessionEnding } from '../domain/session.ts';
import { required } from './required.ts';

/** 500 ms → 30 s (WIRE-07). */
const RECONNECT = { firstMs: 500, lastMs: 30_000 };
/** A refusal needs a person: nobody is asked again more often than this. */
const REFUSAL_BACKOFF_MS = 30_000;
const DIAL_DEADLINE_MS = 20_000;
const HELLO_DEADLINE_MS = 30_000;
/** A clean end on SIGTERM has half a second; the rest of it is for cancelling. */
const STOP_GRACE_MS = 400;
/** A roll-up without an ack for this many intervals is lost (WIRE-02). */
const INTERVALS_TO_ACK = 3;

/** What the session knows of its key pair; `Unneeded` without TLS. */
export type CredentialsStatus = 'Unneeded' | 'Unread' | 'Accepted' | 'Refused';

export interface FleetSessionInput {
  readonly rollupIntervalMs: number;
  readonly secured: boolean;
  /** Streams that were dialled before; the next one has the number after it. */
  readonly stream: number;
  readonly seed: Seed;
}

export interface FleetSessionContext {
  readonly rollupIntervalMs: number;
  readonly leading: boolean;
  readonly demandListed: boolean;
  readonly credentials: CredentialsStatus;
  /** Streams dialled so far; the number of the newest. */
  readonly stream: number;
  /** Endings since a stream last proved itself. */
  readonly attempt: number;
  readonly seed: Seed;
  readonly ending: SessionEnding | null;
}

export type FleetSessionEvent =
  | { readonly type: 'leadership.won' }
  | { readonly type: 'leadership.lost' }
  | { readonly type: 'demand.listed' }
  | { readonly type: 'credentials.accepted' }
  | { readonly type: 'credentials.refused'; readonly problem: string }
  | { readonly type: 'stream.connected' }
  | { readonly type: 'hello.acknowledged' }
  /** A frame that may have been about any machine could not be read. */
  | { readonly type: 'frame.malformed' }
  | { readonly type: 'rollup.sent' }
  | { readonly type: 'rollup.acknowledged' }
  | { readonly type: 'stop.requested' };

const overdue = (why: SessionEnding['why'], detail: string) => ({
  type: 'setEnding' as const,
  params: { why, detail },
});

/** The statechart of the session; `src/actors/fleet-session` provides its actor and actions. */
export const fleetSession = setup({
  types: {
    context: {} as FleetSessionContext,
    events: {} as FleetSessionEvent,
    input: {} as FleetSessionInput,
    meta: {} as { readonly reason: ReasonName },
  },
  actors: {
    holdStream: required<SessionEnding, { readonly stream: number }>('holdStream'),
  },
  actions: {
    requestRollup: () => {},
    closeSending: () => {},
    publishOpened: () => {},
    publishResynced: () => {},
    logUnprovenResync: () => {},
    recordRollupAcknowledged: () => {},
    recordRollupOverdue: () => {},
    publishStreamEnded: () => {},
    recordEnding: () => {},
    setEnding: assign(({ context }, ending: SessionEnding) => ({
      ending,
      attempt: context.attempt + 1,
      seed: nextSeed(context.seed),
    })),
    setCredentialsRefused: assign({
      credentials: 'Refused',
      ending: (_, detail: string): SessionEnding => ({ why: 'CredentialsRefused', detail }),
    }),
    setCredentialsAccepted: assign({ credentials: 'Accepted' }),
    clearLeading: assign({ leading: false }),
    resetAttempt: assign({ attempt: 0 }),
  },
  guards: {
    leading: ({ context }) => context.leading,
    demandListed: ({ context }) => context.demandListed,
    credentialsUsable: ({ context }) =>
      context.credentials === 'Unneeded' || context.credentials === 'Accepted',
    credentialsRefused: ({ context }) => context.credentials === 'Refused',
    needsPerson: (_, ending: SessionEnding) =>
      ending.why === 'RefusedByShard' || ending.why === 'CredentialsRefused',
    stopping: stateIn({ connected: 'stopping' }),
    rollupOutstanding: stateIn({ connected: { streaming: { rollup: 'awaitingAck' } } }),
  },
  delays: {
    dialDeadline: DIAL_DEADLINE_MS,
    helloDeadline: HELLO_DEADLINE_MS,
    rollupAckDeadline: ({ context }) => INTERVALS_TO_ACK * context.rollupIntervalMs,
    reconnectBackoff: ({ context }) => backoffMs(RECONNECT, context.attempt, context.seed),
    refusalBackoff: REFUSAL_BACKOFF_MS,
    stopGrace: STOP_GRACE_MS,
  },
}).createMachine({
  id: 'fleetSession',
  description: 'The one session with the shard.',
  context: ({ input }) => ({
    rollupIntervalMs: input.rollupIntervalMs,
    leading: false,
    demandListed: false,
    credentials: input.secured ? 'Unread' : 'Unneeded',
    stream: input.stream,
    attempt: 0,
    seed: input.seed,
    ending: null,
  }),
  initial: 'standby',
  on: {
    'leadership.won': { actions: assign({ leading: true }) },
    'leadership.lost': { target: '.standby', actions: 'clearLeading' },
    'demand.listed': { actions: assign({ demandListed: true }) },
    'credentials.accepted': { actions: 'setCredentialsAccepted' },
    'credentials.refused': {
      actions: { type: 'setCredentialsRefused', params: ({ event }) => event.problem },
    },
    'stop.requested': '.stopped',
  },
  states: {
    standby: {
      description: 'Another process leads, or none does yet: there is no session.',
      always: { guard: 'leading', target: 'waitingForDemand' },
    },
    waitingForDemand: {
      description:
        'Demand is not complete: an early roll-up would want less than the cluster does.',
      always: { guard: 'demandListed', target: 'waitingForCredentials' },
    },
    waitingForCredentials: {
      description: 'The key pair has not been read yet.',
      always: [
        { guard: 'credentialsUsable', target: 'connected' },
        { guard: 'credentialsRefused', target: 'refused' },
      ],
    },
    connected: {
      description: 'A stream is being opened, used or closed; leaving cancels it.',
      entry: assign({ stream: ({ context }) => context.stream + 1 }),
      invoke: {
        id: 'holdStream',
        src: 'holdStream',
        input: ({ context }) => ({ stream: context.stream }),
        onDone: [
          { guard: 'stopping', target: 'stopped' },
          {
            guard: { type: 'needsPerson', params: ({ event }) => event.output },
            target: 'refused',
            actions: { type: 'setEnding', params: ({ event }) => event.output },
          },
          {
            target: 'backingOff',
            actions: { type: 'setEnding', params: ({ event }) => event.output },
          },
        ],
        onError: [
          { guard: 'stopping', target: 'stopped' },
          {
            target: 'backingOff',
            actions: {
              type: 'setEnding',
              params: ({ event }) => ({ why: 'Defect', detail: String(event.error) }),
            },
          },
        ],
      },
      on: { 'stop.requested': '.stopping' },
      initial: 'dialling',
      states: {
        dialling: {
          description: 'Connecting; the Hello goes first.',
          on: {
            'stream.connected': 'greeting',
            'stop.requested': '#fleetSession.stopped',
          },
          after: {
            dialDeadline: {
              target: '#fleetSession.backingOff',
              actions: overdue('DialOverdue', 'No connection was made in time'),
            },
          },
        },
        greeting: {
          description: 'The Hello is sent and not acknowledged yet; frames may already come.',
          initial: 'intact',
          states: {
            intact: {
              description: 'Every frame so far could be read.',
              on: {
                'hello.acknowledged': '#fleetSession.connected.streaming',
                'frame.malformed': 'replayGap',
              },
            },
            replayGap: {
              description: 'A frame that may have been about any machine could not be read.',
              on: {
                'hello.acknowledged': '#fleetSession.connected.streaming.resync.replayGap',
              },
            },
          },
          after: {
            helloDeadline: {
              target: '#fleetSession.backingOff',
              actions: overdue('HelloOverdue', 'The shard did not acknowledge the Hello in time'),
            },
          },
        },
        streaming: {
          description: 'The Hello is acknowledged: roll-ups go up, machines come down.',
          entry: 'publishOpened',
          exit: 'publishStreamEnded',
          type: 'parallel',
          states: {
            rollup: {
              description: 'The roll-up that waits for its ack, one at a time.',
              initial: 'idle',
              states: {
                idle: {
                  description: 'Nothing is outstanding: the slot may give its roll-up.',
                  entry: 'requestRollup',
                  on: { 'rollup.sent': 'awaitingAck' },
                },
                awaitingAck: {
                  description: 'A roll-up is outstanding; a newer one waits in the slot.',
                  on: {
                    'rollup.acknowledged': { target: 'idle', actions: 'recordRollupAcknowledged' },
                  },
                  after: {
                    rollupAckDeadline: {
                      target: '#fleetSession.overdue',
                      actions: [
                        overdue('RollupOverdue', 'A roll-up got no ack for three intervals'),
                        'recordRollupOverdue',
                      ],
                    },
                  },
                },
              },
            },
            resync: {
              description:
                'Whether the replay of all bound machines is over, and proves what is absent.',
              initial: 'replaying',
              states: {
                replaying: {
                  description: 'The shard replays every machine that is bound to this cluster.',
                  on: {
                    'rollup.acknowledged': {
                      guard: 'rollupOutstanding',
                      target: 'resynced',
                      actions: ['resetAttempt', 'publishResynced'],
                    },
                    'frame.malformed': 'replayGap',
                  },
                },
                replayGap: {
                  description:
                    'A frame of the replay could not be read: it may have been about any machine.',
                  on: {
                    'rollup.acknowledged': {
                      guard: 'rollupOutstanding',
                      target: 'unproven',
                      actions: ['resetAttempt', 'logUnprovenResync'],
                    },
                  },
                },
                unproven: {
                  description: 'The replay is over and had a gap: absence from it proves nothing.',
                },
                resynced: {
                  description: 'The first roll-up was acknowledged: the replay is complete.',
                },
              },
            },
          },
        },
        stopping: {
          description: 'Nothing more is sent; the shard is given a moment to end the stream.',
          entry: 'closeSending',
          on: { 'leadership.lost': { actions: 'clearLeading' }, 'stop.requested': {} },
          after: { stopGrace: '#fleetSession.stopped' },
        },
      },
    },
    overdue: {
      description: 'The shard does not acknowledge roll-ups; waits before the next dial.',
      meta: { reason: 'RollupNotAcknowledged' },
      entry: 'recordEnding',
      after: { reconnectBackoff: 'waitingForCredentials' },
    },
    backingOff: {
      description: 'The last stream ended; waits before the next dial.',
      entry: 'recordEnding',
      after: { reconnectBackoff: 'waitingForCredentials' },
    },
    refused: {
      description: 'The key pair or the identity is refused: a person must act.',
      meta: { reason: 'SessionRefused' },
      entry: 'recordEnding',
      on: {
        'credentials.accepted': {
          target: 'waitingForCredentials',
          actions: 'setCredentialsAccepted',
        },
      },
      // Without a fit pair there is nothing to try: its files are read all the time anyway.
      after: {
        refusalBackoff: { guard: 'credentialsUsable', target: 'waitingForCredentials' },
      },
    },
    stopped: { description: 'Closed for good; the process is ending.', type: 'final' },
  },
});
