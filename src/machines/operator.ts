/**
 * The life of one operator process: from its first look at the cluster to a clean end.
 *
 * Promises: it asks for the lease only when its caches are complete, so that the winner can act at
 * once; a lost lease makes it a candidate again without an exit; before the end it closes its
 * roles, lets writes under way finish, and releases the lease, in this order (DR-15), each within a
 * bound. It names no role: what they do is theirs.
 */
import { assign, setup } from 'xstate';
import { backoffMs } from '../domain/backoff.ts';
import { nextSeed, type Seed } from '../domain/random.ts';
import { required } from './required.ts';

const CLUSTER_BACKOFF = { firstMs: 500, lastMs: 10_000 };

/** What a first look at settings, files and cluster shows. */
export type PreflightResult =
  | { readonly _tag: 'Supported'; readonly version: string }
  /** A person must act: too old, a bad file, or our credentials are not accepted. */
  | { readonly _tag: 'Unsupported'; readonly why: string }
  | { readonly _tag: 'Unreachable'; readonly why: string };

/** Why the process ended. */
export type OperatorEnding =
  | { readonly _tag: 'Stopped' }
  | { readonly _tag: 'Unsupported'; readonly why: string };

export interface OperatorInput {
  readonly seed: Seed;
}

export interface OperatorContext {
  readonly attempt: number;
  readonly seed: Seed;
  /** Why the cluster cannot be used, as of the last look. */
  readonly problem: string | null;
}

export type OperatorEvent =
  | { readonly type: 'caches.synced' }
  | { readonly type: 'leadership.won' }
  | { readonly type: 'leadership.lost' }
  | { readonly type: 'stop.requested' };

/** The statechart of the process; `src/actors/operator.ts` provides its actors and actions. */
export const operator = setup({
  types: {
    context: {} as OperatorContext,
    events: {} as OperatorEvent,
    input: {} as OperatorInput,
    output: {} as OperatorEnding,
  },
  actors: {
    runPreflight: required<PreflightResult, undefined>('runPreflight'),
    closeRoles: required<void, undefined>('closeRoles'),
    settleWrites: required<void, undefined>('settleWrites'),
    releaseLease: required<void, undefined>('releaseLease'),
  },
  actions: {
    startInformers: () => {},
    seekLease: () => {},
    startLeading: () => {},
    stopLeading: () => {},
    setProblem: assign(({ context }, problem: string) => ({
      attempt: context.attempt + 1,
      seed: nextSeed(context.seed),
      problem,
    })),
    clearProblem: assign({ problem: null }),
  },
  guards: {
    supported: (_, result: PreflightResult) => result._tag === 'Supported',
    unsupported: (_, result: PreflightResult) => result._tag === 'Unsupported',
  },
  delays: {
    clusterBackoff: ({ context }) => backoffMs(CLUSTER_BACKOFF, context.attempt, context.seed),
  },
}).createMachine({
  id: 'operator',
  description: 'One operator process.',
  context: ({ input }) => ({ attempt: 0, seed: input.seed, problem: null }),
  initial: 'checking',
  output: ({ context }) =>
    context.problem === null ? { _tag: 'Stopped' } : { _tag: 'Unsupported', why: context.problem },
  states: {
    checking: {
      description: 'Reading the files of the roles and asking the API server for its version.',
      on: { 'stop.requested': { target: 'stopped', actions: 'clearProblem' } },
      invoke: {
        id: 'runPreflight',
        src: 'runPreflight',
        onDone: [
          {
            guard: { type: 'supported', params: ({ event }) => event.output },
            target: 'syncing',
            actions: 'clearProblem',
          },
          {
            guard: { type: 'unsupported', params: ({ event }) => event.output },
            target: 'unsupported',
            actions: {
              type: 'setProblem',
              params: ({ event }) => event.output._tag === 'Unsupported' ? event.output.why : '',
            },
          },
          {
            target: 'waitingForCluster',
            actions: {
              type: 'setProblem',
              params: ({ event }) => event.output._tag === 'Unreachable' ? event.output.why : '',
            },
          },
        ],
      },
    },
    waitingForCluster: {
      description: 'The API server did not answer; asks again after a backoff.',
      on: { 'stop.requested': { target: 'stopped', actions: 'clearProblem' } },
      after: { clusterBackoff: 'checking' },
    },
    syncing: {
      description: 'Informers read their first lists; none is known to be complete yet.',
      entry: 'startInformers',
      on: { 'caches.synced': 'standby', 'stop.requested': 'stopped' },
    },
    standby: {
      description: 'Caches are complete; another process holds the lease, or none does yet.',
      entry: 'seekLease',
      on: { 'leadership.won': 'leading', 'stop.requested': 'releasingLease' },
    },
    leading: {
      description: 'Holds the lease: every role leads and may write.',
      entry: 'startLeading',
      on: {
        'leadership.lost': { target: 'standby', actions: 'stopLeading' },
        'stop.requested': 'closingRoles',
      },
    },
    closingRoles: {
      description: 'Stop requested: roles start nothing new and close what has a peer.',
      invoke: { id: 'closeRoles', src: 'closeRoles', onDone: 'settlingWrites' },
    },
    settlingWrites: {
      description: 'Waiting for the answers of writes under way, within a bound.',
      invoke: { id: 'settleWrites', src: 'settleWrites', onDone: 'releasingLease' },
    },
    releasingLease: {
      description: 'Releasing the lease, so that a standby starts at once.',
      invoke: { id: 'releaseLease', src: 'releaseLease', onDone: 'stopped' },
    },
    stopped: { description: 'Ended as requested.', type: 'final' },
    unsupported: { description: 'This cluster cannot be used; a person must act.', type: 'final' },
  },
});
