/** Lists in pages from an API server that serves the objects of a selector. */
import { Effect, Layer } from 'effect';
import { expect, test } from 'vitest';
import { KubeApi, type KubeCall, WatchRefused } from '../../../src/effects/kube-api.ts';
import { followChanges, listPages } from '../../../src/effects/watches.ts';
import { unwatched } from '../../support/api/fake-api.ts';

const NAMES = ['a-1', 'b-1', 'a-2', 'b-2', 'a-3'];

/** One object a page; `continue` is the index of the next, as in a real server without selector. */
const pageOf = ({ query }: KubeCall) => {
  const selected = NAMES.filter((name) => name.startsWith(query?.['labelSelector'] ?? ''));
  const at = Number(query?.['continue'] ?? 0);
  const next = at + 1 < selected.length ? String(at + 1) : '';
  return {
    status: 200,
    body: {
      metadata: { resourceVersion: '7', continue: next },
      items: selected.slice(at, at + 1).map((name) => ({ metadata: { name } })),
    },
  };
};

test('every page of a list has the objects of its selector only', async () => {
  const listed: unknown[] = [];
  const api = Layer.succeed(KubeApi, {
    call: (call) => Effect.sync(() => pageOf(call)),
    watch: unwatched,
  });
  const outcome = await Effect.runPromise(
    listPages(
      { path: '/api/v1/pods', query: { labelSelector: 'a' } },
      true,
      (objects) => void listed.push(...objects),
    ).pipe(Effect.provide(api)),
  );
  expect(outcome).toEqual({ _tag: 'Listed', resourceVersion: '7' });
  expect(listed).toEqual(['a-1', 'a-2', 'a-3'].map((name) => ({ metadata: { name } })));
});

test.each([['list', 7], ['watch', 7], ['list', 1e9], ['watch', 1e9]])(
  'a refused %s carries the %i s that the API server requests, at most a minute',
  async (kind, retryAfterSeconds) => {
    const api = Layer.succeed(KubeApi, {
      call: () => Effect.succeed({ status: 429, body: {}, retryAfterSeconds }),
      watch: () => Effect.fail(new WatchRefused({ status: 429, message: '', retryAfterSeconds })),
    });
    const selection = { path: '/api/v1/pods' };
    const outcome: Effect.Effect<unknown, never, KubeApi> = kind === 'list'
      ? listPages(selection, true, () => {})
      : followChanges(selection, { resourceVersion: '7', timeoutSeconds: 60 }, () => {});
    expect(await Effect.runPromise(Effect.provide(outcome, api))).toMatchObject({
      _tag: 'Fault',
      retryAfterMs: Math.min(retryAfterSeconds * 1000, 60_000),
    });
  },
);
