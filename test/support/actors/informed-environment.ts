/** Actors with shared informers. Must be called inside a test, with which they end. */
import type { ManagedRuntime } from 'effect';
import { onTestFinished } from 'vitest';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import { sharedInformers } from '../../../src/actors/informers/shared-informers.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import type { KubeApi } from '../../../src/effects/kube-api.ts';
import type { SimulatedTime } from '../time/simulated-time.ts';

/** The informers stop before the runtime is disposed. */
export const informedEnvironment = <Services>(
  time: SimulatedTime,
  runtime: ManagedRuntime.ManagedRuntime<Services | KubeApi, never>,
) => {
  const environment = makeActorEnvironment({
    time,
    runtime,
    telemetry: silentTelemetry,
    firstSeed: 1,
  });
  const informers = sharedInformers(environment);
  onTestFinished(async () => {
    informers.stop();
    await runtime.dispose();
  });
  return { environment, informers };
};
