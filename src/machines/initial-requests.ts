/**
 * The pods without a CapacityRequest when a process becomes leader.
 *
 * Promises: `made` when each of them has one, needs none, or cannot get one; `late` when that takes
 * longer than its limit. Until then demand is lower than the cluster needs: requests of replaced
 * pods were deleted with them, and a roll-up without their successors would return machines
 * (WIRE-05). A restart counts again.
 */
import { assign, setup } from 'xstate';
import type { ReasonName } from '../api/reasons.ts';
import { requiredStream } from './required.ts';

/**
 * How long demand waits: enough for thousands of pods at the default write budget; larger numbers
 * never had a request before.
 */
export const INITIAL_REQUESTS_MS_MAX = 60_000;

/** The number of pods without a request. */
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
  description: 'The pods without a CapacityRequest when a process becomes leader.',
  context: ({ input }) => input,
  initial: 'expecting',
  states: {
    expecting: {
      description: 'Pods lack requests: demand is not complete.',
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
      description: 'Every pod that can have a request has one.',
      type: 'final',
      tags: 'settled',
    },
    late: {
      description: 'Pods still lack requests; demand is reported without them.',
      type: 'final',
      tags: 'settled',
      entry: 'recordLate',
    },
  },
});
