/**
 * The lifecycle of one operator process: from preflight to a clean shutdown.
 *
 * Promises: requests the lease only when its caches are complete, so that the winner can act at
 * once; a lost lease makes it a candidate again without an exit; shutdown stops the roles, awaits
 * writes in flight, and releases the lease, in this order (DR-15), each with a time limit. It names
 * no role.
 */
import { assign, setup } from 'xstate';
import type { ReasonName } from '../api/reasons.ts';
import { backoffMs } from '../domain/backoff.ts';
import { nextSeed, type Seed } from '../domain/random.ts';
import { required } from './required.ts';

const CLUSTER_BACKOFF = { firstMs: 500, lastMs: 10_000 };

/** The preflight result for settings, files and cluster. */
export type PreflightResult =
  | { readonly _tag: 'Supported'; readonly version: string }
  /** A person must act: version too old, invalid file, or rejected credentials. */
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
  /** Why the cluster cannot be used, from the last preflight. */
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
    meta: {} as { readonly reason: ReasonName },
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
      description: 'The API server did not answer; retries after a backoff.',
      meta: { reason: 'ApiServerUnreachable' },
      on: { 'stop.requested': { target: 'stopped', actions: 'clearProblem' } },
      after: { clusterBackoff: 'checking' },
    },
    syncing: {
      description: 'Waiting for the initial lists of the informers.',
      entry: 'startInformers',
      on: { 'caches.synced': 'standby', 'stop.requested': 'stopped' },
    },
    standby: {
      description: 'Caches are complete; waiting for the lease.',
      entry: 'seekLease',
      on: { 'leadership.won': 'leading', 'stop.requested': 'releasingLease' },
    },
    leading: {
      description: 'Holds the lease: every role is active and may write.',
      entry: 'startLeading',
      on: {
        'leadership.lost': { target: 'standby', actions: 'stopLeading' },
        'stop.requested': 'closingRoles',
      },
    },
    closingRoles: {
      description: 'Stop requested: roles start nothing new and close their connections.',
      invoke: { id: 'closeRoles', src: 'closeRoles', onDone: 'settlingWrites' },
    },
    settlingWrites: {
      description: 'Waiting for the answers of writes in flight, with a time limit.',
      invoke: { id: 'settleWrites', src: 'settleWrites', onDone: 'releasingLease' },
    },
    releasingLease: {
      description: 'Releasing the lease, so that a standby takes over at once.',
      invoke: { id: 'releaseLease', src: 'releaseLease', onDone: 'stopped' },
    },
    stopped: { description: 'Ended as requested.', type: 'final' },
    unsupported: { description: 'This cluster cannot be used; a person must act.', type: 'final' },
  },
});
