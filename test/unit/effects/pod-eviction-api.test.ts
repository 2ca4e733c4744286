/** The eviction call: its body, and that it is never aborted. */
import { Effect, Fiber, Layer, ManagedRuntime } from 'effect';
import { describe, expect, test } from 'vitest';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';
import { PodEvictionApi, podEvictionApiLayer } from '../../../src/effects/pod-eviction-api.ts';
import {
  AnswerLost,
  type KubeAnswer,
  KubeApi,
  type KubeCall,
  NotSent,
} from '../../../src/effects/kube-api.ts';
import { writeBudget } from '../../../src/effects/write-budget.ts';
import { WriteGate, writeGate } from '../../../src/effects/write-gate.ts';
import { unwatched } from '../../support/api/fake-api.ts';

const DONE: KubeAnswer = { status: 201, body: { status: 'Success' } };

/** The real write budget and gate over a scripted API server. */
const rig = (serve: (call: KubeCall) => Effect.Effect<KubeAnswer, AnswerLost | NotSent>) => {
  const time = simulatedTime();
  const sent: KubeCall[] = [];
  const counted: string[] = [];
  const telemetry = {
    ...silentTelemetry,
    count: (name: string, _by: number, ...[labels]: readonly (object | undefined)[]) => {
      counted.push([name, ...Object.values(labels ?? {})].join(' '));
    },
  };
  const api = Layer.succeed(KubeApi, {
    call: (call) =>
      Effect.suspend(() => {
        if (call.mayLeave?.() === false) return Effect.fail(new NotSent({ why: 'held back' }));
        sent.push(call);
        return serve(call);
      }),
    watch: unwatched,
  });
  const runtime = ManagedRuntime.make(
    podEvictionApiLayer(telemetry).pipe(
      Layer.provide(writeBudget({ qps: 1, burst: 1, telemetry: silentTelemetry })),
      Layer.provideMerge(writeGate(time)),
      Layer.provide(api),
      Layer.provideMerge(clockLayer(time)),
    ),
  );
  const evict = (mayLeave: () => boolean = () => true, graceSeconds: number | null = null) =>
    Effect.flatMap(
      PodEvictionApi,
      (evictions) =>
        evictions.evict({ namespace: 'ns', name: 'p1', uid: 'u1', graceSeconds, mayLeave }),
    );
  const open = () =>
    runtime.runPromise(
      Effect.map(WriteGate, (gate) => {
        gate.openUntil(Number.POSITIVE_INFINITY);
        return gate;
      }),
    );
  return { time, sent, counted, runtime, evict, open };
};

describe('an eviction', () => {
  test('DR-22: names the UID of its pod', async () => {
    const { sent, runtime, evict, open } = rig(() => Effect.succeed(DONE));
    await open();
    expect(await runtime.runPromise(evict())).toEqual({ _tag: 'Accepted' });
    expect(sent).toMatchObject([{
      method: 'POST',
      path: '/api/v1/namespaces/ns/pods/p1/eviction',
      body: {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name: 'p1', namespace: 'ns' },
        deleteOptions: { preconditions: { uid: 'u1' } },
      },
    }]);
  });

  test('DR-23: sends only the UID: no grace period and no force', async () => {
    const { sent, runtime, evict, open } = rig(() => Effect.succeed(DONE));
    await open();
    await runtime.runPromise(evict());
    expect(sent[0]?.body).toHaveProperty('deleteOptions', { preconditions: { uid: 'u1' } });
  });

  test('DR-23: sends the grace that a NodeMaintenance names', async () => {
    const { sent, runtime, evict, open } = rig(() => Effect.succeed(DONE));
    await open();
    await runtime.runPromise(evict(() => true, 5));
    expect(sent[0]?.body).toHaveProperty('deleteOptions', {
      preconditions: { uid: 'u1' },
      gracePeriodSeconds: 5,
    });
  });

  test('DR-33: waits at least 15 s for its answer', async () => {
    const { sent, runtime, evict, open } = rig(() => Effect.succeed(DONE));
    await open();
    await runtime.runPromise(evict());
    expect(sent[0]?.timeoutMs).toBeGreaterThanOrEqual(15_000);
  });

  test('DR-33: is not aborted when its caller is interrupted, and delays the closing of the gate', async () => {
    let aborted = false;
    const { time, sent, counted, runtime, evict, open } = rig(() =>
      Effect.sleep(5000).pipe(
        Effect.as(DONE),
        Effect.onInterrupt(() =>
          Effect.sync(() => {
            aborted = true;
          })
        ),
      )
    );
    const gate = await open();
    const fiber = runtime.runFork(evict());
    await time.settle();
    expect(sent.length).toBe(1);
    await runtime.runPromise(Fiber.interrupt(fiber));
    let isShut = false;
    const shut = gate.shut('the process ends').then(() => {
      isShut = true;
    });
    await time.advance(4000);
    expect([aborted, isShut]).toEqual([false, false]);
    await time.advance(2000);
    await shut;
    expect(counted).toContain('tidegate_evictions_total Accepted');
  });

  test('DR-05: is not sent when it is no longer wanted at its turn', async () => {
    const { time, sent, runtime, evict, open } = rig(() => Effect.succeed(DONE));
    await open();
    await runtime.runPromise(evict());
    let wanted = true;
    const queued = runtime.runPromise(evict(() => wanted));
    await time.settle();
    wanted = false;
    await time.advance(5000);
    expect(await queued).toMatchObject({ _tag: 'NotSent' });
    expect(sent.length).toBe(1);
  });

  test('DR-33: a lost answer is unknown, an unsent call is not', async () => {
    const faults = [new AnswerLost({ why: 'cut' }), new NotSent({ why: 'refused' })];
    const { time, runtime, evict, open } = rig(() =>
      Effect.fail(faults.shift() ?? new NotSent({ why: '' }))
    );
    await open();
    expect(await runtime.runPromise(evict())).toEqual({ _tag: 'Unknown', why: 'cut' });
    const second = runtime.runPromise(evict());
    await time.advance(2000);
    expect(await second).toEqual({ _tag: 'NotSent', why: 'refused' });
  });

  test('DR-15: a call without the lease is not sent', async () => {
    const { sent, runtime, evict } = rig(() => Effect.succeed(DONE));
    expect(await runtime.runPromise(evict())).toMatchObject({ _tag: 'NotSent' });
    expect(sent).toEqual([]);
  });
});
