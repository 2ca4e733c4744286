/**
 * The acts of a Node's availability.
 *
 * Regression: after a write or a deletion that threw, none was made again.
 */
import { Effect, Layer, ManagedRuntime } from 'effect';
import { expect, onTestFinished, test } from 'vitest';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { provideNodeAvailability } from '../../../src/actors/node-availability/node-availability-actor.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { NodeAvailabilityApi } from '../../../src/effects/node-availability.ts';
import { lostPod, nodeWith } from '../../support/node-availability/availability-fixture.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';

const SETTLE_MS = 5000;
/** More than the pause before the second attempt, of a write and of a deletion. */
const RETRY_MS = 2000;

const ignore = (): void => {};

/** A Node that a former process found offline; whatever it asks for throws. */
const lostNode = () => {
  const time = simulatedTime();
  const asked = { writes: 0, removals: 0 };
  const broken = (act: keyof typeof asked): Effect.Effect<never> =>
    Effect.suspend(() => {
      asked[act] += 1;
      return Effect.die(new Error('planted'));
    });
  const runtime = ManagedRuntime.make(Layer.succeed(NodeAvailabilityApi, {
    write: () => broken('writes'),
    remove: () => broken('removals'),
    showOnPod: () => Effect.succeed('Written' as const),
  }));
  const telemetry = silentTelemetry;
  const environment = makeActorEnvironment({ time, runtime, telemetry, firstSeed: 1 });
  const machine = provideNodeAvailability(
    { ...environment, project: () => undefined },
    {
      requestPods: ignore,
      recordDegraded: ignore,
      recordOffline: ignore,
      recordBack: ignore,
      recordGivenUp: ignore,
    },
    (act) => act,
  );
  const actor = environment.actor(machine, 'node-1', {
    node: nodeWith('1', { readyStatus: 'Unknown', label: 'OfflineStorm' }),
    silentMs: 0,
    isGuarded: false,
    times: { offlineAfterMs: 60_000, degradedAfterMs: 30_000, cleanAfterMs: 60_000 },
    seed: 1,
  });
  actor.start();
  onTestFinished(async () => {
    actor.stop();
    await runtime.dispose();
  });
  return { actor, time, asked };
};

test('RS-01: a Node whose write threw is written again', async () => {
  const { time, asked } = lostNode();
  await time.settle();
  expect(asked.writes).toBe(1);
  await time.advance(RETRY_MS);
  expect(asked.writes).toBeGreaterThan(1);
});

test('RS-20: a pod whose deletion threw is deleted again', async () => {
  const { actor, time, asked } = lostNode();
  actor.send({ type: 'pods.observed', pods: [lostPod('web-1')] });
  await time.advance(SETTLE_MS);
  expect(asked.removals).toBe(1);
  await time.advance(RETRY_MS);
  expect(asked.removals).toBeGreaterThan(1);
});
