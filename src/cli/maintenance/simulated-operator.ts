/**
 * The operator with the role `maintenance`, on an embedded cluster and its time: the real actors.
 *
 * Promises: drains by plain evictions, with the defaults of `tidegate operator`.
 */
import { Layer, ManagedRuntime } from 'effect';
import { makeActorEnvironment } from '../../actors/actor-environment.ts';
import { nodeMaintenanceRole } from '../../actors/node-maintenance/node-maintenance-role.ts';
import { startOperator } from '../../actors/operator.ts';
import { silentTelemetry } from '../../api/telemetry.ts';
import { textPool } from '../../domain/text-pool.ts';
import type { Time } from '../../domain/time.ts';
import type { Seed } from '../../domain/random.ts';
import { operatorServices } from '../../effects/operator-services.ts';
import type { EmbeddedCluster } from '../on-demand-packages.ts';
import { simulatedApi } from './simulated-api.ts';

const SHARED_TEXTS_MAX = 20_000;
/** `--qps` and `--burst` by default. */
const WRITES = { qps: 200, burst: 400 };
/** Nobody else wants to lead, so it need not be renewed often. */
const LEASE = { leaseMs: 600_000, renewMs: 500_000, retryMs: 60_000 };

/** Starts it. It is gone with its time: nothing of it waits for anything else. */
export const startSimulatedOperator = (
  cluster: Pick<EmbeddedCluster, 'answer'>,
  time: Time,
  seed: Seed,
): void => {
  const telemetry = silentTelemetry;
  const runtime = ManagedRuntime.make(operatorServices(
    {
      time,
      seed,
      clocks: { wallClock: time.now, suspendedMs: () => 0 },
      telemetry,
      intern: textPool(SHARED_TEXTS_MAX),
      ...WRITES,
    },
    Layer.fresh(simulatedApi(cluster, time)),
  ));
  const environment = makeActorEnvironment({ time, runtime, telemetry, firstSeed: seed });
  const policy = { own: null, paused: false };
  startOperator(environment, {
    lease: { identity: 'simulation', namespace: 'kube-system', name: 'tidegate', ...LEASE },
    roles: (context) => [nodeMaintenanceRole(environment, { policy, drains: undefined }, context)],
  });
};
