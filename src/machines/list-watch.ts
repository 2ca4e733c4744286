/**
 * One collection of the API server, listed once and then followed.
 *
 * Promises: a watch starts only from a revision that a complete list or a watch gave; an ended
 * watch is opened again from where it was, without a list; only a revision that the server has
 * forgotten leads to a list; silence longer than the idle deadline is a fault; every retry is
 * backed off with full jitter, and only a watch that says something resets the backoff. Objects do
 * not pass through here.
 */
import { assign, setup } from 'xstate';
import type { ReasonName } from '../api/reasons.ts';
import { backoffMs } from '../domain/backoff.ts';
import type { ListOutcome, WatchEnding } from '../domain/list-watch.ts';
import { nextSeed, type Seed, unitInterval } from '../domain/random.ts';
import { required } from './required.ts';

const RETRY = { firstMs: 800, lastMs: 30_000 };
/** The server sends a bookmark about every minute; two and a half without a word are too many. */
const IDLE_DEADLINE_MS = 150_000;
/** Watches end after 5–10 minutes, each at its own time, so that servers share them anew. */
const WATCH_SECONDS = { least: 300, most: 600 };

export interface ListWatchInput {
  /** Which collection, as logs and metrics name it. */
  readonly resource: string;
  readonly seed: Seed;
}

export interface ListWatchContext extends ListWatchInput {
  /** Failures since a watch last received something. */
  readonly attempt: number;
  /** From where to follow; null when only a list can tell. */
  readonly revision: string | null;
  /** True when the current watch has received something. */
  readonly received: boolean;
  /** False after pages that took longer than the server remembers. */
  readonly paged: boolean;
  /** What the server asked us to wait. */
  readonly retryAfterMs: number;
  /** Why the last act failed; empty while all is well. */
  readonly problem: string;
}

/** Something arrived on the watch; sent once for each network chunk. */
export type ListWatchEvent = { readonly type: 'watch.progressed'; readonly revision: string };

type Failure = Exclude<ListOutcome, { _tag: 'Listed' }> | Exclude<WatchEnding, { _tag: 'Ended' }>;

const watchSeconds = (seed: Seed): number =>
  WATCH_SECONDS.least +
  Math.floor((WATCH_SECONDS.most - WATCH_SECONDS.least) * unitInterval(seed));

const SILENT = { _tag: 'Fault', why: 'the watch ended without a word', retryAfterMs: 0 } as const;
const IDLE = { _tag: 'Fault', why: 'the watch fell silent', retryAfterMs: 0 } as const;

/** Failures as they are; an end that came before any word is one, too. */
const failureOf = (outcome: ListOutcome | WatchEnding): Failure =>
  outcome._tag === 'Listed' || outcome._tag === 'Ended' ? SILENT : outcome;

const failing = ({ event }: { event: { output: ListOutcome | WatchEnding } }): Failure =>
  failureOf(event.output);

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
    listPages: required<ListOutcome, { readonly resource: string; readonly paged: boolean }>(
      'listPages',
    ),
    followChanges: required<
      WatchEnding,
      { readonly resource: string; readonly revision: string; readonly timeoutSeconds: number }
    >('followChanges'),
  },
  actions: {
    /** Shows the collected pages as the collection. */
    adoptList: () => {},
    noteFailure: assign(({ context }, failure: Failure) => ({
      attempt: context.attempt + 1,
      seed: nextSeed(context.seed),
      problem: failure.why,
      retryAfterMs: failure._tag === 'Fault' ? failure.retryAfterMs : 0,
    })),
    forgetRevision: assign({ revision: null }),
    /** Pages that were too slow for the server are not tried again in pages. */
    askForWhole: assign({ paged: false }),
    takeRevision: assign((_, outcome: ListOutcome) =>
      outcome._tag === 'Listed' ? { revision: outcome.revision, paged: true, problem: '' } : {}
    ),
    noteProgress: assign((_, revision: string) => ({
      revision,
      attempt: 0,
      received: true,
      problem: '',
    })),
  },
  guards: {
    listed: (_, outcome: ListOutcome) => outcome._tag === 'Listed',
    expired: (_, outcome: ListOutcome | WatchEnding) => outcome._tag === 'Expired',
    expiredAfterProgress: ({ context }, ending: WatchEnding) =>
      ending._tag === 'Expired' && context.attempt === 0,
    refused: (_, outcome: ListOutcome | WatchEnding) => outcome._tag === 'Refused',
    endedAfterProgress: ({ context }, ending: WatchEnding) =>
      ending._tag === 'Ended' && context.received,
    revisionKnown: ({ context }) => context.revision !== null,
  },
  delays: {
    retryBackoff: ({ context }) =>
      Math.max(context.retryAfterMs, backoffMs(RETRY, context.attempt, context.seed)),
    idleDeadline: IDLE_DEADLINE_MS,
  },
}).createMachine({
  id: 'listWatch',
  description: 'One collection of the API server, listed once and then followed.',
  context: ({ input }) => ({
    ...input,
    attempt: 0,
    revision: null,
    received: false,
    paged: true,
    retryAfterMs: 0,
    problem: '',
  }),
  initial: 'listing',
  states: {
    listing: {
      description: 'Collects the pages of a complete list; nothing of it is shown yet.',
      tags: 'acting',
      invoke: {
        id: 'listPages',
        src: 'listPages',
        input: ({ context }) => ({ resource: context.resource, paged: context.paged }),
        onDone: [
          {
            guard: { type: 'listed', params: ({ event }) => event.output },
            target: 'watching',
            actions: [
              { type: 'takeRevision', params: ({ event }) => event.output },
              'adoptList',
            ],
          },
          {
            guard: { type: 'expired', params: ({ event }) => event.output },
            target: 'backingOff',
            actions: [{ type: 'noteFailure', params: failing }, 'askForWhole'],
          },
          {
            guard: { type: 'refused', params: ({ event }) => event.output },
            target: 'refused',
            actions: { type: 'noteFailure', params: failing },
          },
          { target: 'backingOff', actions: { type: 'noteFailure', params: failing } },
        ],
      },
    },
    watching: {
      description: 'A watch is open, or being opened, from the last known revision.',
      entry: assign({ seed: ({ context }) => nextSeed(context.seed), received: false }),
      invoke: {
        id: 'followChanges',
        src: 'followChanges',
        input: ({ context }) => ({
          resource: context.resource,
          revision: context.revision ?? '',
          timeoutSeconds: watchSeconds(context.seed),
        }),
        onDone: [
          {
            guard: { type: 'endedAfterProgress', params: ({ event }) => event.output },
            target: 'watching',
            reenter: true,
          },
          {
            guard: { type: 'expiredAfterProgress', params: ({ event }) => event.output },
            target: 'listing',
            actions: [{ type: 'noteFailure', params: failing }, 'forgetRevision'],
          },
          {
            guard: { type: 'expired', params: ({ event }) => event.output },
            target: 'backingOff',
            actions: [{ type: 'noteFailure', params: failing }, 'forgetRevision'],
          },
          {
            guard: { type: 'refused', params: ({ event }) => event.output },
            target: 'refused',
            actions: { type: 'noteFailure', params: failing },
          },
          { target: 'backingOff', actions: { type: 'noteFailure', params: failing } },
        ],
      },
      initial: 'opening',
      states: {
        opening: {
          description: 'The watch was asked for and has said nothing yet.',
          on: {
            'watch.progressed': {
              target: 'following',
              actions: { type: 'noteProgress', params: ({ event }) => event.revision },
            },
          },
          after: {
            idleDeadline: {
              target: '#listWatch.backingOff',
              actions: { type: 'noteFailure', params: IDLE },
            },
          },
        },
        following: {
          description: 'Changes and bookmarks arrive; each chunk arms the idle deadline anew.',
          tags: 'settled',
          on: {
            'watch.progressed': {
              target: 'following',
              reenter: true,
              actions: { type: 'noteProgress', params: ({ event }) => event.revision },
            },
          },
          after: {
            idleDeadline: {
              target: '#listWatch.backingOff',
              actions: { type: 'noteFailure', params: IDLE },
            },
          },
        },
      },
    },
    backingOff: {
      description: 'The last act failed; waits before the next. What is known stays shown.',
      meta: { reason: 'CollectionFailing' },
      tags: 'waiting',
      after: {
        retryBackoff: [{ guard: 'revisionKnown', target: 'watching' }, { target: 'listing' }],
      },
    },
    refused: {
      description: 'The API server refuses this collection: a person has to act. Asked again.',
      meta: { reason: 'CollectionRefused' },
      tags: 'waiting',
      after: {
        retryBackoff: [{ guard: 'revisionKnown', target: 'watching' }, { target: 'listing' }],
      },
    },
  },
});
