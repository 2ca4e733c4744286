/**
 * Lists collections in pages and watches changes, for the `listWatch` statechart.
 *
 * Promises: every result is an outcome, never a failure; a page is passed on as soon as it is
 * parsed and not kept; nothing is passed on after an interruption. Exceptions of readers
 * are defects.
 */
import { getHeapStatistics } from 'node:v8';
import { Effect } from 'effect';
import { listOrEmptyAt, numberAt, textAt } from '../domain/json.ts';
import {
  type ListOutcome,
  meaningOf,
  type StatusMeaning,
  type WatchEnding,
} from '../domain/list-watch.ts';
import {
  LARGE_PAGES,
  type ListPart,
  pageAfter,
  SMALL_PAGES,
  smallerPage,
  wholeListBytes,
} from '../domain/list-limits.ts';
import { KubeApi, type KubeCall, type KubeFault, type WatchLine } from './kube-api.ts';
import { sentenceOf } from './api-credentials.ts';

/** The timeout of one page, and of a large one or the whole list. */
const PAGE_TIMEOUT_MS = 60_000;
const LARGE_TIMEOUT_MS = 300_000;
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

/** Receives a list. */
export interface ListReader {
  /** The raw objects of each page. */
  readonly addPage: (objects: readonly unknown[]) => void;
  /** The list begins anew: the pages so far are void. */
  readonly dropPages: () => void;
  /** A page exceeds its bytes and is read again with fewer objects. */
  readonly onTooLarge: () => void;
}

/** A page, and where it begins. */
interface PageRequest extends ListPart {
  readonly token: string;
}

const pageCall = (selection: Selection, { token, objects, bytes }: PageRequest): KubeCall => ({
  method: 'GET',
  path: selection.path,
  query: {
    ...queryOf(selection),
    ...(objects === null ? {} : { limit: String(objects) }),
    ...(token === '' ? {} : { continue: token }),
  },
  timeoutMs: bytes === SMALL_PAGES.bytes ? PAGE_TIMEOUT_MS : LARGE_TIMEOUT_MS,
  ...(objects === 1 ? {} : { answerBytesMax: bytes }),
});

const failedPage = (failure: KubeFault) =>
  failure._tag === 'AnswerLost' && failure.isTooLarge === true
    ? { _tag: 'TooLarge' as const }
    : fault(failure.why);

const wholeList = (): ListPart => ({
  objects: null,
  bytes: wholeListBytes(getHeapStatistics().heap_size_limit),
});

const mebibytes = (bytes: number): string => `${Math.floor(bytes / 1024 / 1024)} MiB`;

/**
 * Lists all of `selection` in pages. A continue token that expires in large pages, too, leads to
 * all at once, if the heap can hold it. The token that comes with its 410 is of no use: the pages
 * after it are newer than those before it, and no watch follows both.
 */
export const listPages = (
  selection: Selection,
  inLargePages: boolean,
  { addPage, dropPages, onTooLarge }: ListReader,
): Effect.Effect<ListOutcome, never, KubeApi> =>
  Effect.gen(function* (): Effect.fn.Return<ListOutcome, never, KubeApi> {
    const api = yield* KubeApi;
    const pages = inLargePages ? LARGE_PAGES : SMALL_PAGES;
    let token = '';
    let { objects, bytes }: ListPart = pages;
    while (true) {
      const answer = yield* api.call(pageCall(selection, { token, objects, bytes })).pipe(
        Effect.catch((failure) => Effect.succeed(failedPage(failure))),
      );
      if ('_tag' in answer) {
        if (answer._tag === 'Fault') return answer;
        if (objects === 1) return fault('an object is too large');
        if (objects === null) {
          return fault(`its pages expire, and the whole list exceeds ${mebibytes(bytes)}`);
        }
        onTooLarge();
        objects = smallerPage(objects);
        continue;
      }
      const { status, body, characters = 0 } = answer;
      if (status !== 200) {
        const why = textAt(body, 'message') ?? `status ${status}`;
        const meaning = meaningOf(status, why);
        const isSecond = meaning === 'Expired' && inLargePages && token !== '' && objects !== null;
        if (!isSecond) return outcomeOf(meaning, why, answer.retryAfterSeconds);
        dropPages();
        token = '';
        ({ objects, bytes } = wholeList());
        continue;
      }
      addPage(listOrEmptyAt(body, 'items'));
      const next = textAt(body, 'metadata', 'continue') ?? '';
      if (next !== '') {
        if (next === token) return fault('the list repeats its continue token');
        token = next;
        if (objects !== null) objects = pageAfter(objects, characters, pages);
        continue;
      }
      const resourceVersion = textAt(body, 'metadata', 'resourceVersion') ?? '';
      return resourceVersion === ''
        ? fault('the list has no resourceVersion')
        : { _tag: 'Listed', resourceVersion };
    }
  });

/** Receives a watch. */
export interface WatchReader {
  /** The API server has answered the request: what changes from now on arrives. */
  readonly watchOpened: () => void;
  /** The events of each network chunk. */
  readonly applyLines: (lines: readonly WatchLine[]) => void;
}

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
 * Watches the changes after `following.revision` until the watch ends; `reader` gets the events of
 * each network chunk, none when a chunk ends within its first. An error event of the server is
 * neither an event nor progress.
 */
export const followChanges = (
  selection: Selection,
  following: Following,
  { watchOpened, applyLines }: WatchReader,
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
    yield* Effect.sync(watchOpened);
    return yield* Effect.promise((signal) => followLines(lines, applyLines, signal));
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
