/**
 * Who leads: this process as one of those that want the Lease (DR-15).
 *
 * Promises: a foreign lease is taken only when it was released or when our own clock has seen it
 * unchanged for its whole time, never by comparing clocks; leading ends at the renew deadline,
 * counted from when the last good renewal was sent; losing the lease makes a candidate again; a
 * lease is released before the end. The gate of all writes is open exactly while it leads.
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

/** Retries are spread by up to a fifth, as client-go spreads them. */
const RETRY_JITTER = 0.2;
/** SIGTERM leaves little time: then the lease may as well run out. */
const RELEASE_DEADLINE_MS = 5000;
const RELEASE_RETRY_MS = 500;

export interface LeadershipInput extends LeaseTimes {
  readonly identity: string;
  readonly seed: Seed;
}

export interface LeadershipContext extends LeadershipInput {
  /** The lease as it was last seen. */
  readonly lease: LeaseRecord | null;
  /** The revision that stood unchanged for its whole time. */
  readonly expiredRevision: string | null;
  /** Something was observed while the lease was being asked for: the answer may be older. */
  readonly observedMeanwhile: boolean;
  /** Monotonic time at which leading ends unless it is renewed. */
  readonly deadlineMs: number;
  /** How long that was when the last renewal was answered. */
  readonly remainingMs: number;
  readonly problem: string;
}

export type LeadershipEvent =
  /** What the watch shows; null when there is no Lease. */
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
    /** Lets writes leave until `deadlineMs`. */
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
  description: 'This process as one of those that want the Lease.',
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
      description: 'Looks at the lease and takes it if it may be taken.',
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
      description: 'Another process leads; waits for its release, or for its silence.',
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
      description: 'The lease could not be had or kept; waits before it asks again.',
      meta: { reason: 'LeaseNotHeld' },
      tags: 'waiting',
      on: { 'release.requested': 'releasing' },
      after: { retryPeriod: 'acquiring' },
    },
    leading: {
      description: 'Holds the lease: writes may leave until the renew deadline.',
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
          description: 'The last renewal was good.',
          after: { renewPeriod: 'renewing' },
        },
        renewing: {
          description: 'Writes the lease anew; the deadline of the last good renewal runs on.',
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
                target: 'renewalFailed',
                actions: { type: 'noteProblem', params: ({ event }) => problemOf(event.output) },
              },
            ],
          },
        },
        renewalFailed: {
          description: 'The last renewal failed; tries again while the deadline runs.',
          meta: { reason: 'LeaseNotRenewed' },
          tags: 'waiting',
          after: { renewPeriod: 'renewing' },
        },
      },
    },
    releasing: {
      description: 'Lets go of the lease, so that a standby starts at once.',
      after: { releaseDeadline: 'released' },
      initial: 'asking',
      states: {
        asking: {
          description: 'Empties the holder, if it is still this process.',
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
          description: 'The release failed; waits a moment before it is tried again.',
          meta: { reason: 'LeaseNotReleased' },
          tags: 'waiting',
          after: { releaseRetry: 'asking' },
        },
      },
    },
    released: {
      description: 'Wants the lease no more: it was let go, or runs out by itself.',
      type: 'final',
    },
  },
});
