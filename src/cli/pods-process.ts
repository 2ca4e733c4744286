/**
 * The composition root of `tidegate pods`: settings become layers, an environment,
 * servers and the running role.
 */
import { Layer, ManagedRuntime } from 'effect';
import { clockLayer } from '../actors/clocks.ts';
import type { Operator } from '../actors/operator.ts';
import { startPodsOperator } from '../actors/capacity-requests/pods-operator.ts';
import { sayStreamDefects } from '../actors/fleet-session/stream-defects.ts';
import { makeActorEnvironment } from '../actors/actor-environment.ts';
import type { Telemetry } from '../api/telemetry.ts';
import { textPool } from '../domain/text-pool.ts';
import { eventsLayer } from '../effects/events.ts';
import { kubeConnection } from '../effects/kube-connection.ts';
import { podRequestsLayer } from '../effects/pod-requests.ts';
import type { PodRoleSettings } from '../effects/pod-settings.ts';
import { realTime } from '../effects/real-time.ts';
import { writeBudget } from '../effects/write-budget.ts';
import { writeGate } from '../effects/write-gate.ts';
import type { Check } from '../observability/health.ts';
import { makeObservability } from '../observability/observability.ts';
import { firstSeed } from './first-seed.ts';
import { MACHINE_LEVELS } from './machine-levels.ts';
import { startInspectors } from './inspectors.ts';
import type { RunningOperator } from './operator.ts';
import { VERSION } from './version.ts';

const STDOUT = 1;
/** Specs of requests that answers bring; a cluster has fewer workloads than this. */
const SHARED_TEXTS_MAX = 20_000;

const layersOf = (settings: PodRoleSettings, telemetry: Telemetry) => {
  const { kubeconfig, writesPerSecond: qps, writeBurst: burst } = settings;
  const connection = kubeConnection({
    source: kubeconfig === undefined ? { _tag: 'Default' } : { _tag: 'File', path: kubeconfig },
    version: VERSION,
    telemetry,
  });
  const cluster = Layer.merge(connection, writeGate(realTime));
  const writes = Layer.provideMerge(writeBudget({ qps, burst, telemetry }), cluster);
  const objects = Layer.merge(
    podRequestsLayer({ telemetry, intern: textPool(SHARED_TEXTS_MAX) }),
    eventsLayer,
  );
  return Layer.provideMerge(objects, writes).pipe(Layer.provideMerge(clockLayer(realTime)));
};

/** A crashed root actor decides nothing any more, however well the process answers. */
const isAlive = ({ actor }: Pick<Operator, 'actor'>): Check => ({
  name: 'pods',
  failing: () => actor.getSnapshot().status === 'error' ? 'its statechart has crashed' : undefined,
});

/** Starts the role in this process; fails with a sentence when there is no way to the cluster. */
export const startPodsProcess = async (settings: PodRoleSettings): Promise<RunningOperator> => {
  const inspectors = await startInspectors({
    inspectAddress: settings.inspectAddress,
    recordFile: settings.recordFile,
    title: 'Tidegate · pods',
  });
  const observability = makeObservability({
    level: settings.logLevel,
    target: STDOUT,
    time: realTime,
    machineLevels: MACHINE_LEVELS,
    inspectors: inspectors.all,
  });
  const { telemetry, inspect } = observability;
  sayStreamDefects(telemetry);
  const runtime = ManagedRuntime.make(layersOf(settings, telemetry).pipe(Layer.orDie));
  // Rejects with a sentence when the kubeconfig cannot be used.
  await runtime.context();
  const environment = makeActorEnvironment({
    time: realTime,
    runtime,
    telemetry,
    inspect,
    firstSeed: firstSeed(),
  });
  const { durationMs, renewDeadlineMs, retryPeriodMs, ...lease } = settings.lease;
  const role = startPodsOperator(environment, {
    lease: { ...lease, leaseMs: durationMs, renewMs: renewDeadlineMs, retryMs: retryPeriodMs },
    policy: settings.pods,
  });
  const servers = await observability.serve({
    metricsAddress: settings.metricsAddress,
    healthAddress: settings.healthAddress,
    health: { live: [isAlive(role)], ready: role.checks },
  });
  await inspectors.open(telemetry);
  telemetry.log('info', 'Pods role started', { version: VERSION });
  const closed = role.done.finally(async () => {
    await Promise.all([servers.close(), inspectors.close()]);
    await runtime.dispose();
  });
  return {
    done: closed,
    stop: async (reason) => {
      telemetry.log('info', 'Pods role stops', { reason });
      await role.stop();
    },
  };
};
