/**
 * The session with the shard: when to dial, what waits for an ack, and when a stream is over.
 *
 * Promises: no dial before demand is complete or while another process leads (WIRE-05); one roll-up
 * is outstanding at a time and none longer than three intervals, counted from the last frame of an
 * incomplete replay (WIRE-02); every end has a cause; the backoff grows until the first `rollup`
 * ack of a stream (WIRE-07); a replay with a gap proves no absence; a stream that was dialled with
 * another key pair is closed in order after a delay, which differs between clusters, and dialled
 * again (WIRE-08). Frames bypass the statechart, except those that decide.
 */
import { assign, or, setup, stateIn } from 'xstate';
import type { ReasonName } from '../api/reasons.ts';
import type { SessionEnding } from '../domain/session.ts';
import {
  afterEnding,
  DIAL_DEADLINE_MS,
  type FleetSessionContext,
  type FleetSessionEvent,
  type FleetSessionInput,
  HELLO_DEADLINE_MS,
  isUnreachable,
  reconnectMs,
  renewalMs,
} from './fleet-session-context.ts';
import { required } from './required.ts';

/** A refusal needs a person: dial no more often than this. */
const REFUSAL_BACKOFF_MS = 30_000;
/** SIGTERM leaves half a second for a clean end; the rest is for cancellation. */
const STOP_GRACE_MS = 400;
/** A roll-up without an ack for this many intervals is lost (WIRE-02). */
const INTERVALS_TO_ACK = 3;

const overdue = (why: SessionEnding['why'], detail: string) => ({
  type: 'setEnding' as const,
  params: { why, detail },
});

/** Every dial, the first and those of an outage. */
const connecting = {
  on: {
    'stream.connected': 'greeting',
    'stop.requested': '#fleetSession.stopped',
  },
  after: {
    dialDeadline: {
      target: '#fleetSession.backingOff',
      actions: overdue('DialOverdue', 'Connection timed out'),
    },
  },
} as const;

const afterBackoff = {
  target: 'waitingForCredentials',
  actions: 'addBackoff',
} as const;

/** The statechart of the session; `src/actors/fleet-session` provides its actor and actions. */
export const fleetSession = setup({
  types: {
    context: {} as FleetSessionContext,
    events: {} as FleetSessionEvent,
    input: {} as FleetSessionInput,
    meta: {} as { readonly reason: ReasonName },
    tags: {} as 'replaying',
  },
  actors: {
    holdStream: required<SessionEnding, { readonly stream: number }>('holdStream'),
  },
  actions: {
    requestRollup: () => {},
    closeSending: () => {},
    /** Frames may arrive from now on. */
    setConnected: () => {},
    publishOpened: () => {},
    publishResynced: () => {},
    publishUnproven: () => {},
    recordRollupAcknowledged: () => {},
    recordRollupOverdue: () => {},
    publishStreamEnded: () => {},
    recordEnding: () => {},
    recordRefused: () => {},
    recordUnreachable: () => {},
    recordReachable: () => {},
    recordRenewal: () => {},
    setEnding: assign(({ context }, ending: SessionEnding) => afterEnding(context, ending)),
    setCredentialsRefused: assign({
      credentials: 'Refused',
      ending: (_, detail: string): SessionEnding => ({ why: 'CredentialsRefused', detail }),
    }),
    setCredentialsAccepted: assign({ credentials: 'Accepted', pairReplaced: true }),
    addBackoff: assign({ waitedMs: ({ context }) => context.waitedMs + reconnectMs(context) }),
    /** Demand must be listed again in the next term. */
    clearLeading: assign(({ context }) => ({
      leading: false,
      demandListed: false,
      waitedMs: 0,
      ending: context.credentials === 'Refused' ? context.ending : null,
    })),
    resetAttempt: assign({ attempt: 0, waitedMs: 0 }),
  },
  guards: {
    leading: ({ context }) => context.leading,
    demandListed: ({ context }) => context.demandListed,
    credentialsUsable: ({ context }) =>
      context.credentials === 'Unneeded' || context.credentials === 'Accepted',
    credentialsRefused: ({ context }) => context.credentials === 'Refused',
    pairReplaced: ({ context }) => context.pairReplaced,
    shardUnreachable: ({ context }) => isUnreachable(context),
    needsPerson: (_, ending: SessionEnding) =>
      ending.why === 'RefusedByShard' || ending.why === 'CredentialsRefused',
    stopping: stateIn({ connected: 'stopping' }),
    renewing: stateIn({ connected: 'renewing' }),
    rollupOutstanding: stateIn({ connected: { streaming: { rollup: 'awaitingAck' } } }),
    replayIncomplete: or([
      stateIn({ connected: { streaming: { resync: 'replaying' } } }),
      stateIn({ connected: { streaming: { resync: 'replayGap' } } }),
    ]),
  },
  delays: {
    dialDeadline: DIAL_DEADLINE_MS,
    helloDeadline: HELLO_DEADLINE_MS,
    rollupAckDeadline: ({ context }) => INTERVALS_TO_ACK * context.rollupIntervalMs,
    reconnectBackoff: ({ context }) => reconnectMs(context),
    refusalBackoff: REFUSAL_BACKOFF_MS,
    renewalDelay: ({ context }) => renewalMs(context),
    stopGrace: STOP_GRACE_MS,
  },
}).createMachine({
  id: 'fleetSession',
  description: 'The session with the shard.',
  context: ({ input }) => ({
    rollupIntervalMs: input.rollupIntervalMs,
    renewalDelayMs: input.renewalDelayMs,
    leading: false,
    demandListed: false,
    credentials: input.secured ? 'Unread' : 'Unneeded',
    pairReplaced: false,
    stream: input.stream,
    attempt: 0,
    waitedMs: 0,
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
      description: 'This process is not the leader: there is no session.',
      always: { guard: 'leading', target: 'waitingForDemand' },
    },
    waitingForDemand: {
      description: 'Demand is not complete: an early roll-up would request too little.',
      always: { guard: 'demandListed', target: 'waitingForCredentials' },
    },
    waitingForCredentials: {
      description: 'Waiting for the key pair to be read.',
      always: [
        { guard: 'credentialsUsable', target: 'connected' },
        { guard: 'credentialsRefused', target: 'refused', actions: 'recordEnding' },
      ],
    },
    connected: {
      description: 'A stream is being opened, used or closed; exiting this state cancels it.',
      // A dial takes the newest pair.
      entry: assign({ stream: ({ context }) => context.stream + 1, pairReplaced: false }),
      exit: 'publishStreamEnded',
      invoke: {
        id: 'holdStream',
        src: 'holdStream',
        input: ({ context }) => ({ stream: context.stream }),
        onDone: [
          { guard: 'stopping', target: 'stopped' },
          { guard: 'renewing', target: 'waitingForCredentials' },
          {
            guard: { type: 'needsPerson', params: ({ event }) => event.output },
            target: 'refused',
            actions: [
              { type: 'setEnding', params: ({ event }) => event.output },
              'recordEnding',
            ],
          },
          {
            target: 'backingOff',
            actions: { type: 'setEnding', params: ({ event }) => event.output },
          },
        ],
        onError: [
          { guard: 'stopping', target: 'stopped' },
          { guard: 'renewing', target: 'waitingForCredentials' },
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
          description: 'Connecting; the Hello is sent first.',
          always: { guard: 'shardUnreachable', target: 'redialling' },
          ...connecting,
        },
        redialling: {
          description: 'Connecting again; the shard has been out of reach for a while.',
          meta: { reason: 'ShardUnreachable' },
          ...connecting,
        },
        greeting: {
          description: 'Waiting for the ack of the Hello; frames may already arrive.',
          entry: 'setConnected',
          initial: 'intact',
          states: {
            intact: {
              description: 'All frames so far were valid.',
              on: {
                'hello.acknowledged': '#fleetSession.connected.streaming',
                'frame.malformed': 'replayGap',
              },
            },
            replayGap: {
              description: 'A malformed frame may concern any machine.',
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
          description: 'The Hello is acknowledged: roll-ups are sent, machine updates received.',
          entry: 'publishOpened',
          type: 'parallel',
          states: {
            rollup: {
              description: 'Roll-ups, at most one without an ack.',
              initial: 'idle',
              states: {
                idle: {
                  description: 'No roll-up is outstanding; the next one may be sent.',
                  entry: 'requestRollup',
                  on: { 'rollup.sent': 'awaitingAck' },
                },
                awaitingAck: {
                  description: 'Waiting for the ack of a roll-up; a newer one waits in the slot.',
                  on: {
                    'rollup.acknowledged': { target: 'idle', actions: 'recordRollupAcknowledged' },
                    // The shard reads nothing before its replay is written.
                    'frames.received': {
                      guard: 'replayIncomplete',
                      target: 'awaitingAck',
                      reenter: true,
                    },
                  },
                  after: {
                    rollupAckDeadline: {
                      target: '#fleetSession.overdue',
                      actions: [
                        overdue(
                          'RollupOverdue',
                          'The shard did not acknowledge a roll-up within three intervals',
                        ),
                        'recordRollupOverdue',
                      ],
                    },
                  },
                },
              },
            },
            resync: {
              description:
                'Whether the replay of all bound machines is complete and proves absence.',
              initial: 'replaying',
              states: {
                replaying: {
                  description: 'The shard replays every machine that is bound to this cluster.',
                  tags: 'replaying',
                  on: {
                    'rollup.acknowledged': {
                      guard: 'rollupOutstanding',
                      target: 'resynced',
                      actions: ['resetAttempt', 'recordReachable', 'publishResynced'],
                    },
                    'frame.malformed': 'replayGap',
                  },
                },
                replayGap: {
                  description: 'A frame of the replay was malformed: it may concern any machine.',
                  tags: 'replaying',
                  on: {
                    'rollup.acknowledged': {
                      guard: 'rollupOutstanding',
                      target: 'unproven',
                      actions: ['resetAttempt', 'recordReachable', 'publishUnproven'],
                    },
                  },
                },
                unproven: {
                  description: 'The replay ended with a gap: it proves no absence.',
                },
                resynced: {
                  description: 'The first roll-up was acknowledged: the replay is complete.',
                },
              },
            },
            keyPair: {
              description: 'Whether the stream was dialled with the newest key pair.',
              initial: 'current',
              states: {
                current: {
                  description: 'The stream was dialled with the newest key pair, or needs none.',
                  always: { guard: 'pairReplaced', target: 'replaced' },
                },
                replaced: {
                  description: 'A newer key pair is valid: waiting before the stream is renewed.',
                  after: { renewalDelay: '#fleetSession.connected.renewing' },
                },
              },
            },
          },
        },
        renewing: {
          description: 'Nothing more is sent; the next dial uses the newest key pair.',
          entry: ['recordRenewal', 'closeSending'],
          after: { stopGrace: '#fleetSession.waitingForCredentials' },
        },
        stopping: {
          description: 'Nothing more is sent; waiting briefly for the shard to end the stream.',
          entry: 'closeSending',
          on: { 'leadership.lost': { actions: 'clearLeading' }, 'stop.requested': {} },
          after: { stopGrace: '#fleetSession.stopped' },
        },
      },
    },
    overdue: {
      description: 'The shard does not acknowledge roll-ups; waiting before the next dial.',
      meta: { reason: 'RollupNotAcknowledged' },
      entry: 'recordEnding',
      after: { reconnectBackoff: afterBackoff },
    },
    backingOff: {
      description: 'The last stream ended; waiting before the next dial.',
      entry: 'recordEnding',
      always: { guard: 'shardUnreachable', target: 'unreachable' },
      after: { reconnectBackoff: afterBackoff },
    },
    unreachable: {
      description: 'No stream could be opened for a while; waiting before the next dial.',
      meta: { reason: 'ShardUnreachable' },
      entry: 'recordUnreachable',
      after: { reconnectBackoff: afterBackoff },
    },
    refused: {
      description: 'The key pair or the identity was refused; a person must act.',
      meta: { reason: 'SessionRefused' },
      entry: 'recordRefused',
      on: {
        'credentials.accepted': {
          target: 'waitingForCredentials',
          actions: 'setCredentialsAccepted',
        },
        'credentials.refused': {
          target: 'refused',
          reenter: true,
          actions: [
            { type: 'setCredentialsRefused', params: ({ event }) => event.problem },
            'recordEnding',
          ],
        },
      },
      // Without a valid pair there is no dial to retry, only the Event, which expires.
      after: {
        refusalBackoff: [
          { guard: 'credentialsUsable', target: 'waitingForCredentials' },
          { target: 'refused', reenter: true },
        ],
      },
    },
    stopped: { description: 'Closed; the process is ending.', type: 'final' },
  },
});
