/** Patches of Nodes under the write budget. */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { expect, onTestFinished, test } from 'vitest';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { Cordons, cordonsLayer } from '../../../src/effects/cordons.ts';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { KubeApi, type KubeCall } from '../../../src/effects/kube-api.ts';
import { PodEvictionApi, podEvictionApiLayer } from '../../../src/effects/pod-eviction-api.ts';
import { writeBudget } from '../../../src/effects/write-budget.ts';
import { makeWriteGate, WriteGate } from '../../../src/effects/write-gate.ts';
import { Writes } from '../../../src/effects/writes.ts';
import { unwatched } from '../../support/api/fake-api.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

test('DR-36: a cordon goes before evictions that wait longer', async () => {
  const time = simulatedTime();
  const gate = makeWriteGate(time);
  gate.openUntil(Number.POSITIVE_INFINITY);
  const sent: string[] = [];
  const api = Layer.succeed(KubeApi, {
    call: ({ path }) =>
      Effect.sync(() => {
        sent.push(path.split('/').slice(-2).join('/'));
        return { status: 200, body: {} };
      }),
    watch: unwatched,
  });
  const runtime = ManagedRuntime.make(
    Layer.mergeAll(cordonsLayer(silentTelemetry), podEvictionApiLayer(silentTelemetry)).pipe(
      Layer.provide(writeBudget({ qps: 1, burst: 1, telemetry: silentTelemetry })),
      Layer.provide(Layer.mergeAll(api, Layer.succeed(WriteGate, gate))),
      Layer.provideMerge(clockLayer(time)),
    ),
  );
  onTestFinished(() => runtime.dispose());
  const evict = (name: string) =>
    runtime.runPromise(
      PodEvictionApi.use((evictions) =>
        evictions.evict({
          namespace: 'ns',
          name,
          uid: 'u1',
          graceSeconds: null,
          mayLeave: () => true,
        })
      ),
    );
  void evict('p1');
  await time.settle();
  void evict('p2');
  void evict('p3');
  await time.settle();
  void runtime.runPromise(
    Cordons.use(({ patch }) => patch({ node: 'n1', purpose: 'cordon', body: {} })),
  );
  await time.advance(5000);
  expect(sent).toEqual(['p1/eviction', 'nodes/n1', 'p2/eviction', 'p3/eviction']);
});

test('DR-42: a condition is a strategic merge of the status, and a failed write is retried', async () => {
  const time = simulatedTime(Date.UTC(2026, 2, 1, 12));
  const sent: KubeCall[] = [];
  const writes = Layer.succeed(Writes, {
    send: (_writeClass, call) =>
      Effect.sync(() => {
        sent.push(call);
        return { status: sent.length === 1 ? 503 : 200, body: {} };
      }),
  });
  const runtime = ManagedRuntime.make(
    cordonsLayer(silentTelemetry).pipe(Layer.provide(writes), Layer.provideMerge(clockLayer(time))),
  );
  onTestFinished(() => runtime.dispose());
  const condition = { status: 'True', reason: 'TwoBudgets', message: 'why' } as const;
  const write = { node: 'n1', condition, nowMs: time.now() };
  const written = runtime.runPromise(Cordons.use(({ setCondition }) => setCondition(write)));
  await time.settle();
  await time.advance(5000);
  await written;
  const path = '/api/v1/nodes/n1/status';
  const body = {
    status: {
      conditions: [{
        type: 'tidegate.dev/Draining',
        ...condition,
        lastTransitionTime: '2026-03-01T12:00:00Z',
      }],
    },
  };
  const contentType = 'application/strategic-merge-patch+json';
  const call = { method: 'PATCH', path, body, contentType };
  expect(sent).toMatchObject([call, call]);
});

test.each([
  ['in the same request', 200, ['/api/v1/nodes/n1/status']],
  ['not at all without the right to the status', 403, [
    '/api/v1/nodes/n1/status',
    '/api/v1/nodes/n1',
  ]],
])('DR-50: the condition is written with the end %s', async (_, status, paths) => {
  const time = simulatedTime(Date.UTC(2026, 2, 1, 12));
  const sent: KubeCall[] = [];
  const node = { metadata: { name: 'n1', uid: 'u', resourceVersion: '8' } };
  const writes = Layer.succeed(Writes, {
    send: (_writeClass, call) =>
      Effect.sync(() => {
        sent.push(call);
        return { status: call.path.endsWith('/status') ? status : 200, body: node };
      }),
  });
  const runtime = ManagedRuntime.make(
    cordonsLayer(silentTelemetry).pipe(Layer.provide(writes), Layer.provideMerge(clockLayer(time))),
  );
  onTestFinished(() => runtime.dispose());
  const condition = { status: 'False', reason: 'DrainFinished', message: 'empty' } as const;
  const body = { metadata: { resourceVersion: '7', annotations: { a: 'b' } } };
  const outcome = await runtime.runPromise(
    Cordons.use(({ patch }) =>
      patch({ node: 'n1', purpose: 'end', body, timed: { condition, nowMs: time.now() } })
    ),
  );
  expect(outcome).toMatchObject({ _tag: 'Written' });
  expect(sent.map(({ path }) => path)).toEqual(paths);
  expect(sent[0]?.body).toMatchObject({ ...body, status: { conditions: [condition] } });
  expect(sent.at(-1)?.body).toMatchObject(body);
});
