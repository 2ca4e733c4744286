/**
 * The list and watch of EvictionRequests.
 *
 * Promises: nothing is listed before the interceptor has recovered; after every gap the list is
 * read again, so no request is missed; a watch that is silent for longer than the server keeps one
 * open is given up.
 */
import { assign, fromPromise, setup } from 'xstate';
import { type Attempts, backoffMs, failedOnce, noFailures, type Seed } from './backoff.ts';
import { numberAt, textAt } from './json.ts';
import type { KubernetesApi, ObjectList } from './kubernetes-api.ts';
import {
  errorTagOf,
  type KubernetesClient,
  KubernetesError,
  kubernetesError,
  type WatchLine,
} from './kubernetes-client.ts';
import { required } from './required.ts';

/** The server ends a watch after this time. */
const WATCH_SECONDS = 290;
/** A watch of which nothing was received for this time is dead; bookmarks come every minute. */
const SILENCE_MS = 320_000;

/** What a list or a watch ended with; '' is no version to continue from. */
export interface WatchOutcome {
  readonly resourceVersion: string;
  readonly problem: string | null;
  readonly retryAfterMs: number;
}

interface WatchContext {
  /** What an earlier process has left is mended. */
  readonly hasRecovered: boolean;
  readonly resourceVersion: string;
  readonly problem: string | null;
  readonly attempts: Attempts;
}

/** The statechart; `provideRequestWatch` gives it a client. */
export const requestWatch = setup({
  types: {
    context: {} as WatchContext,
    input: {} as { readonly seed: Seed },
    events: {} as { readonly type: 'watch.received' },
  },
  actors: {
    recover: required<WatchOutcome, Record<never, never>>('recover'),
    listRequests: required<WatchOutcome, Record<never, never>>('listRequests'),
    watchRequests: required<WatchOutcome, { readonly resourceVersion: string }>('watchRequests'),
  },
  delays: {
    backoff: ({ context }) => backoffMs(context.attempts),
    silence: SILENCE_MS,
  },
  guards: {
    hasFailed: ({ context }) => context.problem !== null,
    hasRecovered: ({ context }) => context.hasRecovered,
    mayContinue: ({ context }) => context.resourceVersion !== '',
  },
  actions: {
    setOutcome: assign(({ context }, { resourceVersion, problem, retryAfterMs }: WatchOutcome) => ({
      resourceVersion,
      problem,
      attempts: problem === null
        ? noFailures(context.attempts.seed)
        : failedOnce(context.attempts, retryAfterMs),
    })),
    setRecovered: assign(({ context }) => ({ hasRecovered: context.problem === null })),
    forgetVersion: assign({ resourceVersion: '' }),
    /** Provided where the interceptor runs. */
    logProblem: () => {},
  },
}).createMachine({
  id: 'requestWatch',
  context: ({ input }) => ({
    hasRecovered: false,
    resourceVersion: '',
    problem: null,
    attempts: noFailures(input.seed),
  }),
  initial: 'recovering',
  states: {
    recovering: {
      description: 'Mending what an earlier process has left.',
      invoke: {
        id: 'recover',
        src: 'recover',
        input: {},
        onDone: {
          target: 'recovered',
          actions: [
            { type: 'setOutcome', params: ({ event }) => event.output },
            'setRecovered',
          ],
        },
      },
    },
    recovered: {
      description: 'Deciding by the outcome.',
      always: [{ guard: 'hasFailed', target: 'backingOff' }, { target: 'listing' }],
    },
    listing: {
      description: 'Reading all requests.',
      invoke: {
        id: 'listRequests',
        src: 'listRequests',
        input: {},
        onDone: {
          target: 'deciding',
          actions: { type: 'setOutcome', params: ({ event }) => event.output },
        },
      },
    },
    deciding: {
      description: 'Deciding by the answer.',
      always: [
        { guard: 'hasFailed', target: 'backingOff' },
        { guard: 'mayContinue', target: 'watching' },
        { target: 'pausing' },
      ],
    },
    watching: {
      description: 'Receiving changes of requests.',
      initial: 'receiving',
      invoke: {
        id: 'watchRequests',
        src: 'watchRequests',
        input: ({ context: { resourceVersion } }) => ({ resourceVersion }),
        onDone: {
          target: 'pausing',
          actions: { type: 'setOutcome', params: ({ event }) => event.output },
        },
      },
      states: {
        receiving: {
          description: 'The watch is fresh.',
          on: { 'watch.received': { target: 'receiving', reenter: true } },
          after: { silence: { target: '#requestWatch.pausing', actions: 'forgetVersion' } },
        },
      },
    },
    pausing: {
      description: 'The watch has ended; the next one follows shortly.',
      always: { guard: 'hasFailed', target: 'backingOff' },
      after: {
        backoff: [
          { guard: 'mayContinue', target: 'watching' },
          { target: 'listing' },
        ],
      },
    },
    backingOff: {
      description: 'The API server refused or was not reached; waiting for the next attempt.',
      entry: 'logProblem',
      after: {
        backoff: [{ guard: 'hasRecovered', target: 'listing' }, { target: 'recovering' }],
      },
    },
  },
});

/** Receives what is listed and watched. */
export interface RequestReader {
  readonly recover: () => Promise<void>;
  readonly onList: (list: ObjectList) => void;
  readonly onLine: (line: WatchLine) => void;
  readonly onProblem: (problem: string) => void;
}

const failure = (cause: unknown): WatchOutcome => {
  const { _tag, message, retryAfterMs } = kubernetesError(cause);
  // A version that is too old is no failure: the list follows.
  return { resourceVersion: '', problem: _tag === 'Expired' ? null : message, retryAfterMs };
};

const checked = ({ type, object }: WatchLine): void => {
  if (type !== 'ERROR') return;
  const status = numberAt(object, 'code') ?? 500;
  const message = textAt(object, 'message') ?? 'the watch failed';
  throw new KubernetesError(errorTagOf(status), message, { status });
};

/** The statechart over a client. */
export const provideRequestWatch = (
  { api, client, path }: {
    readonly api: KubernetesApi;
    readonly client: KubernetesClient;
    readonly path: string;
  },
  reader: RequestReader,
): typeof requestWatch =>
  requestWatch.provide({
    actors: {
      recover: fromPromise(async (): Promise<WatchOutcome> => {
        try {
          await reader.recover();
          return { resourceVersion: '', problem: null, retryAfterMs: 0 };
        } catch (cause) {
          return failure(cause);
        }
      }),
      listRequests: fromPromise(async ({ signal }): Promise<WatchOutcome> => {
        try {
          const list = await api.list(path);
          if (!signal.aborted) reader.onList(list);
          return { resourceVersion: list.resourceVersion, problem: null, retryAfterMs: 0 };
        } catch (cause) {
          return failure(cause);
        }
      }),
      watchRequests: fromPromise(async ({ input, signal }): Promise<WatchOutcome> => {
        let { resourceVersion } = input;
        const query = new URLSearchParams({
          watch: 'true',
          allowWatchBookmarks: 'true',
          timeoutSeconds: `${WATCH_SECONDS}`,
          resourceVersion,
        });
        try {
          for await (const line of client.watch(`${path}?${query}`, signal)) {
            if (signal.aborted) break;
            checked(line);
            resourceVersion = textAt(line.object, 'metadata', 'resourceVersion') ?? resourceVersion;
            reader.onLine(line);
          }
          return { resourceVersion, problem: null, retryAfterMs: 0 };
        } catch (cause) {
          return failure(cause);
        }
      }),
    },
    actions: { logProblem: ({ context: { problem } }) => reader.onProblem(problem ?? '') },
  });
