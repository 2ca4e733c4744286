/** The connection of the operator as interceptors use it, and the start of their role. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { describe, expect, test } from 'vitest';
import { interceptorClient } from '../../../src/actors/interceptors/interceptor-client.ts';
import { interceptorsRole } from '../../../src/actors/interceptors/interceptors-role.ts';
import { evictionRequestsLayer } from '../../../src/effects/eviction-requests.ts';
import {
  type KubeAnswer,
  KubeApi,
  type KubeCall,
  type KubeFault,
  NotSent,
  type WatchLine,
  WatchRefused,
} from '../../../src/effects/kube-api.ts';
import { nodeMaintenancesLayer } from '../../../src/effects/node-maintenance.ts';
import { NotLeader, type WriteFault, Writes } from '../../../src/effects/writes.ts';
import { informedEnvironment } from '../../support/actors/informed-environment.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

const OK: KubeAnswer = { status: 200, body: { kind: 'Pod' } };

/** An API server and a write budget that give these answers. */
const connected = ({ read = Effect.succeed(OK), write = Effect.succeed(OK), refusal, lines }: {
  readonly read?: Effect.Effect<KubeAnswer, KubeFault>;
  readonly write?: Effect.Effect<KubeAnswer, WriteFault>;
  readonly refusal?: number;
  readonly lines?: AsyncIterable<readonly WatchLine[]>;
} = {}) => {
  /** Writes as they are sent, with their class. */
  const sent: (readonly [string, KubeCall])[] = [];
  /** Watches that are open, and those that were closed. */
  const watches = { open: 0, closed: 0 };
  const calls: Pick<KubeCall, 'method' | 'path' | 'query'>[] = [];
  const api = Layer.succeed(KubeApi, {
    call: ({ method, path, query }) =>
      Effect.suspend(() => {
        calls.push({ method, path, ...(query === undefined ? {} : { query }) });
        return read;
      }),
    watch: () =>
      lines === undefined
        ? Effect.fail(
          new WatchRefused({ status: refusal ?? 403, message: 'no', retryAfterSeconds: 3 }),
        )
        : Effect.acquireRelease(
          Effect.sync(() => {
            watches.open += 1;
            return lines;
          }),
          () =>
            Effect.sync(() => {
              watches.open -= 1;
              watches.closed += 1;
            }),
        ),
  });
  const writes = Layer.succeed(Writes, {
    send: (writeClass, call) => {
      sent.push([writeClass, call]);
      return write;
    },
  });
  const runtime = ManagedRuntime.make(
    Layer.merge(evictionRequestsLayer, nodeMaintenancesLayer)
      .pipe(Layer.provideMerge(Layer.merge(api, writes))),
  );
  const time = simulatedTime();
  const { environment, informers } = informedEnvironment(time, runtime);
  return {
    calls,
    sent,
    watches,
    time,
    informers,
    dispose: () => runtime.dispose(),
    client: interceptorClient(runtime),
    role: interceptorsRole(environment, { withoutSurge: 'evict' }, { informers }),
  };
};

const DELETE = { method: 'DELETE', path: '/api/v1/namespaces/a/pods/b' } as const;

describe('the client of interceptors', () => {
  test('reads with the query of the path, and passes the wait of an answer on', async () => {
    const { client, calls } = connected({
      read: Effect.succeed({ status: 429, body: null, retryAfterSeconds: 2 }),
    });
    const path = '/api/v1/namespaces/a/pods?labelSelector=app%3Dweb&limit=5';
    expect(await client.request({ method: 'GET', path }))
      .toEqual({ status: 429, body: null, retryAfterMs: 2000 });
    expect(calls).toEqual([{
      method: 'GET',
      path: '/api/v1/namespaces/a/pods',
      query: { labelSelector: 'app=web', limit: '5' },
    }]);
  });

  test.each(
    [
      ['the lease is lost', new NotLeader({ why: 'the lease is lost' })],
      ['no connection', new NotSent({ why: 'no connection' })],
    ] as const,
  )('rejects a write that was not sent: %s', async (message, fault) => {
    const { client, calls } = connected({ write: Effect.fail(fault) });
    await expect(client.request(DELETE)).rejects.toMatchObject({ _tag: 'Unavailable', message });
    expect(calls).toEqual([]);
  });

  test.each([[403, 'Forbidden'], [410, 'Expired'], [503, 'Unavailable']])(
    'says why a watch is refused: %i is %s',
    async (refusal, tag) => {
      const { client } = connected({ refusal });
      const lines = client.watch('/apis/g/v1/things?watch=true', new AbortController().signal);
      await expect(lines[Symbol.asyncIterator]().next()).rejects.toMatchObject({
        _tag: tag,
        message: 'Cannot watch /apis/g/v1/things: no',
        retryAfterMs: 3000,
      });
    },
  );

  test('writes with all that a request has, and nothing else', async () => {
    const { client, sent, calls } = connected();
    const full = {
      ...DELETE,
      body: { kind: 'DeleteOptions' },
      contentType: 'application/json',
      mayLeave: () => true,
    };
    await client.request(full);
    await client.request(DELETE);
    expect(sent).toEqual([['eviction', full], ['eviction', DELETE]]);
    expect(sent.map(([, call]) => Object.keys(call).length)).toEqual([5, 2]);
    expect(calls).toEqual([]);
  });

  test('closes a watch once, when its lines end or nobody wants them any more', async () => {
    const held = Promise.withResolvers<void>();
    const lines = async function* () {
      yield [{ type: 'BOOKMARK', object: {} }];
      await held.promise;
    };
    const { client, watches, dispose } = connected({ lines: lines() });
    const aborting = new AbortController();
    const iterator = client.watch('/api/v1/pods?watch=true', aborting.signal)
      [Symbol.asyncIterator]();
    expect((await iterator.next()).value).toEqual({ type: 'BOOKMARK', object: {} });
    expect(watches).toEqual({ open: 1, closed: 0 });
    aborting.abort();
    expect(watches).toEqual({ open: 0, closed: 1 });
    await dispose();
    held.resolve();
    expect((await iterator.next()).done).toBe(true);
    expect(watches).toEqual({ open: 0, closed: 1 });
    const ended = connected({ lines: lines() });
    for await (const _line of ended.client.watch('/api/v1/pods', new AbortController().signal)) {
      expect(ended.watches.open).toBe(1);
    }
    expect(ended.watches).toEqual({ open: 0, closed: 1 });
  });

  test('is settled when every request has its answer', async () => {
    const answer = Promise.withResolvers<KubeAnswer>();
    const { client } = connected({ write: Effect.promise(() => answer.promise) });
    const order: string[] = [];
    const sent = client.request(DELETE).then(() => order.push('answered'));
    const settled = client.settled().then(() => order.push('settled'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(order).toEqual([]);
    answer.resolve(OK);
    await Promise.all([sent, settled]);
    expect(order).toEqual(['answered', 'settled']);
  });
});

describe('the role interceptors', () => {
  test('starts only where EvictionRequests are served', async () => {
    const missing = connected({ read: Effect.succeed({ status: 404, body: null }) });
    expect(await missing.role.discover?.()).toMatchObject({
      _tag: 'Refused',
      problem: expect.stringContaining('Cannot start the role interceptors: the API server'),
    });
    const resources = [{ name: 'evictionrequests' }];
    const served = connected({ read: Effect.succeed({ status: 200, body: { resources } }) });
    expect(await served.role.discover?.()).toEqual({ _tag: 'Started' });
  });

  test.each([[404, 0], [200, 1]])(
    'lists NodeMaintenances only where they are served: %i',
    async (status, count) => {
      const body = { resources: [{ name: 'nodemaintenances' }], items: [] };
      const { role, informers, calls, time } = connected({
        read: Effect.succeed({ status, body }),
      });
      await role.discover?.();
      calls.length = 0;
      informers.start();
      await time.settle();
      const lists = calls.filter(({ path }) => path.endsWith('/nodemaintenances'));
      expect(lists).toHaveLength(count);
    },
  );
});
