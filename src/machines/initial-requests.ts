/**
 * The pods that have no CapacityRequest when a process begins to lead.
 *
 * Promises: `made` when each of them has one, needs none, or cannot be given one; `late` when that
 * takes longer than its time. Until one of the two, demand is less than what the cluster wants:
 * pods that were replaced meanwhile have lost their requests with their predecessors, and a roll-up
 * in which they are missing would give their machines back (WIRE-05). A restart counts again.
 */
import { assign, setup } from 'xstate';
import type { ReasonName } from '../api/reasons.ts';
import { requiredStream } from './required.ts';

/**
 * How long demand waits: enough for thousands of pods at the default write budget; more of them
 * never had a request before.
 */
export const INITIAL_REQUESTS_MS_MAX = 60_000;

/** How many pods are without a request. */
export interface MissingRequests {
  readonly missing: number;
}

export interface InitialRequestsEvent extends MissingRequests {
  readonly type: 'requests.observed';
}

/** The statechart of the initial requests; `src/actors/capacity-requests` provides its stream. */
export const initialRequests = setup({
  types: {
    context: {} as MissingRequests,
    events: {} as InitialRequestsEvent,
    input: {} as MissingRequests,
    meta: {} as { readonly reason: ReasonName },
    tags: {} as 'waiting' | 'settled',
  },
  actors: {
    observeRequests: requiredStream<InitialRequestsEvent>('observeRequests'),
  },
  actions: {
    recordLate: () => {},
    setMissing: assign((_, { missing }: MissingRequests) => ({ missing })),
  },
  guards: {
    noneMissing: ({ context }) => context.missing === 0,
  },
  delays: { initialRequestsTimeout: INITIAL_REQUESTS_MS_MAX },
}).createMachine({
  id: 'initialRequests',
  description: 'The pods that have no CapacityRequest when a process begins to lead.',
  context: ({ input }) => input,
  initial: 'expecting',
  states: {
    expecting: {
      description: 'Pods are without a request: demand is not complete.',
      meta: { reason: 'InitialRequestsMissing' },
      tags: 'waiting',
      invoke: { id: 'observeRequests', src: 'observeRequests', input: {} },
      always: { guard: 'noneMissing', target: 'made' },
      on: {
        'requests.observed': { actions: { type: 'setMissing', params: ({ event }) => event } },
      },
      after: { initialRequestsTimeout: 'late' },
    },
    made: {
      description: 'No pod is without a request that could have one.',
      type: 'final',
      tags: 'settled',
    },
    late: {
      description: 'Pods are still without a request; demand is told without them.',
      type: 'final',
      tags: 'settled',
      entry: 'recordLate',
    },
  },
});
