/**
 * Whether evictions may be asked for at all, as the API server sees us.
 *
 * Promises: while the API server asked to be left alone, does not take our credentials or cannot be
 * reached, nobody asks; afterwards one asks, and the others follow when it was answered. What a
 * budget or a policy says of one pod is not heard here.
 */
import { assign, setup } from 'xstate';
import type { ReasonName } from '../api/reasons.ts';

/** The most that an answer can make everyone wait, whatever it says. */
const THROTTLE_MS = { least: 1000, most: 60_000 };
const CREDENTIALS_BACKOFF_MS = 5000;
/** A watch that is back says so much sooner. */
const ABSENCE_BACKOFF_MS = 5000;
/** A watch that never went must not make every one of its events a trial. */
const ABSENCE_FLOOR_MS = 250;

export interface EvictionPermitContext {
  readonly retryAfterMs: number;
  /** Why everyone waits; empty while nobody does. */
  readonly problem: string;
}

export type EvictionPermitEvent =
  /** The API server's own limit. */
  | {
    readonly type: 'server.throttled';
    readonly retryAfterMs: number;
    readonly why: string;
  }
  | { readonly type: 'credentials.refused'; readonly why: string }
  /** A call could not be sent. */
  | { readonly type: 'server.lost'; readonly why: string }
  /** A watch said something. */
  | { readonly type: 'server.heard' }
  /** A call got an answer, whatever it was about its pod. */
  | { readonly type: 'call.answered' }
  /** Nobody knows what became of a call. */
  | { readonly type: 'answer.lost'; readonly why: string }
  /** Nobody was there to try it. */
  | { readonly type: 'trial.declined' };

const trouble = {
  'server.throttled': {
    target: 'throttled',
    actions: {
      type: 'noteThrottle',
      params: (
        { event }: {
          readonly event: Extract<EvictionPermitEvent, { type: 'server.throttled' }>;
        },
      ) => event,
    },
  },
  'credentials.refused': {
    target: 'unauthenticated',
    actions: {
      type: 'noteProblem',
      params: ({ event }: { readonly event: { readonly why: string } }) => event.why,
    },
  },
  'server.lost': {
    target: 'serverAway',
    actions: {
      type: 'noteProblem',
      params: ({ event }: { readonly event: { readonly why: string } }) => event.why,
    },
  },
} as const;

/** The statechart of the permit; `src/actors/evictions` provides its acts. */
export const evictionPermit = setup({
  types: {
    context: {} as EvictionPermitContext,
    events: {} as EvictionPermitEvent,
    meta: {} as { readonly reason: ReasonName },
    tags: {} as 'waiting' | 'acting' | 'settled',
  },
  actions: {
    /** Answered by what becomes of the call, or by `trial.declined`. */
    permitOne: () => {},
    noteProblem: assign((_, problem: string) => ({ problem })),
    noteThrottle: assign((
      _,
      { retryAfterMs, why }: { readonly retryAfterMs: number; readonly why: string },
    ) => ({
      problem: why,
      retryAfterMs: Math.min(THROTTLE_MS.most, Math.max(THROTTLE_MS.least, retryAfterMs)),
    })),
    forgetProblem: assign({ problem: '' }),
  },
  delays: {
    throttle: ({ context }) => context.retryAfterMs,
    credentialsBackoff: CREDENTIALS_BACKOFF_MS,
    absenceBackoff: ABSENCE_BACKOFF_MS,
    absenceFloor: ABSENCE_FLOOR_MS,
  },
}).createMachine({
  id: 'evictionPermit',
  description: 'Whether evictions may be asked for at all.',
  context: { retryAfterMs: 0, problem: '' },
  initial: 'open',
  states: {
    open: {
      description: 'Everyone may ask.',
      tags: 'settled',
      entry: 'forgetProblem',
      on: trouble,
    },
    throttled: {
      description: 'The API server has too much to do and asked everyone to wait.',
      meta: { reason: 'ServerThrottling' },
      tags: 'waiting',
      after: { throttle: 'trying' },
    },
    unauthenticated: {
      description: 'The API server does not take our credentials; they are read again.',
      meta: { reason: 'CredentialsRefused' },
      tags: 'waiting',
      after: { credentialsBackoff: 'trying' },
    },
    serverAway: {
      description: 'The API server cannot be reached.',
      meta: { reason: 'EvictionFailing' },
      tags: 'waiting',
      after: { absenceBackoff: 'trying' },
      initial: 'silent',
      states: {
        silent: {
          description: 'It was just tried in vain.',
          after: { absenceFloor: 'listening' },
        },
        listening: {
          description: 'A watch that says something ends the wait.',
          on: { 'server.heard': '#evictionPermit.trying' },
        },
      },
    },
    trying: {
      description: 'One call tries whether the others may follow.',
      tags: 'acting',
      entry: 'permitOne',
      on: {
        ...trouble,
        'answer.lost': trouble['server.lost'],
        'call.answered': 'open',
        'trial.declined': 'open',
      },
    },
  },
});
