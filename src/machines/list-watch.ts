/**
 * One collection of the API server: listed once, then watched.
 *
 * Promises: a watch starts only from a resourceVersion of a complete list or a watch; a closed
 * watch resumes without a list; only an expired resourceVersion or a request of a reader leads to a
 * list, at once unless the one before led nowhere; an expired continue token leads to one list in
 * large pages, and its failure to small ones again; silence longer than the idle deadline is a
 * fault; every retry has backoff with full jitter, after the wait that the API server requested,
 * and cut short when the API server answers another collection and requested none; only a watch
 * that delivered something resets the backoff, and one that never did is not resumed after the idle
 * deadline; a request that is not answered soon after the API server answered another one counts as
 * lost and is made again, once, so a slow list is not restarted over and over. Objects bypass the
 * statechart.
 */
import { assign, setup } from 'xstate';
import type { ReasonName } from '../api/reasons.ts';
import { backoffMs } from '../domain/backoff.ts';
import type { ListOutcome, WatchEnding } from '../domain/list-watch.ts';
import { nextSeed, type Seed, unitInterval } from '../domain/random.ts';
import { required } from './required.ts';

const RETRY = { firstMs: 800, lastMs: 30_000 };
/**
 * The server sends a bookmark about every minute; two and a half without any event are too many.
 */
const IDLE_DEADLINE_MS = 150_000;
/** Longer than a page takes; much shorter than the timeout of a request that was lost. */
const ANSWER_GRACE_MS = 5000;
/** Watches end after 5–10 minutes, each at its own time, so that servers rebalance them. */
const WATCH_SECONDS = { least: 300, most: 600 };

export interface ListWatchInput {
  /** The collection's name in logs and metrics. */
  readonly resource: string;
  readonly seed: Seed;
}

export interface ListWatchContext extends ListWatchInput {
  /** Failures since a watch last received something. */
  readonly attempt: number;
  /** Where to resume; null when a list is needed. */
  readonly resourceVersion: string | null;
  /** True when the current watch has received something. */
  readonly received: boolean;
  /** The last watch ended with a 410, and none has received anything since. */
  readonly expired: boolean;
  /** The current request is the second: the first counts as lost. */
  readonly repeated: boolean;
  /** True for one list after pages that took longer than the continue token lives. */
  readonly inLargePages: boolean;
  /** The delay that the server requested. */
  readonly retryAfterMs: number;
  /** Why the last list or watch failed; empty after a success. */
  readonly problem: string;
}

export type ListWatchEvent =
  /** Something arrived on the watch; sent once for each network chunk. */
  | { readonly type: 'watch.progressed'; readonly resourceVersion: string }
  /** A reader needs a list that begins after now. */
  | { readonly type: 'list.requested' }
  /** The API server answered another client of this process after a failure. */
  | { readonly type: 'server.answered' };

type Failure = Exclude<ListOutcome, { _tag: 'Listed' }> | Exclude<WatchEnding, { _tag: 'Ended' }>;

const watchSeconds = (seed: Seed): number =>
  WATCH_SECONDS.least +
  Math.floor((WATCH_SECONDS.most - WATCH_SECONDS.least) * unitInterval(seed));

const SILENT = { _tag: 'Fault', why: 'the watch ended without an event', retryAfterMs: 0 } as const;
const IDLE = { _tag: 'Fault', why: 'the watch timed out', retryAfterMs: 0 } as const;

/** Failures as they are; an end before any event is one, too. */
const failureOf = (outcome: ListOutcome | WatchEnding): Failure =>
  outcome._tag === 'Listed' || outcome._tag === 'Ended' ? SILENT : outcome;

const failing = ({ event }: { event: { output: ListOutcome | WatchEnding } }): Failure =>
  failureOf(event.output);

const LIST_FAILED = [
  { type: 'setFailure', params: failing },
  { type: 'setPaging', params: failing },
] as const;

/** The API server answers others: this request may be lost. */
const DOUBTING = { guard: 'notRepeated', target: 'doubted' } as const;

/** Resumes the watch, or lists where no resourceVersion is known. */
const RETRY_NOW = [
  { guard: 'resourceVersionKnown', target: 'watching' },
  { target: 'listing' },
] as const;

/** The statechart of a cache's source; `src/actors/informers` provides its acts. */
export const listWatch = setup({
  types: {
    context: {} as ListWatchContext,
    events: {} as ListWatchEvent,
    input: {} as ListWatchInput,
    tags: {} as 'settled' | 'waiting' | 'acting',
    meta: {} as { readonly reason: ReasonName },
  },
  actors: {
    listPages: required<ListOutcome, { readonly resource: string; readonly inLargePages: boolean }>(
      'listPages',
    ),
    followChanges: required<
      WatchEnding,
      {
        readonly resource: string;
        readonly resourceVersion: string;
        readonly timeoutSeconds: number;
      }
    >('followChanges'),
  },
  actions: {
    /** Publishes the collected pages as the collection. */
    adoptList: () => {},
    setFailure: assign(({ context }, failure: Failure) => ({
      attempt: context.attempt + 1,
      seed: nextSeed(context.seed),
      repeated: false,
      problem: failure.why,
      retryAfterMs: failure._tag === 'Fault' ? failure.retryAfterMs : 0,
    })),
    clearResourceVersion: assign({ resourceVersion: null, repeated: false }),
    setRepeated: assign({ repeated: true }),
    setExpired: assign({ expired: true }),
    /** The next list has large pages after the continue token expired, and only that one. */
    setPaging: assign(({ context }, { _tag }: Failure) => ({
      inLargePages: _tag === 'Expired' && !context.inLargePages,
    })),
    setResourceVersion: assign((_, outcome: ListOutcome) =>
      outcome._tag === 'Listed'
        ? {
          resourceVersion: outcome.resourceVersion,
          repeated: false,
          inLargePages: false,
          problem: '',
        }
        : {}
    ),
    setProgress: assign((_, resourceVersion: string) => ({
      resourceVersion,
      attempt: 0,
      received: true,
      expired: false,
      repeated: false,
      problem: '',
    })),
  },
  guards: {
    listed: (_, outcome: ListOutcome) => outcome._tag === 'Listed',
    expired: (_, outcome: ListOutcome | WatchEnding) => outcome._tag === 'Expired',
    /** The new list is not followed by a 410 again, so it needs no backoff. */
    expiredFirst: ({ context }, ending: WatchEnding) =>
      ending._tag === 'Expired' && !context.expired,
    refused: (_, outcome: ListOutcome | WatchEnding) => outcome._tag === 'Refused',
    endedAfterProgress: ({ context }, ending: WatchEnding) =>
      ending._tag === 'Ended' && context.received,
    notRepeated: ({ context }) => !context.repeated,
    resourceVersionKnown: ({ context }) => context.resourceVersion !== null,
    waitRequested: ({ context }) => context.retryAfterMs > 0,
  },
  delays: {
    retryBackoff: ({ context }) =>
      context.retryAfterMs + backoffMs(RETRY, context.attempt, context.seed),
    idleDeadline: IDLE_DEADLINE_MS,
    answerGrace: ANSWER_GRACE_MS,
  },
}).createMachine({
  id: 'listWatch',
  description: 'One collection of the API server, listed once and then watched.',
  context: ({ input }) => ({
    ...input,
    attempt: 0,
    resourceVersion: null,
    received: false,
    expired: false,
    repeated: false,
    inLargePages: false,
    retryAfterMs: 0,
    problem: '',
  }),
  initial: 'listing',
  on: { 'list.requested': { target: '.listing', actions: 'clearResourceVersion' } },
  states: {
    listing: {
      description: 'Reading the pages of a list; they are published when complete.',
      tags: 'acting',
      invoke: {
        id: 'listPages',
        src: 'listPages',
        input: ({ context: { resource, inLargePages } }) => ({ resource, inLargePages }),
        onDone: [
          {
            guard: { type: 'listed', params: ({ event }) => event.output },
            target: 'watching',
            actions: [
              { type: 'setResourceVersion', params: ({ event }) => event.output },
              'adoptList',
            ],
          },
          {
            guard: { type: 'refused', params: ({ event }) => event.output },
            target: 'refused',
            actions: LIST_FAILED,
          },
          { target: 'backingOff', actions: LIST_FAILED },
        ],
      },
      initial: 'asking',
      states: {
        asking: {
          description: 'Waiting for the pages.',
          on: { 'server.answered': DOUBTING },
        },
        doubted: {
          description: 'The API server answered another request; this one may be lost.',
          after: { answerGrace: { target: '#listWatch.listing', actions: 'setRepeated' } },
        },
      },
    },
    watching: {
      description: 'A watch is open or being opened from the last known resourceVersion.',
      entry: assign({ seed: ({ context }) => nextSeed(context.seed), received: false }),
      invoke: {
        id: 'followChanges',
        src: 'followChanges',
        input: ({ context }) => ({
          resource: context.resource,
          resourceVersion: context.resourceVersion ?? '',
          timeoutSeconds: watchSeconds(context.seed),
        }),
        onDone: [
          {
            guard: { type: 'endedAfterProgress', params: ({ event }) => event.output },
            target: 'watching',
            reenter: true,
          },
          {
            guard: { type: 'expiredFirst', params: ({ event }) => event.output },
            target: 'listing',
            actions: [
              { type: 'setFailure', params: failing },
              'clearResourceVersion',
              'setExpired',
            ],
          },
          {
            guard: { type: 'expired', params: ({ event }) => event.output },
            target: 'backingOff',
            actions: [{ type: 'setFailure', params: failing }, 'clearResourceVersion'],
          },
          {
            guard: { type: 'refused', params: ({ event }) => event.output },
            target: 'refused',
            actions: { type: 'setFailure', params: failing },
          },
          { target: 'backingOff', actions: { type: 'setFailure', params: failing } },
        ],
      },
      initial: 'opening',
      states: {
        opening: {
          description: 'Waiting for the first event of the watch.',
          on: {
            'watch.progressed': {
              target: 'following',
              actions: { type: 'setProgress', params: ({ event }) => event.resourceVersion },
            },
            'server.answered': DOUBTING,
          },
          after: {
            // A server that was restored from a backup is silent about a version of its future.
            idleDeadline: {
              target: '#listWatch.backingOff',
              actions: [{ type: 'setFailure', params: IDLE }, 'clearResourceVersion'],
            },
          },
        },
        doubted: {
          description: 'The API server answered another request; this watch may not be open.',
          on: {
            'watch.progressed': {
              target: 'following',
              actions: { type: 'setProgress', params: ({ event }) => event.resourceVersion },
            },
          },
          after: { answerGrace: { target: '#listWatch.watching', actions: 'setRepeated' } },
        },
        following: {
          description: 'Receiving events; each chunk resets the idle deadline.',
          tags: 'settled',
          on: {
            'watch.progressed': {
              target: 'following',
              reenter: true,
              actions: { type: 'setProgress', params: ({ event }) => event.resourceVersion },
            },
          },
          after: {
            idleDeadline: {
              target: '#listWatch.backingOff',
              actions: { type: 'setFailure', params: IDLE },
            },
          },
        },
      },
    },
    backingOff: {
      description: 'The last list or watch failed; waiting before a retry. The cache stays in use.',
      meta: { reason: 'CollectionFailing' },
      tags: 'waiting',
      on: {
        'list.requested': { actions: 'clearResourceVersion' },
        'server.answered': [{ guard: 'waitRequested' }, ...RETRY_NOW],
      },
      after: { retryBackoff: RETRY_NOW },
    },
    refused: {
      description: 'The API server refuses this collection; retries, but a person must act.',
      meta: { reason: 'CollectionRefused' },
      tags: 'waiting',
      on: { 'list.requested': { actions: 'clearResourceVersion' } },
      after: { retryBackoff: RETRY_NOW },
    },
  },
});
