/**
 * Whether the demand of this process is current: from the lease, and from each failure of a
 * collection, until demand may be built from the caches again.
 *
 * Promises: demand is current only when every collection that it comes from was listed after the
 * lease was won and after its last failure, and is watched since: requests first, then pods, so
 * that a pod whose request was collected in between is not hidden by its predecessor; and when each
 * of those pods has its request, needs none, or cannot get one, or a minute is over (WIRE-05).
 * Until then roll-ups repeat the last demand, or there are none. A restart lists again.
 */
import { assign, setup } from 'xstate';
import type { ReasonName } from '../api/reasons.ts';
import { required, requiredStream } from './required.ts';

/**
 * How long demand waits for the requests of pods: enough for thousands of pods at the default write
 * budget; larger numbers never had a request before.
 */
export const MISSING_REQUESTS_MS_MAX = 60_000;

export interface DemandSyncContext {
  /** Pods without a request; null before they were counted. */
  readonly missing: number | null;
}

export interface MissingRequestsObserved {
  readonly type: 'requests.observed';
  readonly missing: number;
}

export type DemandSyncEvent =
  | { readonly type: 'leadership.won' }
  | { readonly type: 'leadership.lost' }
  /** The list or watch of CapacityRequests failed. */
  | { readonly type: 'requests.failed' }
  /** The list or watch of pods or namespaces failed. */
  | { readonly type: 'pods.failed' }
  | MissingRequestsObserved;

const LISTING_AGAIN = { target: '#demandSync.listingRequests' } as const;

/** The statechart of current demand; `src/actors/demand` provides its actors and actions. */
export const demandSync = setup({
  types: {
    context: {} as DemandSyncContext,
    events: {} as DemandSyncEvent,
    meta: {} as { readonly reason: ReasonName },
    tags: {} as 'waiting' | 'settled',
  },
  actors: {
    listRequests: required<void, undefined>('listRequests'),
    listPods: required<void, undefined>('listPods'),
    observeRequests: requiredStream<MissingRequestsObserved>('observeRequests'),
  },
  actions: {
    /** Roll-ups repeat the demand of this moment; nothing is written for pods. */
    holdDemand: () => {},
    /** The requests of pods are written again. */
    writeRequests: () => {},
    /** Roll-ups carry the demand of the caches. */
    releaseDemand: () => {},
    recordLate: () => {},
    clearMissing: assign({ missing: null }),
    setMissing: assign((_, { missing }: MissingRequestsObserved) => ({ missing })),
  },
  guards: {
    noneMissing: ({ context }) => context.missing === 0,
  },
  delays: { missingRequestsTimeout: MISSING_REQUESTS_MS_MAX },
}).createMachine({
  id: 'demandSync',
  description: 'Whether the demand of this process is current.',
  context: { missing: null },
  initial: 'standby',
  on: { 'leadership.won': LISTING_AGAIN, 'leadership.lost': '.standby' },
  states: {
    standby: {
      description: 'This process is not the leader: it reports no demand.',
      entry: 'holdDemand',
      tags: 'settled',
    },
    listingRequests: {
      description: 'The cache of CapacityRequests may be behind: listing and watching them again.',
      meta: { reason: 'DemandNotCurrent' },
      tags: 'waiting',
      entry: ['holdDemand', 'clearMissing'],
      invoke: { id: 'listRequests', src: 'listRequests', input: undefined, onDone: 'listingPods' },
    },
    listingPods: {
      description: 'CapacityRequests are current; listing and watching the pods that need them.',
      meta: { reason: 'DemandNotCurrent' },
      tags: 'waiting',
      invoke: { id: 'listPods', src: 'listPods', input: undefined, onDone: 'expecting' },
      on: { 'requests.failed': LISTING_AGAIN },
    },
    expecting: {
      description: 'Waiting for the requests of pods that lack one.',
      meta: { reason: 'InitialRequestsMissing' },
      tags: 'waiting',
      entry: 'writeRequests',
      invoke: { id: 'observeRequests', src: 'observeRequests', input: {} },
      always: { guard: 'noneMissing', target: 'current' },
      on: {
        'requests.observed': { actions: { type: 'setMissing', params: ({ event }) => event } },
        'requests.failed': LISTING_AGAIN,
        'pods.failed': LISTING_AGAIN,
      },
      after: { missingRequestsTimeout: { target: 'current', actions: 'recordLate' } },
    },
    current: {
      description: 'Roll-ups carry the demand of the caches.',
      tags: 'settled',
      entry: 'releaseDemand',
      on: { 'requests.failed': LISTING_AGAIN, 'pods.failed': LISTING_AGAIN },
    },
  },
});
