/**
 * The circuit breaker of evictions: whether the API server takes eviction requests.
 *
 * Promises: while the API server throttles, rejects the credentials or cannot be reached, the
 * circuit is open and no eviction is sent; half-open, a single eviction probes the API server, and
 * its answer closes the circuit or opens it again. An answer of a budget or policy about one pod
 * does not open it.
 *
 * It decides whether evictions are chosen at all; whether a connection can be made is decided for
 * all writes by the write budget, which has a circuit for it (ADR 6).
 */
import { assign, setup } from 'xstate';
import type { ReasonName } from '../api/reasons.ts';

/** The maximum delay of all evictions by one answer. */
const THROTTLE_MS = { least: 1000, most: 60_000 };
const CREDENTIALS_BACKOFF_MS = 5000;
/** A watch event ends the wait much sooner. */
const ABSENCE_BACKOFF_MS = 5000;
/** With a healthy watch, not every event may become a probe. */
const ABSENCE_FLOOR_MS = 250;

export interface EvictionCircuitContext {
  readonly retryAfterMs: number;
  /** Why the circuit is open; empty while it is closed. */
  readonly problem: string;
}

export type EvictionCircuitEvent =
  /** The API server's own rate limit. */
  | {
    readonly type: 'server.throttled';
    readonly retryAfterMs: number;
    readonly why: string;
  }
  | { readonly type: 'credentials.refused'; readonly why: string }
  /** A request could not be sent. */
  | { readonly type: 'server.lost'; readonly why: string }
  /** A watch delivered an event. */
  | { readonly type: 'server.responded' }
  /** A request was answered, with any outcome for its pod. */
  | { readonly type: 'eviction.answered' }
  /** The outcome of a request is unknown. */
  | { readonly type: 'answer.lost'; readonly why: string }
  /** No pod was waiting that could probe. */
  | { readonly type: 'probe.declined' };

const why = ({ event }: { readonly event: { readonly why: string } }): string => event.why;

/** What opens the circuit. */
const opened = {
  'server.throttled': {
    target: '#evictionCircuit.open.throttled',
    actions: {
      type: 'setThrottle',
      params: (
        { event }: {
          readonly event: Extract<EvictionCircuitEvent, { type: 'server.throttled' }>;
        },
      ) => event,
    },
  },
  'credentials.refused': {
    target: '#evictionCircuit.open.unauthenticated',
    actions: { type: 'setProblem', params: why },
  },
  'server.lost': {
    target: '#evictionCircuit.open.serverAway',
    actions: { type: 'setProblem', params: why },
  },
} as const;

/** The statechart of the circuit; `src/actors/pod-evictions` provides its action. */
export const evictionCircuit = setup({
  types: {
    context: {} as EvictionCircuitContext,
    events: {} as EvictionCircuitEvent,
    meta: {} as { readonly reason: ReasonName },
    tags: {} as 'waiting' | 'acting' | 'settled',
  },
  actions: {
    /** Answered by the outcome of the request, or by `probe.declined`. */
    probe: () => {},
    setProblem: assign((_, problem: string) => ({ problem })),
    setThrottle: assign((
      _,
      { retryAfterMs, why: problem }: { readonly retryAfterMs: number; readonly why: string },
    ) => ({
      problem,
      retryAfterMs: Math.min(THROTTLE_MS.most, Math.max(THROTTLE_MS.least, retryAfterMs)),
    })),
    clearProblem: assign({ problem: '' }),
  },
  delays: {
    throttle: ({ context }) => context.retryAfterMs,
    credentialsBackoff: CREDENTIALS_BACKOFF_MS,
    absenceBackoff: ABSENCE_BACKOFF_MS,
    absenceFloor: ABSENCE_FLOOR_MS,
  },
}).createMachine({
  id: 'evictionCircuit',
  description: 'Whether the API server takes eviction requests.',
  context: { retryAfterMs: 0, problem: '' },
  initial: 'closed',
  states: {
    closed: {
      description: 'Evictions are sent in rank order.',
      tags: 'settled',
      entry: 'clearProblem',
      on: opened,
    },
    open: {
      description: 'No eviction is sent.',
      tags: 'waiting',
      initial: 'throttled',
      states: {
        throttled: {
          description: 'The API server limits requests and asked all clients to wait.',
          meta: { reason: 'ServerThrottling' },
          after: { throttle: '#evictionCircuit.halfOpen' },
        },
        unauthenticated: {
          description: 'The API server rejects the credentials; they are read again.',
          meta: { reason: 'CredentialsRefused' },
          after: { credentialsBackoff: '#evictionCircuit.halfOpen' },
        },
        serverAway: {
          description: 'The API server cannot be reached.',
          meta: { reason: 'EvictionFailing' },
          after: { absenceBackoff: '#evictionCircuit.halfOpen' },
          initial: 'pausing',
          states: {
            pausing: {
              description: 'A request has just failed; events of watches are ignored.',
              after: { absenceFloor: 'listening' },
            },
            listening: {
              description: 'Any event of a watch ends the wait.',
              on: { 'server.responded': '#evictionCircuit.halfOpen' },
            },
          },
        },
      },
    },
    halfOpen: {
      description: 'A single eviction probes the API server.',
      tags: 'acting',
      entry: 'probe',
      on: {
        ...opened,
        'answer.lost': opened['server.lost'],
        'eviction.answered': 'closed',
        'probe.declined': 'closed',
      },
    },
  },
});
