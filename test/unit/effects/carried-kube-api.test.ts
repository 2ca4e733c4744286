/** The Kubernetes API without a socket, over an embedded cluster. */
import { Effect, Exit, Fiber, Scope } from 'effect';
import { describe, expect, test } from 'vitest';
import { simulatedTime } from '../../../src/domain/simulated-time.ts';
import { carriedKubeApi } from '../../../src/effects/carried-kube-api.ts';
import { KubeApi, type KubeCall, type WatchLine } from '../../../src/effects/kube-api.ts';
import { makeCluster } from '../../../packages/embedded-kubernetes/src/cluster.ts';

const CONFIGMAPS = '/api/v1/namespaces/default/configmaps';

const setUp = () => {
  const cluster = makeCluster({ time: simulatedTime(), seed: 1 });
  const layer = carriedKubeApi(cluster);
  const call = (one: KubeCall) =>
    Effect.provide(KubeApi.use((api) => Effect.result(api.call(one))), layer);
  return { cluster, layer, call };
};

const create = (name: string, more: Partial<KubeCall> = {}): KubeCall => ({
  method: 'POST',
  path: CONFIGMAPS,
  body: { metadata: { name }, data: undefined },
  ...more,
});

describe('carried Kubernetes API', () => {
  test('a call is answered, its query and its body as they cross a connection', async () => {
    const { cluster, call } = setUp();
    const made = await Effect.runPromise(call(create('a', { query: { dryRun: 'All' } })));
    expect(made).toMatchObject({ _tag: 'Success', success: { status: 201 } });
    expect(cluster.store.collection('configmaps').size()).toBe(0);
    await Effect.runPromise(call(create('a')));
    const kept = cluster.store.collection('configmaps').get({ namespace: 'default', name: 'a' });
    expect(kept !== undefined && 'data' in kept).toBe(false);
  });

  test('a refusal is an answer, and says when to try again', async () => {
    const { cluster, call } = setUp();
    cluster.faults.set({ trouble: { kind: 'refuse', status: 429, retryAfterSeconds: 2 } });
    expect(await Effect.runPromise(call(create('a')))).toMatchObject({
      success: { status: 429, retryAfterSeconds: 2 },
    });
  });

  test('what may not leave any more is not sent', async () => {
    const { cluster, call } = setUp();
    const held = await Effect.runPromise(call(create('a', { mayLeave: () => false })));
    expect(held).toMatchObject({ _tag: 'Failure', failure: { _tag: 'NotSent' } });
    expect(cluster.store.collection('configmaps').size()).toBe(0);
  });

  test.each(
    [
      { trouble: { kind: 'unreachable' }, tag: 'NotSent' },
      { trouble: { kind: 'cut', done: true }, tag: 'AnswerLost' },
      { trouble: { kind: 'hang', done: false }, tag: 'AnswerLost' },
    ] as const,
  )('$trouble.kind: the call fails with $tag', async ({ trouble, tag }) => {
    const { cluster, call } = setUp();
    cluster.faults.set({ trouble });
    const failed = await Effect.runPromise(call(create('a', { timeoutMs: 5 })));
    expect(failed).toMatchObject({ _tag: 'Failure', failure: { _tag: tag } });
  });
});

/** Opens a watch and reads it until it ends, or until `enough` lines came. */
const readWatch = (
  { layer }: Pick<ReturnType<typeof setUp>, 'layer'>,
  path: string,
  enough = Number.POSITIVE_INFINITY,
) => {
  const seen: WatchLine[] = [];
  const reading = Effect.gen(function* () {
    const api = yield* KubeApi;
    const lines = yield* api.watch({ path, query: { watch: 'true' } });
    return yield* Effect.promise(async () => {
      try {
        for await (const batch of lines) {
          seen.push(...batch);
          if (seen.length >= enough) return 'enough';
        }
        return 'ended';
      } catch {
        return 'cut';
      }
    });
  });
  const scoped = Effect.scoped(reading).pipe(Effect.provide(layer));
  return { seen, scoped };
};

describe('watches of the carried Kubernetes API', () => {
  test('lines come in order, and the watch is closed with its scope', async () => {
    const site = setUp();
    const { seen, scoped } = readWatch(site, CONFIGMAPS, 2);
    const fiber = Effect.runFork(scoped);
    await Effect.runPromise(site.call(create('a')));
    await Effect.runPromise(site.call(create('b')));
    expect(await Effect.runPromise(Fiber.join(fiber))).toBe('enough');
    expect(seen.map(({ type }) => type)).toEqual(['ADDED', 'ADDED']);
    expect(site.cluster.watches.count()).toBe(0);
  });

  test.each([{ quietly: true, end: 'ended' }, { quietly: false, end: 'cut' }])(
    'a dropped watch is seen to be $end',
    async ({ quietly, end }) => {
      const site = setUp();
      const fiber = Effect.runFork(readWatch(site, CONFIGMAPS).scoped);
      await Effect.runPromise(site.call(create('a')));
      expect(site.cluster.watches.drop({ quietly })).toBe(1);
      expect(await Effect.runPromise(Fiber.join(fiber))).toBe(end);
    },
  );

  test('a watch that is refused says why', async () => {
    const site = setUp();
    const { scoped } = readWatch(site, '/apis/none/v1/things');
    expect(await Effect.runPromise(Effect.flip(scoped))).toMatchObject({
      _tag: 'WatchRefused',
      status: 404,
    });
  });

  test('leaving the scope closes a watch that nobody reads', async () => {
    const { cluster, layer } = setUp();
    const scope = await Effect.runPromise(Scope.make());
    const opening = KubeApi.use((api) => api.watch({ path: CONFIGMAPS, query: { watch: 'true' } }));
    await Effect.runPromise(
      opening.pipe(Effect.provideService(Scope.Scope, scope), Effect.provide(layer)),
    );
    expect(cluster.watches.count()).toBe(1);
    await Effect.runPromise(Scope.close(scope, Exit.void));
    expect(cluster.watches.count()).toBe(0);
  });
});
