/**
 * The life of one operator process: from its first look at the cluster to a clean end.
 *
 * Promises: it seeks the lease only when its caches are complete, so that whoever wins it can act
 * at once; losing the lease makes it a candidate again without an exit; on the way out it closes
 * the session, lets writes under way finish, and releases the lease, in this order (drain rules:
 * DR-15), each within a bound.
 */
import { assign, setup } from 'xstate';
import { backoffMs } from '../domain/backoff.ts';
import { nextSeed, type Seed } from '../domain/random.ts';
import { required } from './required.ts';

const CLUSTER_BACKOFF = { firstMs: 500, lastMs: 10_000 };

/** What a first look at settings and cluster tells. */
export type Fitness =
  | { readonly _tag: 'Fit'; readonly version: string }
  /** A person must act: too old, or our credentials are not accepted. */
  | { readonly _tag: 'Unfit'; readonly why: string }
  | { readonly _tag: 'Unreachable'; readonly why: string };

/** Why the process ended. */
export type OperatorEnding =
  | { readonly _tag: 'Stopped' }
  | { readonly _tag: 'Unfit'; readonly why: string };

export interface OperatorInput {
  readonly seed: Seed;
}

export interface OperatorContext {
  readonly attempt: number;
  readonly seed: Seed;
  /** Why the cluster cannot be used, as of the last look. */
  readonly trouble: string | null;
}

export type OperatorEvent =
  | { readonly type: 'caches.synced' }
  | { readonly type: 'leadership.won' }
  | { readonly type: 'leadership.lost' }
  | { readonly type: 'stop.requested' };

/** The statechart of the process; `src/actors/operator.ts` provides its acts and actions. */
export const operator = setup({
  types: {
    context: {} as OperatorContext,
    events: {} as OperatorEvent,
    input: {} as OperatorInput,
    output: {} as OperatorEnding,
  },
  actors: {
    checkFitness: required<Fitness, undefined>('checkFitness'),
    closeSession: required<void, undefined>('closeSession'),
    settleWrites: required<void, undefined>('settleWrites'),
    releaseLease: required<void, undefined>('releaseLease'),
  },
  actions: {
    startCaches: () => {},
    seekLease: () => {},
    openSession: () => {},
    suspendSession: () => {},
    noteTrouble: assign(({ context }, why: string) => ({
      attempt: context.attempt + 1,
      seed: nextSeed(context.seed),
      trouble: why,
    })),
  },
  guards: {
    fit: (_, fitness: Fitness) => fitness._tag === 'Fit',
    unfit: (_, fitness: Fitness) => fitness._tag === 'Unfit',
  },
  delays: {
    clusterBackoff: ({ context }) => backoffMs(CLUSTER_BACKOFF, context.attempt, context.seed),
  },
}).createMachine({
  id: 'operator',
  description: 'One operator process.',
  context: ({ input }) => ({ attempt: 0, seed: input.seed, trouble: null }),
  initial: 'checking',
  output: ({ context }) =>
    context.trouble === null ? { _tag: 'Stopped' } : { _tag: 'Unfit', why: context.trouble },
  states: {
    checking: {
      description:
        'Reads the bootstrap template and asks the API server who it is: unfit ones are refused.',
      on: { 'stop.requested': { target: 'stopped', actions: assign({ trouble: null }) } },
      invoke: {
        id: 'checkFitness',
        src: 'checkFitness',
        onDone: [
          {
            guard: { type: 'fit', params: ({ event }) => event.output },
            target: 'syncing',
            actions: assign({ trouble: null }),
          },
          {
            guard: { type: 'unfit', params: ({ event }) => event.output },
            target: 'unfit',
            actions: {
              type: 'noteTrouble',
              params: ({ event }) => event.output._tag === 'Unfit' ? event.output.why : '',
            },
          },
          {
            target: 'waitingForCluster',
            actions: {
              type: 'noteTrouble',
              params: ({ event }) => event.output._tag === 'Unreachable' ? event.output.why : '',
            },
          },
        ],
      },
    },
    waitingForCluster: {
      description: 'The API server did not answer; looks again after a backoff.',
      on: { 'stop.requested': { target: 'stopped', actions: assign({ trouble: null }) } },
      after: { clusterBackoff: 'checking' },
    },
    syncing: {
      description: 'Lists are read; nothing is known to be complete yet.',
      entry: 'startCaches',
      on: { 'caches.synced': 'standby', 'stop.requested': 'stopped' },
    },
    standby: {
      description: 'Caches are warm; somebody else holds the lease, or nobody yet.',
      entry: 'seekLease',
      on: { 'leadership.won': 'leading', 'stop.requested': 'releasingLease' },
    },
    leading: {
      description: 'Holds the lease: has the session, and writes.',
      entry: 'openSession',
      on: {
        'leadership.lost': { target: 'standby', actions: 'suspendSession' },
        'stop.requested': 'closingSession',
      },
    },
    closingSession: {
      description: 'Told to stop: the stream is closed cleanly, nothing new is begun.',
      invoke: { id: 'closeSession', src: 'closeSession', onDone: 'settlingWrites' },
    },
    settlingWrites: {
      description: 'Writes that were sent are waited for, within a bound.',
      invoke: { id: 'settleWrites', src: 'settleWrites', onDone: 'releasingLease' },
    },
    releasingLease: {
      description: 'Gives the lease back, so that a standby starts at once.',
      invoke: { id: 'releaseLease', src: 'releaseLease', onDone: 'stopped' },
    },
    stopped: { description: 'Ended as asked.', type: 'final' },
    unfit: { description: 'This cluster cannot be used; a person must act.', type: 'final' },
  },
});
