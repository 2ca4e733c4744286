/**
 * Leader election: this process as a candidate for the Lease (DR-15).
 *
 * Promises: a Lease of another process is taken only when it was released or when the local clock
 * has seen it unchanged for its whole duration, never by comparing clocks; leading ends at the
 * renew deadline, counted from when the last successful renewal was sent; a lost lease makes this
 * process a candidate again; the lease is released on shutdown. The gate of all writes is open
 * exactly while leading.
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
/** SIGTERM leaves little time: then the lease may simply expire. */
const RELEASE_DEADLINE_MS = 5000;
const RELEASE_RETRY_MS = 500;

export interface LeadershipInput extends LeaseTimes {
  readonly identity: string;
  readonly seed: Seed;
}

export interface LeadershipContext extends LeadershipInput {
  /** The lease as last observed. */
  readonly lease: LeaseRecord | null;
  /** The resourceVersion that stayed unchanged for the whole lease duration. */
  readonly expiredRevision: string | null;
  /** A change was observed while the lease was being requested: the answer may be older. */
  readonly observedMeanwhile: boolean;
  /** Monotonic time at which leading ends without a renewal. */
  readonly deadlineMs: number;
  /** The time left until then when the last renewal was answered. */
  readonly remainingMs: number;
  readonly problem: string;
}

export type LeadershipEvent =
  /** The watched Lease; null when there is none. */
  | { readonly type: 'lease.observed'; readonly lease: LeaseRecord | null }
  | { readonly type: 'release.requested' };

type Ending = AcquireOutcome | RenewOutcome | ReleaseOutcome;

const problemOf = (outcome: Ending): string => {
  if (outcome._tag === 'Fault') return outcome.why;
  return outcome._tag === 'Overtaken' ? 'another process was faster' : '';
};

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
    acquireLease: required<AcquireOutcome, { readonly expiredRevision: string | null }>(
      'acquireLease',
    ),
    renewLease: required<RenewOutcome, { readonly lease: LeaseRecord | null }>('renewLease'),
    releaseLease: required<ReleaseOutcome, undefined>('releaseLease'),
  },
  actions: {
    /** Lets writes pass until `deadlineMs`. */
    openGate: () => {},
    closeGate: () => {},
    noteHeld: assign(({ context }, outcome: Ending) =>
      'sentAtMs' in outcome
        ? {
          lease: outcome.lease,
          expiredRevision: null,
          deadlineMs: outcome.sentAtMs + context.renewMs,
          remainingMs: Math.max(0, context.renewMs - (outcome.answeredAtMs - outcome.sentAtMs)),
          problem: '',
        }
        : {}
    ),
    noteForeign: assign((_, lease: LeaseRecord | null) => ({ lease, expiredRevision: null })),
    noteExpired: assign({ expiredRevision: ({ context }) => context.lease?.revision ?? null }),
    noteProblem: assign(({ context }, problem: string) => ({
      problem,
      seed: nextSeed(context.seed),
    })),
  },
  guards: {
    claimable: ({ context }, lease: LeaseRecord | null) =>
      mayTakeLease(lease, context.identity, null),
    changed: ({ context }, lease: LeaseRecord | null) =>
      lease?.revision !== context.lease?.revision,
    observedMeanwhile: ({ context }, outcome: AcquireOutcome) =>
      outcome._tag === 'HeldByOther' && context.observedMeanwhile,
    acquired: (_, outcome: AcquireOutcome) => outcome._tag === 'Acquired',
    heldByOther: (_, outcome: AcquireOutcome) => outcome._tag === 'HeldByOther',
    renewed: (_, outcome: RenewOutcome) => outcome._tag === 'Renewed',
    taken: (_, outcome: RenewOutcome) => outcome._tag === 'Taken',
    faulty: (_, outcome: ReleaseOutcome) => outcome._tag === 'Fault',
  },
  delays: {
    foreignExpiry: ({ context }) => (context.lease?.durationSeconds ?? 0) * 1000 || context.leaseMs,
    retryPeriod: ({ context }) => context.retryMs * (1 + RETRY_JITTER * unitInterval(context.seed)),
    renewPeriod: ({ context }) => context.retryMs,
    renewDeadline: ({ context }) => context.remainingMs,
    releaseDeadline: RELEASE_DEADLINE_MS,
    releaseRetry: RELEASE_RETRY_MS,
  },
}).createMachine({
  id: 'leadership',
  description: 'This process as a candidate for the Lease.',
  context: ({ input }) => ({
    ...input,
    lease: null,
    expiredRevision: null,
    observedMeanwhile: false,
    deadlineMs: 0,
    remainingMs: 0,
    problem: '',
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
        input: ({ context }) => ({ expiredRevision: context.expiredRevision }),
        onDone: [
          {
            guard: { type: 'acquired', params: ({ event }) => event.output },
            target: 'leading',
            actions: { type: 'noteHeld', params: ({ event }) => event.output },
          },
          {
            guard: { type: 'observedMeanwhile', params: ({ event }) => event.output },
            target: 'acquiring',
            reenter: true,
            actions: { type: 'noteForeign', params: ({ event }) => leaseIn(event.output) },
          },
          {
            guard: { type: 'heldByOther', params: ({ event }) => event.output },
            target: 'standingBy',
            actions: { type: 'noteForeign', params: ({ event }) => leaseIn(event.output) },
          },
          {
            target: 'retrying',
            actions: { type: 'noteProblem', params: ({ event }) => problemOf(event.output) },
          },
        ],
      },
    },
    standingBy: {
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
            target: 'standingBy',
            reenter: true,
            actions: { type: 'noteForeign', params: ({ event }) => event.lease },
          },
        ],
        'release.requested': 'released',
      },
      after: { foreignExpiry: { target: 'acquiring', actions: 'noteExpired' } },
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
          actions: { type: 'noteProblem', params: 'the lease was not renewed in time' },
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
                actions: { type: 'noteHeld', params: ({ event }) => event.output },
              },
              {
                guard: { type: 'taken', params: ({ event }) => event.output },
                target: '#leadership.standingBy',
                actions: { type: 'noteForeign', params: ({ event }) => leaseIn(event.output) },
              },
              {
                target: 'faltering',
                actions: { type: 'noteProblem', params: ({ event }) => problemOf(event.output) },
              },
            ],
          },
        },
        faltering: {
          description: 'The last renewal failed; retries until the deadline.',
          meta: { reason: 'LeaseNotRenewed' },
          tags: 'waiting',
          after: { renewPeriod: 'renewing' },
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
                actions: { type: 'noteProblem', params: ({ event }) => problemOf(event.output) },
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
