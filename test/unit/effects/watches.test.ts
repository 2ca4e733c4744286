/** Lists in pages from an API server that serves the objects of a selector. */
import { getHeapStatistics } from 'node:v8';
import { Effect, Layer } from 'effect';
import { expect, test } from 'vitest';
import { LIST_LIMITS, wholeListBytes } from '../../../src/domain/list-limits.ts';
import {
  AnswerLost,
  type KubeAnswer,
  KubeApi,
  type KubeCall,
  type KubeFault,
  WatchRefused,
} from '../../../src/effects/kube-api.ts';
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
      false,
      {
        addPage: (objects) => void listed.push(...objects),
        dropPages: () => {},
        onTooLarge: () => {},
      },
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
      ? listPages(selection, false, {
        addPage: () => {},
        dropPages: () => {},
        onTooLarge: () => {},
      })
      : followChanges(selection, { resourceVersion: '7', timeoutSeconds: 60 }, {
        watchOpened: () => {},
        applyLines: () => {},
      });
    expect(await Effect.runPromise(Effect.provide(outcome, api))).toMatchObject({
      _tag: 'Fault',
      why: 'status 429',
      retryAfterMs: Math.min(retryAfterSeconds * 1000, 60_000),
    });
  },
);

/**
 * Serves objects of these sizes, with the answers of a connection that keeps `answerBytesMax`.
 * `expires`: no page after the first can be had.
 */
const serverOf = (sizes: readonly number[], expires = false) => {
  const limits: string[] = [];
  const bounds: number[] = [];
  const call = ({ query, answerBytesMax = Infinity }: KubeCall): Effect.Effect<
    KubeAnswer,
    KubeFault
  > => {
    const from = Number(query?.['continue'] ?? 0);
    const until = from + Number(query?.['limit'] ?? sizes.length);
    const characters = sizes.slice(from, until).reduce((sum, size) => sum + size, 0);
    limits.push(query?.['limit'] ?? 'all');
    bounds.push(answerBytesMax);
    if (expires && from > 0) return Effect.succeed({ status: 410, body: { message: 'too old' } });
    if (characters > answerBytesMax) {
      return Effect.fail(new AnswerLost({ why: 'the answer is too large', isTooLarge: true }));
    }
    const next = until < sizes.length ? String(until) : '';
    const items = sizes.slice(from, until).map((size) => ({ size }));
    const metadata = { resourceVersion: '7', continue: next };
    return Effect.succeed({ status: 200, characters, body: { metadata, items } });
  };
  return { limits, bounds, layer: Layer.succeed(KubeApi, { call, watch: unwatched }) };
};

const listedFrom = async (layer: Layer.Layer<KubeApi>, inLargePages = false) => {
  let [objects, tooLarge] = [0, 0];
  const outcome = await Effect.runPromise(
    listPages({ path: '/api/v1/pods' }, inLargePages, {
      addPage: (page) => void (objects += page.length),
      dropPages: () => void (objects = 0),
      onTooLarge: () => void (tooLarge += 1),
    }).pipe(Effect.provide(layer)),
  );
  return { outcome, objects, tooLarge };
};

test('a page that exceeds the bytes is read again with half as many objects', async () => {
  const large = LIST_LIMITS.pageBytes / 4;
  const { limits, layer } = serverOf(Array.from({ length: 7 }, () => large));
  expect(await listedFrom(layer)).toEqual({
    outcome: { _tag: 'Listed', resourceVersion: '7' },
    objects: 7,
    tooLarge: 7,
  });
  expect(limits).toEqual(['500', '250', '125', '62', '31', '15', '7', '3', '3', '3']);
});

test('pages of small objects grow again behind large ones', async () => {
  const large = Array.from({ length: 10 }, () => LIST_LIMITS.pageBytes / 2);
  const { limits, layer } = serverOf([...large, ...Array.from({ length: 2000 }, () => 1)]);
  expect((await listedFrom(layer)).objects).toBe(2010);
  expect(limits.slice(-3)).toEqual(['500', '500', '500']);
  expect(limits.length).toBeLessThan(40);
});

test('a single object may exceed the bytes of a page', async () => {
  const { layer } = serverOf([1, LIST_LIMITS.pageBytes * 2, 1]);
  expect((await listedFrom(layer)).objects).toBe(3);
});

// One expired token led to a list of any size in one answer, which ended the process: V8 aborts
// when the heap is full.
test('a continue token that expires leads to large pages, and no answer of any size', async () => {
  const sizes = Array.from({ length: 12_000 }, () => 1000);
  const small = serverOf(sizes, true);
  expect((await listedFrom(small.layer)).outcome).toEqual({ _tag: 'Expired', why: 'too old' });
  const large = serverOf(sizes);
  expect(await listedFrom(large.layer, true)).toMatchObject({ objects: 12_000, tooLarge: 0 });
  expect(large.limits).toEqual(['5000', '5000', '5000']);
  expect(new Set(large.bounds)).toEqual(new Set([LIST_LIMITS.largePageBytes]));
});

test('large pages of large objects have fewer', async () => {
  const { limits, layer } = serverOf(Array.from({ length: 6000 }, () => 5000));
  expect(await listedFrom(layer, true)).toMatchObject({ objects: 6000, tooLarge: 1 });
  expect(limits).toEqual(['5000', '2500', '2500', '2500']);
});

test('a continue token that expires in large pages, too, leads to all at once', async () => {
  const { limits, bounds, layer } = serverOf(Array.from({ length: 6000 }, () => 1), true);
  expect(await listedFrom(layer, true)).toEqual({
    outcome: { _tag: 'Listed', resourceVersion: '7' },
    objects: 6000,
    tooLarge: 0,
  });
  expect(limits).toEqual(['5000', '5000', 'all']);
  expect(bounds.at(-1)).toBe(wholeListBytes(getHeapStatistics().heap_size_limit));
});

test('all at once that the heap cannot hold is a fault with its size', async () => {
  const bytes = wholeListBytes(getHeapStatistics().heap_size_limit);
  const sizes = [...Array.from({ length: 5000 }, () => 1), bytes];
  const { outcome } = await listedFrom(serverOf(sizes, true).layer, true);
  expect(outcome).toEqual({
    _tag: 'Fault',
    why: `its pages expire, and the whole list exceeds ${Math.floor(bytes / 1024 / 1024)} MiB`,
    retryAfterMs: 0,
  });
});

test('an eighth of the heap holds a whole list, and one string does', () => {
  expect(wholeListBytes(384 * 1024 * 1024)).toBe(48 * 1024 * 1024);
  expect(wholeListBytes(64 * 1024 * 1024 * 1024)).toBe(400 * 1024 * 1024);
});

test('a list that repeats its continue token is a fault', async () => {
  let calls = 0;
  const layer = Layer.succeed(KubeApi, {
    call: () =>
      Effect.sync(() => {
        calls += 1;
        return { status: 200, body: { metadata: { continue: 'again' }, items: [{}] } };
      }),
    watch: unwatched,
  });
  expect((await listedFrom(layer)).outcome).toEqual({
    _tag: 'Fault',
    why: 'the list repeats its continue token',
    retryAfterMs: 0,
  });
  expect(calls).toBe(2);
});
