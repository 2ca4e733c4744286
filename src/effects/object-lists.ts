/**
 * Whole collections read once, for commands that a person waits for.
 *
 * Promises: changes nothing; keeps of each object only what `project` keeps; a list that the API
 * server forgot half way is read again in one piece; a refusal says what it was, in one sentence.
 */
import { Effect } from 'effect';
import { listOrEmptyAt, textAt } from '../domain/json.ts';
import { KubeApi, type KubeFault } from './kube-api.ts';
import { PAGE_SIZE, type Selection } from './watches.ts';

/** What became of a list. */
export type ListRead<T> =
  | { readonly _tag: 'Listed'; readonly objects: readonly T[] }
  /** The API server answered, but not with the list: no permission, no such kind, trouble. */
  | { readonly _tag: 'Refused'; readonly status: number; readonly why: string };

/** A page of large objects from a slow server; without pages, all of it. */
const PAGE_TIMEOUT_MS = 60_000;
const GONE = 410;

const refusalOf = (status: number, body: unknown): ListRead<never> => ({
  _tag: 'Refused',
  status,
  why: status === 404
    ? 'the API server does not know this kind'
    : textAt(body, 'message') ?? `HTTP status ${status}`,
});

/** Lists all of `selection`; an object that `project` gives nothing for is left out. */
export const readList = <T>(
  { path, query }: Selection,
  project: (raw: unknown) => T | undefined,
): Effect.Effect<ListRead<T>, KubeFault, KubeApi> =>
  Effect.gen(function* (): Effect.fn.Return<ListRead<T>, KubeFault, KubeApi> {
    const api = yield* KubeApi;
    let objects: T[] = [];
    let page: Readonly<Record<string, string>> = { limit: String(PAGE_SIZE) };
    while (true) {
      const { status, body } = yield* api.call({
        method: 'GET',
        path,
        query: { ...query, ...page },
        timeoutMs: PAGE_TIMEOUT_MS,
      });
      if (status === GONE && page['limit'] !== undefined) {
        objects = [];
        page = {};
        continue;
      }
      if (status !== 200) return refusalOf(status, body);
      for (const raw of listOrEmptyAt(body, 'items')) {
        const object = project(raw);
        if (object !== undefined) objects.push(object);
      }
      const token = textAt(body, 'metadata', 'continue') ?? '';
      if (token === '') return { _tag: 'Listed', objects };
      page = { ...page, continue: token };
    }
  });
