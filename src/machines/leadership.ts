/**
 * Who leads: this process as one of those that want the Lease (DR-15).
 *
 * Promises: the lease of another process is taken only when it was released or when our own clock
 * has seen it unchanged for its whole time, never by comparing clocks; leading ends at the renew
 * deadline, counted from when the last good renewal was sent, and after a suspension, so that what
 * was timed is read from the cluster again; losing the lease makes a candidate
 * again; a lease is released before the end. The gate of all writes is open exactly while it leads.
 */
import { assign, setup } from 'xstate';
import type { ReasonName } from '../api/reasons.ts';
import {
  type AcquireOutcome,
  type LeaseRecord,
  type LeaseTimes,
  mayTakeLease,
  type ReleaseOutcome,
  type RenewOutcome,
} from '../domain/lease.ts';
import { nextSeed, type Seed, unitInterval } from '../domain/random.ts';
import { required } from './required.ts';

/** Retries are jittered by up to a fifth, as in client-go. */
const RETRY_JITTER = 0.2;
/** Of the 30 s after SIGTERM evictions may take 15: then the lease may simply expire. */
const RELEASE_DEADLINE_MS = 10_000;
const RELEASE_RETRY_MS = 500;

export interface LeadershipInput extends LeaseTimes {
  readonly identity: string;
  readonly seed: Seed;
}

export interface LeadershipContext extends LeadershipInput {
  /** The lease as last observed. */
  readonly lease: LeaseRecord | null;
  /** The resourceVersion that stayed unchanged for the whole lease duration. */
  readonly expiredResourceVersion: string | null;
  /** A change was observed while the lease was being requested: the answer may be older. */
  readonly observedMeanwhile: boolean;
  /** Monotonic time at which leading ends without a renewal. */
  readonly deadlineMs: number;
  /** The time left until then when the last renewal was answered. */
  readonly remainingMs: number;
  readonly problem: string;
  /** The wait that the API server requested with the last failure. */
  readonly retryAfterMs: number;
}

export type LeadershipEvent =
  /** The watched Lease; null when there is none. */
  | { readonly type: 'lease.observed'; readonly lease: LeaseRecord | null }
  | { readonly type: 'release.requested' };

type Ending = AcquireOutcome | RenewOutcome | ReleaseOutcome;

/** Why a request for the lease failed, and the wait that the API server requested. */
interface Problem {
  readonly why: string;
  readonly retryAfterMs: number;
}

const problemOf = (outcome: Ending): Problem => {
  switch (outcome._tag) {
    case 'Fault':
      return outcome;
    case 'Interrupted':
      return { why: 'the machine was suspended', retryAfterMs: 0 };
    default:
      return {
        why: outcome._tag === 'Overtaken' ? 'another process was faster' : '',
        retryAfterMs: 0,
      };
  }
};

const NOT_RENEWED: Problem = { why: 'the lease was not renewed in time', retryAfterMs: 0 };

const leaseIn = (outcome: AcquireOutcome | RenewOutcome): LeaseRecord | null =>
  'lease' in outcome ? outcome.lease : null;

/** The statechart of the lease; `src/actors/leadership.ts` provides its acts and the gate. */
export const leadership = setup({
  types: {
    context: {} as LeadershipContext,
    events: {} as LeadershipEvent,
    input: {} as LeadershipInput,
    tags: {} as 'settled' | 'waiting' | 'acting',
    meta: {} as { readonly reason: ReasonName },
  },
  actors: {
    acquireLease: required<AcquireOutcome, { readonly expiredResourceVersion: string | null }>(
      'acquireLease',
    ),
    renewLease: required<RenewOutcome, { readonly lease: LeaseRecord | null }>('renewLease'),
    releaseLease: required<ReleaseOutcome, undefined>('releaseLease'),
  },
  actions: {
    /** Lets writes pass until `deadlineMs`. */
    openGate: () => {},
    closeGate: () => {},
    setHeldLease: assign(({ context }, outcome: Ending) =>
      'sentAtMs' in outcome
        ? {
          lease: outcome.lease,
          expiredResourceVersion: null,
          deadlineMs: outcome.sentAtMs + context.renewMs,
          remainingMs: Math.max(0, context.renewMs - (outcome.answeredAtMs - outcome.sentAtMs)),
          problem: '',
        }
        : {}
    ),
    setObservedLease: assign((_, lease: LeaseRecord | null) => ({
      lease,
      expiredResourceVersion: null,
    })),
    setExpiredResourceVersion: assign({
      expiredResourceVersion: ({ context }) => context.lease?.resourceVersion ?? null,
    }),
    setProblem: assign(({ context }, { why, retryAfterMs }: Problem) => ({
      problem: why,
      retryAfterMs,
      seed: nextSeed(context.seed),
    })),
  },
  guards: {
    claimable: ({ context }, lease: LeaseRecord | null) =>
      mayTakeLease(lease, context.identity, null),
    changed: ({ context }, lease: LeaseRecord | null) =>
      lease?.resourceVersion !== context.lease?.resourceVersion,
    observedMeanwhile: ({ context }, outcome: AcquireOutcome) =>
      outcome._tag === 'HeldByOther' && context.observedMeanwhile,
    acquired: (_, outcome: AcquireOutcome) => outcome._tag === 'Acquired',
    heldByOther: (_, outcome: AcquireOutcome) => outcome._tag === 'HeldByOther',
    renewed: (_, outcome: RenewOutcome) => outcome._tag === 'Renewed',
    taken: (_, outcome: RenewOutcome) => outcome._tag === 'Taken',
    interrupted: (_, outcome: RenewOutcome) => outcome._tag === 'Interrupted',
    faulty: (_, outcome: ReleaseOutcome) => outcome._tag === 'Fault',
  },
  delays: {
    leaseExpiry: ({ context }) => (context.lease?.durationSeconds ?? 0) * 1000 || context.leaseMs,
    // No longer than a lease: a cluster without a leader is worse than one request more.
    retryPeriod: ({ context }) =>
      Math.max(
        Math.min(context.retryAfterMs, context.leaseMs),
        context.retryMs * (1 + RETRY_JITTER * unitInterval(context.seed)),
      ),
    renewPeriod: ({ context }) => context.retryMs,
    // Half of the deadline at most: a throttled leader gets another attempt.
    renewRetryPeriod: ({ context }) =>
      Math.max(context.retryMs, Math.min(context.retryAfterMs, context.renewMs / 2)),
    renewDeadline: ({ context }) => context.remainingMs,
    releaseDeadline: RELEASE_DEADLINE_MS,
    releaseRetry: ({ context }) => Math.max(RELEASE_RETRY_MS, context.retryAfterMs),
  },
}).createMachine({
  id: 'leadership',
  description: 'This process as a candidate for the Lease.',
  context: ({ input }) => ({
    ...input,
    lease: null,
    expiredResourceVersion: null,
    observedMeanwhile: false,
    deadlineMs: 0,
    remainingMs: 0,
    problem: '',
    retryAfterMs: 0,
  }),
  initial: 'acquiring',
  states: {
    acquiring: {
      description: 'Reading the lease and acquiring it if it is free.',
      tags: 'acting',
      entry: assign({ observedMeanwhile: false }),
      on: {
        'lease.observed': { actions: assign({ observedMeanwhile: true }) },
        'release.requested': 'releasing',
      },
      invoke: {
        id: 'acquireLease',
        src: 'acquireLease',
        input: ({ context }) => ({ expiredResourceVersion: context.expiredResourceVersion }),
        onDone: [
          {
            guard: { type: 'acquired', params: ({ event }) => event.output },
            target: 'leading',
            actions: { type: 'setHeldLease', params: ({ event }) => event.output },
          },
          {
            guard: { type: 'observedMeanwhile', params: ({ event }) => event.output },
            target: 'acquiring',
            reenter: true,
            actions: { type: 'setObservedLease', params: ({ event }) => leaseIn(event.output) },
          },
          {
            guard: { type: 'heldByOther', params: ({ event }) => event.output },
            target: 'standby',
            actions: { type: 'setObservedLease', params: ({ event }) => leaseIn(event.output) },
          },
          {
            target: 'retrying',
            actions: { type: 'setProblem', params: ({ event }) => problemOf(event.output) },
          },
        ],
      },
    },
    standby: {
      description: 'Another process leads; waiting for its lease to be released or to expire.',
      tags: 'settled',
      on: {
        'lease.observed': [
          {
            guard: { type: 'claimable', params: ({ event }) => event.lease },
            target: 'acquiring',
          },
          {
            guard: { type: 'changed', params: ({ event }) => event.lease },
            target: 'standby',
            reenter: true,
            actions: { type: 'setObservedLease', params: ({ event }) => event.lease },
          },
        ],
        'release.requested': 'released',
      },
      after: { leaseExpiry: { target: 'acquiring', actions: 'setExpiredResourceVersion' } },
    },
    retrying: {
      description: 'The lease was not acquired or was lost; waiting before a retry.',
      meta: { reason: 'LeaseNotHeld' },
      tags: 'waiting',
      on: { 'release.requested': 'releasing' },
      after: { retryPeriod: 'acquiring' },
    },
    leading: {
      description: 'Holds the lease: writes are allowed until the renew deadline.',
      tags: 'settled',
      entry: 'openGate',
      exit: 'closeGate',
      on: { 'release.requested': 'releasing' },
      after: {
        renewDeadline: {
          target: 'retrying',
          actions: { type: 'setProblem', params: NOT_RENEWED },
        },
      },
      initial: 'holding',
      states: {
        holding: {
          description: 'The last renewal succeeded.',
          after: { renewPeriod: 'renewing' },
        },
        renewing: {
          description:
            'Renewing the lease; the deadline of the last successful renewal still applies.',
          tags: 'acting',
          invoke: {
            id: 'renewLease',
            src: 'renewLease',
            input: ({ context }) => ({ lease: context.lease }),
            onDone: [
              {
                guard: { type: 'renewed', params: ({ event }) => event.output },
                target: '#leadership.leading',
                reenter: true,
                actions: { type: 'setHeldLease', params: ({ event }) => event.output },
              },
              {
                guard: { type: 'taken', params: ({ event }) => event.output },
                target: '#leadership.standby',
                actions: { type: 'setObservedLease', params: ({ event }) => leaseIn(event.output) },
              },
              {
                guard: { type: 'interrupted', params: ({ event }) => event.output },
                target: '#leadership.retrying',
                actions: { type: 'setProblem', params: ({ event }) => problemOf(event.output) },
              },
              {
                target: 'renewalFailed',
                actions: { type: 'setProblem', params: ({ event }) => problemOf(event.output) },
              },
            ],
          },
        },
        renewalFailed: {
          description: 'The last renewal failed; retries until the deadline.',
          meta: { reason: 'LeaseNotRenewed' },
          tags: 'waiting',
          after: { renewRetryPeriod: 'renewing' },
        },
      },
    },
    releasing: {
      description: 'Releasing the lease, so that a standby takes over at once.',
      after: { releaseDeadline: 'released' },
      initial: 'asking',
      states: {
        asking: {
          description: 'Clearing the holder, if it is still this process.',
          tags: 'acting',
          invoke: {
            id: 'releaseLease',
            src: 'releaseLease',
            onDone: [
              {
                guard: { type: 'faulty', params: ({ event }) => event.output },
                target: 'pausing',
                actions: { type: 'setProblem', params: ({ event }) => problemOf(event.output) },
              },
              { target: '#leadership.released' },
            ],
          },
        },
        pausing: {
          description: 'The release failed; waiting briefly before a retry.',
          meta: { reason: 'LeaseNotReleased' },
          tags: 'waiting',
          after: { releaseRetry: 'asking' },
        },
      },
    },
    released: {
      description: 'No longer a candidate: the lease was released or will expire.',
      type: 'final',
    },
  },
});
