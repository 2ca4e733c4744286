/**
 * The acts of a serving gate.
 *
 * Regression: EndpointSlices that were read for an earlier closing of a gate were taken for those
 * of the present one, so that a pod could be evicted while clients were sent to it.
 */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { expect, onTestFinished, test } from 'vitest';
import { createActor } from 'xstate';
import { provideServingGate } from '../../../src/actors/pod-evictions/serving-gate-actor.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { ServingGates } from '../../../src/effects/serving-gates.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

const OPEN = { isOpen: true, isEvicting: false, areContainersReady: true };

/** An actor whose writes land at once, and whose reads are answered by the test. */
const gate = () => {
  const time = simulatedTime();
  const reads: ((isListed: boolean) => void)[] = [];
  const runtime = ManagedRuntime.make(Layer.succeed(ServingGates, {
    write: () => Effect.succeed('Written' as const),
    isListed: () =>
      Effect.callback<boolean>((resume) => {
        reads.push((isListed) => resume(Effect.succeed(isListed)));
      }),
  }));
  const machine = provideServingGate(
    { runtime, time, telemetry: silentTelemetry },
    { podOf: () => ({ namespace: 'ns', name: 'p1' }), onNotLeader: () => {} },
    (write) => write,
  );
  const input = { uid: 'u1', key: 'ns/p1', gate: OPEN, isOpener: true, seed: 1 };
  const actor = createActor(machine, { input });
  actor.start();
  onTestFinished(async () => {
    actor.stop();
    await runtime.dispose();
  });
  return { actor, reads, settle: time.settle };
};

test('RS-14: a pod is out of its Services by a read of this closing, not of an earlier one', async () => {
  const { actor, reads, settle } = gate();
  actor.send({ type: 'eviction.began' });
  await settle();
  actor.send({ type: 'eviction.ended' });
  await settle();
  actor.send({ type: 'eviction.began' });
  await settle();
  const [earlier, present] = reads;
  expect(reads).toHaveLength(2);
  earlier?.(false);
  await settle();
  expect(actor.getSnapshot().value).toEqual({ leavingBackends: 'reading' });
  present?.(false);
  await settle();
  expect(actor.getSnapshot().value).toBe('outOfBackends');
});
