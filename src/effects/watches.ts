/**
 * Lists collections in pages and watches changes, for the `listWatch` statechart.
 *
 * Promises: every result is an outcome, never a failure; a page is passed on as soon as it is
 * parsed and not kept; nothing is passed on after an interruption. Exceptions of `onPage` or
 * `onLines` are defects.
 */
import { Effect } from 'effect';
import { listOrEmptyAt, numberAt, textAt } from '../domain/json.ts';
import {
  type ListOutcome,
  meaningOf,
  type StatusMeaning,
  type WatchEnding,
} from '../domain/list-watch.ts';
import { KubeApi, type KubeCall, type WatchLine } from './kube-api.ts';
import { sentenceOf } from './kubeconfig.ts';

/** Objects in one page. */
export const PAGE_SIZE = 500;
/** The timeout of one page, or of the whole list. */
const PAGE_TIMEOUT_MS = 60_000;
const WHOLE_TIMEOUT_MS = 300_000;
/** The maximum delay that a server may request. */
const RETRY_AFTER_MS_MAX = 60_000;

/** The objects: a collection's path and its selectors. */
export interface Selection {
  /** Such as `/api/v1/nodes`. */
  readonly path: string;
  readonly query?: {
    readonly labelSelector?: string;
    readonly fieldSelector?: string;
  };
}

const queryOf = ({ query }: Selection): Record<string, string> => ({
  ...(query?.labelSelector === undefined ? {} : { labelSelector: query.labelSelector }),
  ...(query?.fieldSelector === undefined ? {} : { fieldSelector: query.fieldSelector }),
});

const fault = (why: string, retryAfterSeconds = 0) => ({
  _tag: 'Fault' as const,
  why,
  retryAfterMs: Math.min(retryAfterSeconds * 1000, RETRY_AFTER_MS_MAX),
});

const outcomeOf = (meaning: StatusMeaning, why: string, retryAfterSeconds = 0) =>
  meaning === 'Fault' ? fault(why, retryAfterSeconds) : { _tag: meaning, why };

/** Lists all of `selection`; `onPage` gets the raw objects of each page. */
export const listPages = (
  selection: Selection,
  paged: boolean,
  onPage: (objects: readonly unknown[]) => void,
): Effect.Effect<ListOutcome, never, KubeApi> => {
  const pageAfter = (token: string): KubeCall => ({
    method: 'GET',
    path: selection.path,
    query: {
      ...queryOf(selection),
      ...(paged ? { limit: String(PAGE_SIZE) } : {}),
      ...(token === '' ? {} : { continue: token }),
    },
    timeoutMs: paged ? PAGE_TIMEOUT_MS : WHOLE_TIMEOUT_MS,
  });
  return Effect.gen(function* (): Effect.fn.Return<ListOutcome, never, KubeApi> {
    const api = yield* KubeApi;
    let token = '';
    while (true) {
      const answer = yield* api.call(pageAfter(token)).pipe(
        Effect.catch(({ why }) => Effect.succeed(fault(why))),
      );
      if ('_tag' in answer) return answer;
      const { status, body } = answer;
      if (status !== 200) {
        const why = textAt(body, 'message') ?? `status ${status}`;
        return outcomeOf(meaningOf(status, why), why, answer.retryAfterSeconds);
      }
      onPage(listOrEmptyAt(body, 'items'));
      token = textAt(body, 'metadata', 'continue') ?? '';
      if (token !== '') continue;
      const resourceVersion = textAt(body, 'metadata', 'resourceVersion') ?? '';
      return resourceVersion === ''
        ? fault('the list has no resourceVersion')
        : { _tag: 'Listed', resourceVersion };
    }
  });
};

/** Where to resume, and for how long. */
export interface Following {
  readonly resourceVersion: string;
  readonly timeoutSeconds: number;
}

const endingOf = ({ object }: WatchLine): WatchEnding => {
  const why = textAt(object, 'message') ?? 'the watch reported an error';
  const meaning = meaningOf(numberAt(object, 'code') ?? 500, why);
  return meaning === 'Expired' ? { _tag: 'Expired', why } : fault(why);
};

/** The next lines, or how the watch ended. */
const nextOf = async (
  lines: AsyncIterator<readonly WatchLine[]>,
): Promise<readonly WatchLine[] | WatchEnding> => {
  try {
    const { done, value } = await lines.next();
    return done === true ? { _tag: 'Ended' } : value;
  } catch (cause) {
    return fault(sentenceOf(cause));
  }
};

const followLines = async (
  iterable: AsyncIterable<readonly WatchLine[]>,
  onLines: (lines: readonly WatchLine[]) => void,
  signal: AbortSignal,
): Promise<WatchEnding> => {
  const iterator = iterable[Symbol.asyncIterator]();
  while (true) {
    const next = await nextOf(iterator);
    if (signal.aborted) return { _tag: 'Ended' };
    if ('_tag' in next) return next;
    const failed = next.findIndex(({ type }) => type === 'ERROR');
    if (failed !== 0) onLines(failed < 0 ? next : next.slice(0, failed));
    const failure = next[failed];
    if (failure !== undefined) return endingOf(failure);
  }
};

/**
 * Watches the changes after `following.revision` until the watch ends; `onLines` gets the events of
 * each network chunk, none when a chunk ends within its first. An error event of the server is
 * neither an event nor progress.
 */
export const followChanges = (
  selection: Selection,
  following: Following,
  onLines: (lines: readonly WatchLine[]) => void,
): Effect.Effect<WatchEnding, never, KubeApi> =>
  Effect.scoped(Effect.gen(function* () {
    const api = yield* KubeApi;
    const lines = yield* api.watch({
      path: selection.path,
      query: {
        ...queryOf(selection),
        watch: 'true',
        allowWatchBookmarks: 'true',
        resourceVersion: following.resourceVersion,
        timeoutSeconds: String(following.timeoutSeconds),
      },
    });
    return yield* Effect.promise((signal) => followLines(lines, onLines, signal));
  })).pipe(
    Effect.catchTags({
      WatchRefused: ({ status, message, retryAfterSeconds }) =>
        Effect.succeed(
          outcomeOf(meaningOf(status, message), message || `status ${status}`, retryAfterSeconds),
        ),
      NotSent: ({ why }) => Effect.succeed(fault(why)),
      AnswerLost: ({ why }) => Effect.succeed(fault(why)),
    }),
  );
