/** The role evictions of one process on simulated time, before an API server of the test. */
import { Layer, ManagedRuntime } from 'effect';
import { onTestFinished } from 'vitest';
import { makeActorEnvironment } from '../../../src/actors/actor-environment.ts';
import type { EvictionRequestPolicy } from '../../../src/actors/eviction-requests/eviction-requests.ts';
import { evictionRequestsRole } from '../../../src/actors/eviction-requests/eviction-requests-role.ts';
import { sharedInformers } from '../../../src/actors/informers/shared-informers.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import { clockLayer } from '../../../src/effects/effect-clock.ts';
import { evictionRequestsLayer } from '../../../src/effects/eviction-requests.ts';
import type { KubeApi } from '../../../src/effects/kube-api.ts';
import { podEvictionApiLayer } from '../../../src/effects/pod-eviction-api.ts';
import { servingGatesLayer } from '../../../src/effects/serving-gates.ts';
import type { Writes } from '../../../src/effects/writes.ts';
import { simulatedTime } from '../time/simulated-time.ts';
import { CREATED_MS, TIMING } from './request-fixture.ts';

/** Creates it, not started; its lists and its runtime end with the test. */
export const roleOnApi = (
  api: Layer.Layer<KubeApi | Writes>,
  policy: Partial<EvictionRequestPolicy> = {},
  telemetry = silentTelemetry,
) => {
  const time = simulatedTime(CREATED_MS);
  const runtime = ManagedRuntime.make(
    Layer.mergeAll(evictionRequestsLayer, podEvictionApiLayer(silentTelemetry), servingGatesLayer)
      .pipe(Layer.provideMerge(api), Layer.provideMerge(clockLayer(time))),
  );
  const environment = makeActorEnvironment({
    time,
    runtime,
    telemetry,
    firstSeed: 1,
  });
  const informers = sharedInformers(environment);
  const role = evictionRequestsRole(environment, {
    policy: { timing: TIMING, ttlMs: null, ...policy },
  }, { informers, record: () => {}, recordOnLease: () => {} });
  onTestFinished(async () => {
    informers.stop();
    await runtime.dispose();
  });
  return { time, informers, role };
};
