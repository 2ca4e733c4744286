/**
 * Reads whole collections once, for interactive commands.
 *
 * Promises: read-only; keeps only the projection of each object; a list whose continue token
 * expired is read again in large pages, and then without pages; a refusal is one sentence.
 */
import { Effect } from 'effect';
import { listOrEmptyAt, textAt } from '../domain/json.ts';
import { LIST_LIMITS } from '../domain/list-limits.ts';
import { KubeApi, type KubeFault } from './kube-api.ts';
import type { Selection } from './watches.ts';

/** A list as the API server gave it. */
export interface CompleteList {
  readonly objects: readonly unknown[];
  readonly resourceVersion: string;
}

/** The outcome of a list. */
export type ListRead<T> =
  | { readonly _tag: 'Listed'; readonly objects: readonly T[]; readonly resourceVersion: string }
  /** The API server refused the list: no permission, unknown resource, or an error. */
  | { readonly _tag: 'Refused'; readonly status: number; readonly why: string };

/** The timeout of a page of large objects from a slow server, or of the whole list. */
const PAGE_TIMEOUT_MS = 60_000;
const GONE = 410;

type Page = Readonly<Record<string, string>>;

const pageOf = (objects: number): Page => (objects === 0 ? {} : { limit: String(objects) });

const refusalOf = (status: number, body: unknown): ListRead<never> => ({
  _tag: 'Refused',
  status,
  why: status === 404
    ? 'the API server does not serve this resource'
    : textAt(body, 'message') ?? `HTTP status ${status}`,
});

/**
 * Lists all of `selection`; objects without a projection are excluded. `pageObjects` 0: in one
 * page.
 */
export const readList = <T>(
  { path, query }: Selection,
  project: (raw: unknown) => T | undefined,
  pageObjects: number = LIST_LIMITS.pageObjects,
): Effect.Effect<ListRead<T>, KubeFault, KubeApi> =>
  Effect.gen(function* (): Effect.fn.Return<ListRead<T>, KubeFault, KubeApi> {
    const api = yield* KubeApi;
    let objects: T[] = [];
    let page = pageOf(pageObjects);
    const further = [pageOf(Math.max(pageObjects, LIST_LIMITS.largePageObjects)), pageOf(0)];
    while (true) {
      const { status, body } = yield* api.call({
        method: 'GET',
        path,
        query: { ...query, ...page },
        timeoutMs: PAGE_TIMEOUT_MS,
      });
      if (status === GONE && page['limit'] !== undefined) {
        objects = [];
        page = further.shift() ?? {};
        continue;
      }
      if (status !== 200) return refusalOf(status, body);
      for (const raw of listOrEmptyAt(body, 'items')) {
        const object = project(raw);
        if (object !== undefined) objects.push(object);
      }
      const token = textAt(body, 'metadata', 'continue') ?? '';
      if (token === '') {
        const resourceVersion = textAt(body, 'metadata', 'resourceVersion') ?? '';
        return { _tag: 'Listed', objects, resourceVersion };
      }
      page = { ...page, continue: token };
    }
  });
