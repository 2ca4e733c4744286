/** The connection to an API server, over real sockets to a scripted one. */
import { copyFile } from 'node:fs/promises';
import { Effect, Layer, ManagedRuntime, Result } from 'effect';
import { afterEach, describe, expect, it } from 'vitest';
import { silentTelemetry, type Telemetry } from '../../../src/api/telemetry.ts';
import type { ServerDate } from '../../../src/domain/cluster-time.ts';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { KubeApi, type KubeCall, type WatchLine } from '../../../src/effects/kube-api.ts';
import { kubeConnection } from '../../../src/effects/kube-connection.ts';
import { acquireLease } from '../../../src/effects/leases.ts';
import { readKubeconfig } from '../../../src/effects/kubeconfig.ts';
import {
  event,
  type Handle,
  json,
  startStubApi,
  type StubApi,
} from '../../support/api/stub-api.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const connected = async (handle: Handle, telemetry: Telemetry = silentTelemetry) => {
  const stub = await startStubApi(handle);
  cleanups.push(stub.stop);
  const connection = connect(stub, telemetry);
  await connection.runtime.runPromise(Effect.void);
  return { stub, ...connection };
};

const connect = (
  stub: Pick<StubApi, 'source'>,
  telemetry = silentTelemetry,
  onServerDate: (date: ServerDate) => void = () => {},
) => {
  const { source } = stub;
  const layer = kubeConnection({ source, version: '1.2.3', telemetry, onServerDate });
  const runtime = ManagedRuntime.make(Layer.orDie(layer));
  cleanups.push(() => runtime.dispose());
  const call = (request: KubeCall) =>
    runtime.runPromise(Effect.result(KubeApi.use((api) => api.call(request))));
  /** Runs `use` with an open watch and leaves its scope afterwards. */
  const watching = <A>(
    path: string,
    use: (lines: AsyncIterable<readonly WatchLine[]>) => Promise<A>,
  ) =>
    runtime.runPromise(Effect.result(Effect.scoped(Effect.gen(function* () {
      const api = yield* KubeApi;
      const lines = yield* api.watch({ path, query: { watch: 'true' } });
      return yield* Effect.tryPromise({ try: () => use(lines), catch: (cause) => cause });
    }))));
  return { call, watching, runtime };
};

const get: KubeCall = { method: 'GET', path: '/api' };

const failureOf = <A, E>(result: Result.Result<A, E>): unknown =>
  Result.isFailure(result) ? result.failure : undefined;

describe('the connection to the API server', () => {
  it('gets an answer about the Lease while every other connection waits for one', async () => {
    const { stub, call, runtime } = await connected((request, response) => {
      if (!request.path.includes('/leases')) return;
      json(response, request.method === 'POST' ? 201 : 404, {});
    });
    const hanging = Array.from({ length: 300 }, () => call({ ...get, method: 'POST' }));
    await expect.poll(() => stub.requests.length).toBe(256);
    const claim = { identity: 'a', namespace: 'ns', name: 'l', leaseMs: 15_000, timeoutMs: 60_000 };
    const acquired = await runtime.runPromise(acquireLease(claim, null));
    expect(acquired).toMatchObject({ _tag: 'Acquired' });
    await stub.stop();
    await Promise.all(hanging);
  });

  it('sends method, path, query, body, token and user agent', async () => {
    const { stub, call } = await connected((_request, response) =>
      json(response, 201, { ok: true })
    );
    const answer = await call({
      method: 'PATCH',
      path: '/api/v1/nodes/a',
      query: { fieldManager: 'tide gate' },
      body: { metadata: {} },
      contentType: 'application/merge-patch+json',
    });
    expect(Result.getOrThrow(answer)).toEqual({
      status: 201,
      body: { ok: true },
      characters: 11,
    });
    const [request] = stub.requests;
    expect(request?.method).toBe('PATCH');
    expect(request?.path).toBe('/api/v1/nodes/a');
    expect(request?.query.get('fieldManager')).toBe('tide gate');
    expect(request?.body).toBe('{"metadata":{}}');
    expect(request?.headers).toMatchObject({
      authorization: 'Bearer first',
      'user-agent': 'tidegate/1.2.3',
      'content-type': 'application/merge-patch+json',
    });
  });

  it('gives every HTTP status as an answer, with Retry-After', async () => {
    const { call } = await connected((_request, response) => {
      response.writeHead(429, { 'retry-after': '7' });
      response.end('slow down');
    });
    expect(Result.getOrThrow(await call(get))).toMatchObject({
      status: 429,
      body: 'slow down',
      retryAfterSeconds: 7,
    });
  });

  it('reads an HTTP date of Retry-After by the clock of the server', async () => {
    const date = 'Wed, 21 Oct 2015 07:28:00 GMT';
    const until = 'Wed, 21 Oct 2015 07:28:30 GMT';
    const { stub, call } = await connected((_request, response) => {
      response.writeHead(503, { date, 'retry-after': until });
      response.end('{}');
    });
    expect(Result.getOrThrow(await call(get))).toMatchObject({ retryAfterSeconds: 30 });
    for (
      const [retryAfter, seconds] of [[date, 0], ['soon', undefined], ['-1', undefined]] as const
    ) {
      stub.script((_request, response) => {
        response.writeHead(503, { date: until, 'retry-after': retryAfter });
        response.end('{}');
      });
      expect(Result.getOrThrow(await call(get)).retryAfterSeconds).toBe(seconds);
    }
  });

  it('reads an HTTP date of Retry-After by its own clock when the server sends none', async () => {
    const { call } = await connected((_request, response) => {
      response.sendDate = false;
      const until = new Date(Date.now() + 3_600_000).toUTCString();
      response.writeHead(503, { 'retry-after': until });
      response.end('{}');
    });
    const { retryAfterSeconds } = Result.getOrThrow(await call(get));
    expect(retryAfterSeconds).toBeGreaterThan(3500);
    expect(retryAfterSeconds).toBeLessThanOrEqual(3600);
  });

  it('reports the clock of the server with each answer', async () => {
    const stub = await startStubApi((_request, response) => {
      response.writeHead(200, { date: 'Wed, 21 Oct 2015 07:28:00 GMT' });
      response.end('{}');
    });
    cleanups.push(stub.stop);
    const dates: ServerDate[] = [];
    const { call } = connect(stub, silentTelemetry, (date) => dates.push(date));
    await call(get);
    expect(dates).toEqual([
      { serverMs: Date.UTC(2015, 9, 21, 7, 28), roundTripMs: expect.any(Number) },
    ]);
  });

  it('keeps its sockets between requests', async () => {
    const { stub, call } = await connected((_request, response) => json(response, 200, {}));
    for (let nth = 0; nth < 20; nth += 1) await call(get);
    expect(new Set(stub.requests.map((request) => request.socket)).size)
      .toBeLessThanOrEqual(2);
  });

  it('reports that nothing was sent when no connection can be made', async () => {
    const { stub, call } = await connected((_request, response) => json(response, 200, {}));
    await stub.stop();
    expect(failureOf(await call(get))).toMatchObject({ _tag: 'NotSent' });
  });

  it('reports a lost answer when the connection breaks after the request was sent', async () => {
    const { call } = await connected((request) => request.socket.destroy());
    expect(failureOf(await call({ ...get, method: 'POST', body: {} }))).toMatchObject({
      _tag: 'AnswerLost',
    });
  });

  it('reports a lost answer after the timeout', async () => {
    const time = simulatedTime();
    const { stub, runtime } = await connected(() => {});
    const request = KubeApi.use((api) => api.call({ ...get, timeoutMs: 30 }));
    const ended = runtime.runPromise(
      Effect.result(request).pipe(Effect.provide(clockLayer(time))),
    );
    await expect.poll(() => stub.requests.length).toBe(1);
    await time.advance(30);
    expect(failureOf(await ended)).toMatchObject({
      _tag: 'AnswerLost',
      why: 'no answer within 30 ms',
    });
  });

  it('cuts off an answer that is larger than asked for', async () => {
    const { call } = await connected((_request, response) => response.end('x'.repeat(100_000)));
    expect(failureOf(await call({ ...get, answerBytesMax: 50_000 }))).toMatchObject({
      _tag: 'AnswerLost',
      isTooLarge: true,
    });
    expect(failureOf(await call({ ...get, answerBytesMax: 100_000 }))).toBeUndefined();
  });

  it('sends nothing when the precondition no longer holds once a socket is available', async () => {
    const { stub, call } = await connected((_request, response) => json(response, 200, {}));
    const held = await call({ ...get, mayLeave: () => false });
    expect(failureOf(held)).toMatchObject({ _tag: 'NotSent' });
    expect(stub.requests).toEqual([]);
    expect(Result.isSuccess(await call({ ...get, mayLeave: () => true }))).toBe(true);
  });

  it('aborts an interrupted request on the socket', async () => {
    const closed = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    const { runtime } = await connected((request) => {
      request.socket.on('close', () => closed.resolve());
      arrived.resolve();
    });
    const abort = new AbortController();
    const running = runtime.runPromiseExit(KubeApi.use((api) => api.call(get)), {
      signal: abort.signal,
    });
    await arrived.promise;
    abort.abort();
    await running;
    await closed.promise;
  });

  it('reads its credentials again after a 401 and retries once', async () => {
    const { stub, call } = await connected((request, response) =>
      json(response, request.headers.authorization === 'Bearer second' ? 200 : 401, {})
    );
    await stub.useToken('second');
    expect(Result.getOrThrow(await call(get)).status).toBe(200);
    expect(stub.requests.length).toBe(2);
  });

  it('never goes on with another cluster', async () => {
    const one = await connected((_request, response) => json(response, 401, {}));
    const other = await connected((_request, response) => json(response, 200, {}));
    const path = (stub: StubApi): string => stub.source._tag === 'File' ? stub.source.path : '';
    await copyFile(path(other.stub), path(one.stub));
    const problem = 'names another cluster than at the start';
    expect(failureOf(await one.call(get))).toMatchObject({ why: expect.stringContaining(problem) });
    expect(other.stub.requests).toEqual([]);
  });

  it('gives the 401 as an answer when there are no newer credentials', async () => {
    const { stub, call } = await connected((_request, response) => json(response, 401, {}));
    expect(Result.getOrThrow(await call(get)).status).toBe(401);
    expect(stub.requests.length).toBe(1);
  });

  it('counts requests by code, method and host', async () => {
    const counted: string[] = [];
    const telemetry: Telemetry = {
      ...silentTelemetry,
      count: (name, _by, ...labels) => counted.push(`${name} ${JSON.stringify(labels[0])}`),
    };
    const { stub, call } = await connected(
      (_request, response) => json(response, 404, {}),
      telemetry,
    );
    await call(get);
    await stub.stop();
    await call(get);
    const labels = (code: string) =>
      `{"code":"${code}","method":"GET","host":"127.0.0.1:${stub.port}"}`;
    expect(counted).toEqual([
      `rest_client_requests_total ${labels('404')}`,
      `rest_client_requests_total ${labels('<error>')}`,
    ]);
  });

  it('works with many concurrent requests', async () => {
    const { call } = await connected((request, response) =>
      json(response, 200, { at: request.query.get('n') })
    );
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, n) => call({ ...get, query: { n: `${n}` } })),
    );
    expect(answers.map((answer) => Result.getOrThrow(answer).body)).toEqual(
      answers.map((_, n) => ({ at: `${n}` })),
    );
  });
});

describe('a watch', () => {
  const object = (name: string) => ({ metadata: { name } });

  it('yields the lines of each chunk together and ends at EOF', async () => {
    const { watching } = await connected((_request, response) => {
      response.write(`{"type":"ADDED","object":1}\n{"type":"ADDED","object":2}\n{"type":"BOOK`);
      setImmediate(() => response.end('MARK","object":3}\n'));
    });
    const seen = await watching('/w', async (lines) => {
      const all: WatchLine[] = [];
      for await (const chunk of lines) all.push(...chunk);
      return all;
    });
    expect(Result.getOrThrow(seen)).toEqual([
      { type: 'ADDED', object: 1 },
      { type: 'ADDED', object: 2 },
      { type: 'BOOKMARK', object: 3 },
    ]);
  });

  const endings: [title: string, handle: Handle][] = [
    ['the connection is cut', (request, response) => {
      event(response, 'ADDED', object('a'));
      setImmediate(() => request.socket.destroy());
    }],
    ['a line is no JSON', (_request, response) => {
      response.write('{"type":\n');
    }],
    ['the stream ends in the middle of a line', (_request, response) => {
      response.end('{"type":"ADDED"');
    }],
  ];
  it.each(endings)('throws when %s', async (_title, handle) => {
    const { watching } = await connected(handle);
    const end = await watching('/w', async (lines) => {
      for await (const _chunk of lines);
    });
    expect(failureOf(end)).toMatchObject({ _tag: 'ConnectionBroken' });
  });

  it('is closed on the socket when its scope is left', async () => {
    const closed = Promise.withResolvers<void>();
    const { watching } = await connected((request, response) => {
      request.socket.on('close', () => closed.resolve());
      event(response, 'ADDED', object('a'));
    });
    await watching('/w', async (lines) => {
      for await (const chunk of lines) if (chunk.length > 0) break;
    });
    await closed.promise;
  });

  it('reports the status and cause of a refusal', async () => {
    const { watching } = await connected((_request, response) =>
      json(response, 410, { kind: 'Status', message: 'too old resource version' })
    );
    expect(failureOf(await watching('/w', () => Promise.resolve()))).toMatchObject({
      _tag: 'WatchRefused',
      status: 410,
      message: 'too old resource version',
    });
  });

  it('reports Retry-After of a refusal, in seconds or as an HTTP date', async () => {
    const date = 'Wed, 21 Oct 2015 07:28:00 GMT';
    for (const retryAfter of ['30', 'Wed, 21 Oct 2015 07:28:30 GMT']) {
      const { watching } = await connected((_request, response) => {
        response.writeHead(429, { date, 'retry-after': retryAfter });
        response.end('{}');
      });
      expect(failureOf(await watching('/w', () => Promise.resolve()))).toMatchObject({
        _tag: 'WatchRefused',
        retryAfterSeconds: 30,
      });
    }
  });

  it('fails when no connection can be made', async () => {
    const { stub, watching } = await connected(() => {});
    await stub.stop();
    expect(failureOf(await watching('/w', () => Promise.resolve()))).toMatchObject({
      _tag: 'AnswerLost',
    });
  });
});

describe('a kubeconfig', () => {
  it('that does not exist is refused with one sentence', async () => {
    const result = await Effect.runPromise(
      Effect.result(readKubeconfig({ _tag: 'File', path: '/nowhere/kubeconfig' })),
    );
    expect(failureOf(result)).toMatchObject({ _tag: 'KubeconfigUnusable' });
  });
});
