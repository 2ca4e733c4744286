/** The connection of the operator as interceptors use it, and the start of their role. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { interceptorClient } from '../../../src/actors/interceptors/interceptor-client.ts';
import { sharedInformers } from '../../../src/actors/informers/shared-informers.ts';
import { interceptorsRole } from '../../../src/actors/interceptors/interceptors-role.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { evictionRequestsLayer } from '../../../src/effects/eviction-requests.ts';
import {
  type KubeAnswer,
  KubeApi,
  type KubeCall,
  type KubeFault,
  NotSent,
  WatchRefused,
} from '../../../src/effects/kube-api.ts';
import { nodeMaintenancesLayer } from '../../../src/effects/node-maintenance.ts';
import { NotLeader, type WriteFault, Writes } from '../../../src/effects/writes.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

const OK: KubeAnswer = { status: 200, body: { kind: 'Pod' } };

/** An API server and a write budget that give these answers. */
const connected = ({ read = Effect.succeed(OK), write = Effect.succeed(OK), refusal = 403 }: {
  readonly read?: Effect.Effect<KubeAnswer, KubeFault>;
  readonly write?: Effect.Effect<KubeAnswer, WriteFault>;
  readonly refusal?: number;
} = {}) => {
  const calls: Pick<KubeCall, 'method' | 'path' | 'query'>[] = [];
  const api = Layer.succeed(KubeApi, {
    call: ({ method, path, query }) =>
      Effect.suspend(() => {
        calls.push({ method, path, ...(query === undefined ? {} : { query }) });
        return read;
      }),
    watch: () => Effect.fail(new WatchRefused({ status: refusal, message: 'no' })),
  });
  const writes = Layer.succeed(Writes, { send: () => write });
  const runtime = ManagedRuntime.make(
    Layer.merge(evictionRequestsLayer, nodeMaintenancesLayer)
      .pipe(Layer.provideMerge(Layer.merge(api, writes))),
  );
  onTestFinished(() => runtime.dispose());
  const environment = makeActorEnvironment({
    time: simulatedTime(),
    runtime,
    telemetry: silentTelemetry,
    firstSeed: 1,
  });
  return {
    calls,
    client: interceptorClient(runtime),
    role: interceptorsRole(environment, { withoutSurge: 'evict' }, {
      informers: sharedInformers(environment),
    }),
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
      });
    },
  );

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
    expect(await missing.role.start()).toMatchObject({
      _tag: 'Refused',
      problem: expect.stringContaining('Cannot start the role interceptors: the API server'),
    });
    const resources = [{ name: 'evictionrequests' }];
    const served = connected({ read: Effect.succeed({ status: 200, body: { resources } }) });
    expect(await served.role.start()).toEqual({ _tag: 'Started' });
  });
});
