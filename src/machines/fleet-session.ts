/**
 * The one session with the shard: when to dial, what a stream owes, and when to give it up.
 *
 * Promises: nothing is dialled before the demand list is complete or while somebody else leads
 * (WIRE-05); one roll-up is outstanding at a time and none longer than three intervals (WIRE-02);
 * every ending has its cause; the backoff grows until a stream proves itself by its first `rollup`
 * ack (WIRE-07). Frames do not pass through here, only what decides.
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
export type CredentialsStanding = 'Unneeded' | 'Unread' | 'Accepted' | 'Refused';

export interface FleetSessionInput {
  readonly rollupIntervalMs: number;
  readonly secured: boolean;
  readonly seed: Seed;
}

export interface FleetSessionContext {
  readonly rollupIntervalMs: number;
  readonly leading: boolean;
  readonly demandListed: boolean;
  readonly credentials: CredentialsStanding;
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
  | { readonly type: 'rollup.sent' }
  | { readonly type: 'rollup.acknowledged' }
  | { readonly type: 'stop.requested' };

const overdue = (why: SessionEnding['why'], detail: string) => ({
  type: 'noteEnding' as const,
  params: { why, detail },
});

/** The statechart of the session; `src/actors/session` provides its act and actions. */
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
    askForRollup: () => {},
    closeSending: () => {},
    tellOpened: () => {},
    tellResynced: () => {},
    tellRollupAcknowledged: () => {},
    tellRollupOverdue: () => {},
    tellStreamEnded: () => {},
    tellEnding: () => {},
    noteEnding: assign(({ context }, ending: SessionEnding) => ({
      ending,
      attempt: context.attempt + 1,
      seed: nextSeed(context.seed),
    })),
    refuseCredentials: assign({
      credentials: 'Refused',
      ending: (_, detail: string): SessionEnding => ({ why: 'CredentialsRefused', detail }),
    }),
    acceptCredentials: assign({ credentials: 'Accepted' }),
    loseLeadership: assign({ leading: false }),
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
    stream: 0,
    attempt: 0,
    seed: input.seed,
    ending: null,
  }),
  initial: 'standby',
  on: {
    'leadership.won': { actions: assign({ leading: true }) },
    'leadership.lost': { target: '.standby', actions: 'loseLeadership' },
    'demand.listed': { actions: assign({ demandListed: true }) },
    'credentials.accepted': { actions: 'acceptCredentials' },
    'credentials.refused': {
      actions: { type: 'refuseCredentials', params: ({ event }) => event.problem },
    },
    'stop.requested': '.stopped',
  },
  states: {
    standby: {
      description: 'Another process leads, or nobody does yet: there is no session.',
      always: { guard: 'leading', target: 'waitingForDemand' },
    },
    waitingForDemand: {
      description: 'The list of CapacityRequests is not complete: an early roll-up would be a lie.',
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
            actions: { type: 'noteEnding', params: ({ event }) => event.output },
          },
          {
            target: 'backingOff',
            actions: { type: 'noteEnding', params: ({ event }) => event.output },
          },
        ],
        onError: [
          { guard: 'stopping', target: 'stopped' },
          {
            target: 'backingOff',
            actions: {
              type: 'noteEnding',
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
          on: { 'hello.acknowledged': 'streaming' },
          after: {
            helloDeadline: {
              target: '#fleetSession.backingOff',
              actions: overdue('HelloOverdue', 'The shard did not acknowledge the Hello in time'),
            },
          },
        },
        streaming: {
          description: 'The shard knows us: demand goes up, machines come down.',
          entry: 'tellOpened',
          exit: 'tellStreamEnded',
          type: 'parallel',
          states: {
            rollup: {
              description: 'The roll-up that is owed an ack, one at a time.',
              initial: 'quiet',
              states: {
                quiet: {
                  description: 'Nothing is outstanding: the slot may give its roll-up.',
                  entry: 'askForRollup',
                  on: { 'rollup.sent': 'awaitingAck' },
                },
                awaitingAck: {
                  description: 'A roll-up is outstanding; a newer one waits in the slot.',
                  on: {
                    'rollup.acknowledged': { target: 'quiet', actions: 'tellRollupAcknowledged' },
                  },
                  after: {
                    rollupAckDeadline: {
                      target: '#fleetSession.overdue',
                      actions: [
                        overdue('RollupOverdue', 'A roll-up got no ack for three intervals'),
                        'tellRollupOverdue',
                      ],
                    },
                  },
                },
              },
            },
            resync: {
              description: 'Whether the replay of all bound machines is known to be over.',
              initial: 'replaying',
              states: {
                replaying: {
                  description: 'The shard replays every machine that is bound to this cluster.',
                  on: {
                    'rollup.acknowledged': {
                      guard: 'rollupOutstanding',
                      target: 'resynced',
                      actions: [assign({ attempt: 0 }), 'tellResynced'],
                    },
                  },
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
          on: { 'leadership.lost': { actions: 'loseLeadership' }, 'stop.requested': {} },
          after: { stopGrace: '#fleetSession.stopped' },
        },
      },
    },
    overdue: {
      description: 'The shard does not acknowledge roll-ups: given up, dialled again soon.',
      meta: { reason: 'RollupNotAcknowledged' },
      entry: 'tellEnding',
      after: { reconnectBackoff: 'waitingForCredentials' },
    },
    backingOff: {
      description: 'The last stream ended; waits before the next dial.',
      entry: 'tellEnding',
      after: { reconnectBackoff: 'waitingForCredentials' },
    },
    refused: {
      description: 'Our key pair or our identity will not do: a person has to act.',
      meta: { reason: 'SessionRefused' },
      entry: 'tellEnding',
      on: {
        'credentials.accepted': { target: 'waitingForCredentials', actions: 'acceptCredentials' },
      },
      // Without a fit pair there is nothing to try: its files are read all the time anyway.
      after: {
        refusalBackoff: { guard: 'credentialsUsable', target: 'waitingForCredentials' },
      },
    },
    stopped: { description: 'Closed for good; the process is ending.', type: 'final' },
  },
});
